"""Turns from a program: in threads and loops, held, interrupted, listened to."""

import asyncio
import contextlib
import gc
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shipchat import (
    Agent,
    FileSessionStore,
    InMemorySessionStore,
    Notice,
    ProviderAuth,
    ReplyFailed,
    SessionEvent,
    SessionHeld,
    SessionRecord,
    SessionStore,
    TextDelta,
    TurnCompleted,
    TurnInterrupted,
    Usage,
    UsageError,
)
from shipchat.core.attachments import EVERY_SORT
from shipchat.core.drafts import QueuedPrompt, TurnDraft
from shipchat.core.protocols import Cursor
from shipchat.testing.scripted import Reply, ScriptedProvider


class Gate:
    """A gate in a script that any thread may open."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def open(self) -> None:
        from shipchat.sdk.runtime import BACKGROUND

        BACKGROUND.loop.call_soon_threadsafe(self.event.set)


def agent_of(*answers: Any, store: SessionStore | None = None, **options: Any) -> Agent:
    provider = ScriptedProvider(answers)
    return Agent(provider=provider, session_store=store or InMemorySessionStore(), **options)


def texts(events: list[SessionEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


def test_a_result_has_the_usage_of_all_its_model_calls() -> None:
    agent = agent_of(Reply(("Hi",), usage=Usage(input_tokens=7, output_tokens=2)))
    result = agent.run("Hello")
    assert result.usage == Usage(input_tokens=7, output_tokens=2)
    assert isinstance(result.events[-1], TurnCompleted)
    assert result.events[-1].reply is result.message


def test_a_failed_turn_raises_with_what_had_arrived(store: SessionStore) -> None:
    agent = agent_of(
        ["half ", ProviderAuth("the key was refused", advice=("Get one.",))], "whole", store=store
    )
    with pytest.raises(ReplyFailed, match="the key was refused") as caught:
        agent.run("Hi")
    error = caught.value
    assert (error.code, error.exit_code, error.advice, error.saved) == (
        "provider_auth",
        8,
        ("Get one.",),
        True,
    )
    assert error.result is not None
    assert (error.result.output, error.result.message.status) == ("half ", "failed")
    assert agent.run("Again").output == "whole"


def test_the_streams_of_a_failed_turn_end_with_it() -> None:
    events = list(agent_of(["half ", ProviderAuth("no")]).chat_session("a").stream("Hi"))
    assert [event.type for event in events[-2:]] == ["message_saved", "turn_failed"]


def test_an_empty_prompt_and_a_bad_model_are_refused() -> None:
    agent = agent_of("x")
    for prompt in ("", "  \n", "\u200b"):
        with pytest.raises(UsageError, match="the prompt is empty"):
            agent.run(prompt)
    assert agent.chat_session().history() == []
    with pytest.raises(UsageError, match="no model name"):
        Agent(model="gpt", session_store=InMemorySessionStore())


def test_two_agents_on_one_session_take_turns(store: SessionStore) -> None:
    one = agent_of("first", "third", store=store, session_id="shared")
    two = agent_of("second", store=store, session_id="shared")
    assert [one.run("1").output, two.run("2").output, one.run("3").output] == ["first", "second", "third"]
    assert [message.text for message in two.chat_session().history()] == [
        "1",
        "first",
        "2",
        "second",
        "3",
        "third",
    ]


def test_an_overlap_raises_at_once_and_harms_nobody(store: SessionStore) -> None:
    gate = Gate()
    one = agent_of(["begun ", gate.event, "ended"], store=store, session_id="shared")
    two = agent_of("never", "later", store=store, session_id="shared")
    stream = one.chat_session().stream("1")
    assert "text_delta" in {next(stream).type for _ in range(4)}
    with pytest.raises(SessionHeld) as caught:
        two.run("2")
    assert caught.value.holder is not None
    assert caught.value.holder.program == "a Python program"
    gate.open()
    assert texts(list(stream)) == ["ended"]
    assert two.run("2").output == "never"


def test_one_chat_session_refuses_a_second_turn_and_goes_on_with_the_first() -> None:
    gate = Gate()
    chat = agent_of(["begun ", gate.event, "ended"], "next").chat_session("a")
    stream = chat.stream("1")
    next(stream)
    with pytest.raises(SessionHeld):
        chat.send("2")
    gate.open()
    assert isinstance(list(stream)[-1], TurnCompleted)
    assert chat.send("2").output == "next"


def test_interrupt_from_a_callback_keeps_what_had_arrived(store: SessionStore) -> None:
    chat = agent_of(["kept", asyncio.Event()], "next", store=store).chat_session("a")

    @chat.on_event
    def stop(event: SessionEvent) -> None:
        if event.type == "text_delta" and event.message == "kept":
            chat.interrupt()

    result = chat.send("Hi")
    assert (result.output, result.message.status) == ("kept", "interrupted")
    assert isinstance(result.events[-1], TurnInterrupted)
    assert chat.send("Go on").output == "next"


def test_leaving_a_stream_early_interrupts_the_turn(store: SessionStore) -> None:
    chat = agent_of(["kept", asyncio.Event()], "next", store=store).chat_session("a")
    for event in chat.stream("Hi"):
        if event.type == "text_delta":
            break
    gc.collect()
    message = chat.history()[-1]
    assert (message.text, getattr(message, "status", None)) == ("kept", "interrupted")
    assert chat.send("Go on").output == "next"


async def test_cancelling_a_coroutine_interrupts_the_turn(store: SessionStore) -> None:
    agent = agent_of(["kept", asyncio.Event()], "next", store=store)
    chat = agent.chat_session()
    arrived = asyncio.Event()

    @chat.on_event
    def note(event: SessionEvent) -> None:
        if event.type == "text_delta":
            arrived.set()

    sending = asyncio.create_task(chat.asend("Hi"))
    await asyncio.wait_for(arrived.wait(), 10)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    message = (await chat.ahistory())[-1]
    assert (message.text, getattr(message, "status", None)) == ("kept", "interrupted")
    assert (await chat.asend("Go on")).output == "next"


async def test_asynchronous_forms_leave_the_loop_free_and_synchronous_ones_work_inside_it(
    store: SessionStore,
) -> None:
    gate = Gate()
    agent = agent_of([gate.event, "one"], ["t", "wo"], "three", store=store)
    running = asyncio.create_task(agent.arun("1"))
    await asyncio.sleep(0)
    gate.open()  # only a free loop comes here
    assert (await running).output == "one"
    assert texts([event async for event in agent.chat_session().astream("2")]) == ["t", "wo"]
    assert agent.run("3").output == "three"


def test_one_agent_serves_many_loops_and_threads(store: SessionStore) -> None:
    agent = agent_of(*map(str, range(10)), store=store)
    assert [asyncio.run(agent.arun("?")).output for _ in range(2)] == ["0", "1"]
    outputs: list[str] = []

    def work(name: str) -> None:
        outputs.append(agent.chat_session(name).send("?").output)

    threads = [threading.Thread(target=work, args=(f"s{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == [str(n) for n in range(2, 10)]


def test_callbacks_hear_every_event_in_the_callers_thread_and_may_raise() -> None:
    chat = agent_of(["a", "b"]).chat_session("a")
    heard: list[SessionEvent] = []
    threads: set[threading.Thread] = set()

    def broken(event: SessionEvent) -> None:
        raise ValueError(event.type)

    def listen(event: SessionEvent) -> None:
        heard.append(event)
        threads.add(threading.current_thread())

    chat.on_event(broken)
    chat.on_event(listen)
    result = chat.send("Hi")
    assert (result.output, result.message.status) == ("ab", "complete")
    assert tuple(heard) == result.events
    assert threads == {threading.current_thread()}
    notices = [event for event in result.events if isinstance(event, Notice)]
    assert notices == [
        Notice(
            "callback_failed", "the callback broken raised ValueError: turn_started", {"callback": "broken"}
        )
    ]


def test_a_callback_that_raises_at_the_last_event_is_reported_before_it() -> None:
    chat = agent_of("x").chat_session("a")

    def broken(event: SessionEvent) -> None:
        if event.type == "turn_completed":
            raise ValueError("late")

    chat.on_event(broken)
    numbers: list[int] = []
    chat.on_packet(lambda packet: numbers.append(packet["id"]))
    events = chat.send("Hi").events
    assert [event.type for event in events[-2:]] == ["notice", "turn_completed"]
    assert numbers == list(range(1, len(events) + 1))


@pytest.mark.parametrize("form", ["sync", "async"])
def test_coroutine_callbacks_are_awaited(form: str) -> None:
    chat = agent_of("x").chat_session("a")
    heard: list[str] = []

    @chat.on_event
    async def listen(event: SessionEvent) -> None:
        await asyncio.sleep(0)
        heard.append(event.type)

    if form == "sync":
        chat.send("Hi")
    else:
        asyncio.run(chat.asend("Hi"))
    assert heard[-1] == "turn_completed"


def test_the_asynchronous_forms_call_back_on_the_callers_loop() -> None:
    chat = agent_of("x").chat_session("a")
    loops: set[object] = set()

    async def main() -> object:
        chat.on_event(lambda _: loops.add(asyncio.get_running_loop()))
        await chat.asend("Hi")
        return asyncio.get_running_loop()

    assert loops == {asyncio.run(main())} == loops


def test_a_synchronous_call_that_would_wait_for_itself_says_so() -> None:
    inner, outer = agent_of("never"), agent_of("x")
    chat = outer.chat_session("a")
    raised: list[Exception] = []

    @chat.on_event
    async def call(event: SessionEvent) -> None:
        if event.type == "turn_started":
            for form in (lambda: inner.run("?"), lambda: inner.chat_session().history()):
                try:
                    form()
                except UsageError as error:
                    raised.append(error)

    assert chat.send("Hi").output == "x"
    assert ["would wait for itself" in str(error) for error in raised] == [True, True]


def test_without_a_store_sessions_are_where_the_program_finds_them(data_directory: Any) -> None:
    agent = Agent(provider=ScriptedProvider(["Hello."]), session_id="ticket-812")
    agent.run("Hi")
    assert (data_directory / "sessions" / "ticket-812.json").is_file()


def test_prompts_that_another_window_left_queued_stay_its_own_and_block_nobody() -> None:
    store = InMemorySessionStore()
    agent_of("one", store=store, session_id="a").run("1")
    left = TurnDraft(None, (QueuedPrompt("q1", datetime.now(UTC), "unsent"),))
    store.write_turn_draft("a", left, durable=True)
    agent = agent_of("two", "three", store=store, session_id="a")
    assert agent.run("2").output == "two"
    assert store.holder("a") is None
    assert store.read_turn_draft("a") == left
    assert agent.run("3").output == "three"
    assert [message.text for message in agent.chat_session().history()] == [
        "1",
        "one",
        "2",
        "two",
        "3",
        "three",
    ]


def test_an_agent_without_an_id_keeps_to_one_new_session() -> None:
    agent = agent_of("a", "b")
    agent.run("1")
    agent.run("2")
    assert len(agent.chat_session().history()) == 4


class BrokenStore(InMemorySessionStore):
    def create(self, record: SessionRecord) -> Cursor:
        raise ZeroDivisionError(record.key)


@pytest.mark.parametrize("form", [lambda chat: chat.send("x"), lambda chat: asyncio.run(chat.asend("x"))])
def test_a_bug_in_a_store_comes_out_where_it_can_be_seen(form: Callable[[Any], Any]) -> None:
    chat = agent_of("x", store=BrokenStore()).chat_session("a")
    with pytest.raises(ZeroDivisionError):
        form(chat)
    with contextlib.suppress(ZeroDivisionError):  # the chat can be used again: it fails in the same way
        form(chat)


def test_files_go_with_a_prompt(tmp_path: Path) -> None:
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    notes = tmp_path / "notes.md"
    notes.write_text("all well")
    for store, blobs in (
        (FileSessionStore(tmp_path / "data" / "sessions"), tmp_path / "data" / "blobs"),
        (FileSessionStore(tmp_path / "mine"), tmp_path / "mine" / ".blobs"),
        (InMemorySessionStore(), None),
    ):
        provider = ScriptedProvider(["one", "two"], accepts=EVERY_SORT)
        agent = Agent(provider=provider, session_store=store, session_id="a")
        assert agent.run("Look", attachments=[picture, str(notes)]).output == "one"
        assert asyncio.run(agent.arun("Again", attachments=[notes])).output == "two"
        assert "all well" in provider.requests[0].messages[0].text
        assert [part.name for part in agent.chat_session().history()[0].parts[1:]] == ["cat.png", "notes.md"]  # type: ignore[union-attr]
        if blobs is not None:
            assert len(list(blobs.iterdir())) == 2
        with pytest.raises(UsageError, match="no such file"):
            agent.run("Look", attachments=[tmp_path / "missing"])
