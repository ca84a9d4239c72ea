"""Turns: the order of things, what is on disk when, and that every way a turn can end is one last event."""

import asyncio
import json
from pathlib import Path

import pytest

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.core.errors import (
    ContextOverflow,
    ProviderAuth,
    ProviderUnavailable,
    SessionHeld,
    StoreUnavailable,
    UsageError,
)
from shipchat.core.events import (
    Notice,
    RetryScheduled,
    SessionEvent,
    StreamEnded,
    TextDelta,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from shipchat.core.messages import AssistantMessage, TextPart, Usage, UserMessage
from shipchat.core.protocols import FullStore, ModelRequest
from shipchat.core.session import session_from
from shipchat.sessions.options import CompactionOptions
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file.store import FileSessionStore
from shipchat.testing.scripted import Reply, ScriptedProvider
from tests.sessions.conftest import OpenChat
from tests.sessions.events import all_of, last_of, types


def texts(store: FullStore, key: str) -> list[tuple[str, str, str]]:
    """Return role, text and status of the messages on the stored path."""
    record = store.load(key)
    assert record is not None
    return [
        ("user", message.text, "")
        if isinstance(message, UserMessage)
        else ("assistant", message.text, message.status)
        for message in session_from(record).messages()
    ]


def sent(provider: ScriptedProvider, request: int = -1) -> list[tuple[str, str]]:
    return [
        ("user" if isinstance(message, UserMessage) else "assistant", message.text)
        for message in provider.requests[request].messages
    ]


async def test_a_turn_from_prompt_to_stored_reply(open_chat: OpenChat, store: FullStore) -> None:
    usage = Usage(input_tokens=7, output_tokens=2)
    provider = ScriptedProvider([Reply(("Hel", "lo."), usage=usage)])
    chat = open_chat("ticket-812", provider)
    events = await all_of(chat.send("Good morning"))
    assert types(events) == [
        "turn_started", "message_saved", "reply_started", "text_delta", "text_delta", "usage_updated",
        "message_saved", "turn_completed",
    ]  # fmt: skip
    last = last_of(events)
    assert isinstance(last, TurnCompleted)
    assert (last.reply.text, last.reply.usage, last.reply.model) == ("Hello.", usage, "scripted/one")
    assert texts(store, "ticket-812") == [("user", "Good morning", ""), ("assistant", "Hello.", "complete")]
    assert store.holder("ticket-812") is None
    assert store.read_turn_draft("ticket-812") is None
    assert not chat.replying
    assert chat.saved


async def test_every_event_has_a_type_and_a_sentence(open_chat: OpenChat) -> None:
    for event in await all_of(open_chat("k", ScriptedProvider(["x"])).send("hi")):
        assert event.type
        assert event.message


async def test_the_prompt_is_on_disk_before_the_model_is_asked(open_chat: OpenChat, store: FullStore) -> None:
    stored: list[list[tuple[str, str, str]]] = []

    def look(_: ModelRequest) -> str:
        stored.append(texts(store, "k"))
        return "ok"

    await all_of(open_chat("k", ScriptedProvider([look])).send("first"))
    assert stored == [[("user", "first", "")]]


async def test_the_reply_is_on_disk_before_it_is_shown_as_finished(
    open_chat: OpenChat, store: FullStore
) -> None:
    async for event in open_chat("k", ScriptedProvider(["done"])).send("hi"):
        if isinstance(event, TurnCompleted):
            assert texts(store, "k")[-1] == ("assistant", "done", "complete")
            assert store.holder("k") is None


async def test_the_next_turn_sends_the_first_and_only_appends(open_chat: OpenChat) -> None:
    provider = ScriptedProvider(["one", "two", "three"])
    chat = open_chat("k", provider)
    for prompt in ("a", "b", "c"):
        await all_of(chat.send(prompt))
    assert sent(provider) == [
        ("user", "a"),
        ("assistant", "one"),
        ("user", "b"),
        ("assistant", "two"),
        ("user", "c"),
    ]
    for earlier, later in zip(provider.requests, provider.requests[1:], strict=False):
        assert later.messages[: len(earlier.messages)] == earlier.messages
        assert later.system == earlier.system


async def test_another_window_goes_on_where_the_first_left(open_chat: OpenChat, store: FullStore) -> None:
    await all_of(open_chat("k", ScriptedProvider(["one"])).send("a"))
    provider = ScriptedProvider(["two"])
    await all_of(open_chat("k", provider).send("b"))
    assert sent(provider) == [("user", "a"), ("assistant", "one"), ("user", "b")]
    assert len(texts(store, "k")) == 4


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0", "\u200b", "\ufeff \u2060"])
async def test_a_prompt_that_says_nothing_is_not_sent(
    open_chat: OpenChat, store: FullStore, blank: str
) -> None:
    chat = open_chat("k", ScriptedProvider([]))
    with pytest.raises(UsageError):
        await all_of(chat.send(blank))
    assert store.keys() == []
    assert store.holder("k") is None


async def test_a_lone_surrogate_is_replaced_before_it_is_stored_and_sent(
    open_chat: OpenChat, store: FullStore
) -> None:
    provider = ScriptedProvider(["a\ud83d"])
    await all_of(open_chat("k", provider).send("cut \ud83d here"))
    assert sent(provider) == [("user", "cut \ufffd here")]
    assert texts(store, "k") == [("user", "cut \ufffd here", ""), ("assistant", "a\ufffd", "complete")]


# --- interrupting and continuing ---


async def test_interrupting_keeps_what_had_arrived(open_chat: OpenChat, store: FullStore) -> None:
    never = asyncio.Event()
    provider = ScriptedProvider([Reply(("half of", never, " it"))])
    chat = open_chat("k", provider)
    events: list[SessionEvent] = []
    started = asyncio.get_running_loop().time()
    async for event in chat.send("go"):
        events.append(event)
        if isinstance(event, TextDelta):
            started = asyncio.get_running_loop().time()
            chat.interrupt()
    last = last_of(events)
    assert isinstance(last, TurnInterrupted)
    assert asyncio.get_running_loop().time() - started < 1.0
    assert texts(store, "k") == [("user", "go", ""), ("assistant", "half of", "interrupted")]
    assert provider.cancelled == 1
    assert store.holder("k") is None
    assert store.read_turn_draft("k") is None


async def test_an_interrupted_reply_is_continued_as_its_child_and_merged_when_sent(
    open_chat: OpenChat, store: FullStore
) -> None:
    provider = ScriptedProvider([Reply(("half", asyncio.Event())), " and the rest", "next"])
    chat = open_chat("k", provider)
    async for event in chat.send("go"):
        if isinstance(event, TextDelta):
            chat.interrupt()
    await all_of(chat.continue_reply())
    assert [role for role, _ in sent(provider)] == ["user", "assistant", "user"]
    assert sent(provider)[1] == ("assistant", "half")
    assert texts(store, "k") == [
        ("user", "go", ""), ("assistant", "half", "interrupted"), ("assistant", " and the rest", "complete"),
    ]  # fmt: skip
    with pytest.raises(UsageError):
        await all_of(chat.continue_reply())


async def test_a_consumer_that_leaves_interrupts_the_turn(open_chat: OpenChat, store: FullStore) -> None:
    stream = open_chat("k", ScriptedProvider([Reply(("half", asyncio.Event()))])).send("go")
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    await stream.aclose()
    assert texts(store, "k")[-1] == ("assistant", "half", "interrupted")
    assert store.holder("k") is None


async def test_a_cancelled_consumer_leaves_nothing_unsaved(open_chat: OpenChat, store: FullStore) -> None:
    arrived = asyncio.Event()
    chat = open_chat("k", ScriptedProvider([Reply(("half", asyncio.Event()))]))

    async def consume() -> None:
        async for event in chat.send("go"):
            if isinstance(event, TextDelta):
                arrived.set()

    task = asyncio.create_task(consume())
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await chat.close()
    assert texts(store, "k")[-1] == ("assistant", "half", "interrupted")
    assert store.holder("k") is None


# --- failing ---


async def test_a_stream_that_merely_stops_is_a_failure_and_keeps_its_text(
    open_chat: OpenChat, store: FullStore
) -> None:
    events = await all_of(open_chat("k", ScriptedProvider([Reply(("half",), ends=False)])).send("go"))
    last = last_of(events)
    assert isinstance(last, TurnFailed)
    assert (last.failure.code, last.exit_code) == ("provider_unavailable", 7)
    assert texts(store, "k") == [("user", "go", ""), ("assistant", "half", "failed")]


async def test_a_failing_call_is_repeated_only_before_the_first_text(
    open_chat: OpenChat, store: FullStore
) -> None:
    def down() -> ProviderUnavailable:
        return ProviderUnavailable("down", retryable=True, retry_after=0)

    provider = ScriptedProvider([[down()], [down()], "at last"])
    events = await all_of(open_chat("k", provider).send("go"))
    assert [event.attempt for event in events if isinstance(event, RetryScheduled)] == [2, 3]
    assert texts(store, "k")[-1] == ("assistant", "at last", "complete")

    provider = ScriptedProvider([[down()], [down()], [down()], "never"])
    events = await all_of(open_chat("k2", provider).send("go"))
    assert isinstance(events[-1], TurnFailed)
    assert len(provider.requests) == 3

    provider = ScriptedProvider([["some", down()], "never"])
    events = await all_of(open_chat("k3", provider).send("go"))
    assert isinstance(events[-1], TurnFailed)
    assert len(provider.requests) == 1
    assert texts(store, "k3")[-1] == ("assistant", "some", "failed")


async def test_waiting_for_a_retry_can_be_interrupted_at_once(open_chat: OpenChat) -> None:
    chat = open_chat("k", ScriptedProvider([[ProviderUnavailable("down", retryable=True, retry_after=3600)]]))
    events = []
    async for event in chat.send("go"):
        events.append(event)
        if isinstance(event, RetryScheduled):
            chat.interrupt()
    assert isinstance(events[-1], TurnInterrupted)


async def test_an_auth_error_is_not_repeated_and_has_its_exit_code(open_chat: OpenChat) -> None:
    provider = ScriptedProvider([[ProviderAuth("no key", advice=("Set KEY.",))], "never"])
    last = last_of(await all_of(open_chat("k", provider).send("go")))
    assert isinstance(last, TurnFailed)
    assert (last.failure.code, last.exit_code, last.advice) == ("provider_auth", 8, ("Set KEY.",))


async def test_a_bug_in_a_provider_ends_the_stream_in_order(open_chat: OpenChat, store: FullStore) -> None:
    events = await all_of(open_chat("k", ScriptedProvider([["a", ZeroDivisionError("secret")]])).send("go"))
    last = last_of(events)
    assert isinstance(last, TurnFailed)
    assert (last.failure.code, last.exit_code) == ("bug", 1)
    assert "secret" not in last.message
    assert store.holder("k") is None


async def test_an_empty_reply_after_a_failure_does_not_poison_the_next_turn(open_chat: OpenChat) -> None:
    provider = ScriptedProvider([[ProviderAuth("no")], "fine"])
    chat = open_chat("k", provider)
    await all_of(chat.send("one"))
    events = await all_of(chat.send("two"))
    assert isinstance(events[-1], TurnCompleted)


# --- regenerating, editing, moving ---


async def test_regenerating_makes_a_sibling_and_sends_the_same(open_chat: OpenChat) -> None:
    provider = ScriptedProvider(["first", "second", "third"])
    chat = open_chat("k", provider)
    await all_of(chat.send("go"))
    await all_of(chat.regenerate())
    assert sent(provider, 0) == sent(provider, 1) == [("user", "go")]
    session = chat.session
    assert [message.text for message in session.messages()] == ["go", "second"]
    assert len(session.tree.siblings(session.path[1])) == 2
    await chat.go_to(session.tree.siblings(session.path[1])[0])
    await all_of(chat.send("more"))
    assert sent(provider) == [("user", "go"), ("assistant", "first"), ("user", "more")]


async def test_editing_makes_a_sibling_of_the_prompt(open_chat: OpenChat, store: FullStore) -> None:
    provider = ScriptedProvider(["one", "two", "three"])
    chat = open_chat("k", provider)
    await all_of(chat.send("a"))
    await all_of(chat.send("b"))
    await all_of(chat.send("a!", replacing=chat.session.path[0]))
    assert sent(provider) == [("user", "a!")]
    assert [text for _, text, _ in texts(store, "k")] == ["a!", "three"]
    assert len(chat.session.tree) == 6


# --- one turn at a time ---


async def test_a_second_window_fails_at_once_and_is_told_who_holds_it(
    open_chat: OpenChat, store: FullStore
) -> None:
    first = open_chat("k", ScriptedProvider([Reply(("x", asyncio.Event()))]), program="first window")
    second = open_chat("k", ScriptedProvider(["y"]))
    async for event in first.send("go"):
        if isinstance(event, TextDelta):
            with pytest.raises(SessionHeld) as caught:
                await all_of(second.send("me too"))
            assert caught.value.holder is not None
            assert caught.value.holder.program == "first window"
            with pytest.raises(SessionHeld):
                await all_of(first.send("again"))
            first.interrupt()
    await all_of(second.send("now"))
    assert [text for _, text, _ in texts(store, "k")] == ["go", "x", "now", "y"]


async def test_metadata_changes_during_a_turn_are_not_lost(open_chat: OpenChat, store: FullStore) -> None:
    gate = asyncio.Event()
    chat = open_chat("k", ScriptedProvider([Reply(("x", gate, "y"))]))
    manager = SessionManager(store)
    async for event in chat.send("go"):
        if isinstance(event, TextDelta) and not gate.is_set():
            await asyncio.to_thread(manager.rename, "k", "A title")
            await asyncio.to_thread(manager.tag, "k", add=["bug"])
            gate.set()
    assert texts(store, "k")[-1] == ("assistant", "xy", "complete")
    session = manager.open("k")
    assert (session.title, session.tags) == ("A title", ("bug",))
    assert chat.session.title == "A title"


async def test_sending_to_an_archived_session_takes_it_out_of_the_archive(
    open_chat: OpenChat, store: FullStore
) -> None:
    chat = open_chat("k", ScriptedProvider(["x", "y"]))
    await all_of(chat.send("go"))
    SessionManager(store).archive("k")
    events = await all_of(chat.send("more"))
    assert any(isinstance(event, Notice) and event.about == "unarchived" for event in events)
    assert SessionManager(store).open("k").archived is False


async def test_another_model_is_noted_and_kept(open_chat: OpenChat, store: FullStore) -> None:
    await all_of(open_chat("k", ScriptedProvider(["x"])).send("go"))
    other = open_chat("k", ScriptedProvider(["y"]), model="scripted/two")
    events = await all_of(other.send("more"))
    assert any(isinstance(event, Notice) and event.about == "model" for event in events)
    assert str(open_chat("k", ScriptedProvider([])).model) == "scripted/one"  # not read yet
    third = open_chat("k", ScriptedProvider(["z"]))
    events = await all_of(third.send("and"))
    assert str(third.model) == "scripted/two"
    assert not any(isinstance(event, Notice) for event in events)


# --- the queue ---


async def test_queued_prompts_are_on_disk_and_sent_under_the_same_hold(
    open_chat: OpenChat, store: FullStore
) -> None:
    gate = asyncio.Event()
    chat = open_chat("k", ScriptedProvider([Reply(("x", gate)), "second"]))
    async for event in chat.send("go"):
        if isinstance(event, TextDelta):
            queued = await chat.enqueue("then this")
            draft = store.read_turn_draft("k")
            assert draft is not None
            assert draft.queue == (queued,)
            gate.set()
    assert store.holder("k") is not None
    await all_of(chat.send_queued())
    assert [text for _, text, _ in texts(store, "k")] == ["go", "x", "then this", "second"]
    assert chat.queue == ()
    assert store.holder("k") is None
    assert store.read_turn_draft("k") is None


async def test_an_interrupt_offers_the_queue_back_and_frees_the_hold(
    open_chat: OpenChat, store: FullStore
) -> None:
    chat = open_chat("k", ScriptedProvider([Reply(("x", asyncio.Event()))]))
    async for event in chat.send("go"):
        if isinstance(event, TextDelta):
            await chat.enqueue("later")
            chat.interrupt()
    assert [prompt.text for prompt in chat.queue] == ["later"]
    assert store.holder("k") is None
    draft = store.read_turn_draft("k")
    assert draft is not None
    assert (draft.reply, [prompt.text for prompt in draft.queue]) == (None, ["later"])


async def test_a_crashed_turn_is_recovered_once_and_its_queue_offered(
    open_chat: OpenChat, store: FullStore
) -> None:
    chat = open_chat("k", ScriptedProvider(["x"]))
    await all_of(chat.send("go"))
    head = chat.session.path[-1]
    stamp = chat.session.updated
    hold = store.hold("k", "crashing")
    sent_already = QueuedPrompt(chat.session.path[0], stamp, "go")
    waiting = QueuedPrompt("waiting", stamp, "still to come")
    reply = ReplyDraft("cut", head, "scripted/one", stamp, (TextPart("so far"),))
    store.write_turn_draft("k", TurnDraft(reply, (sent_already, waiting)), durable=True)
    hold.release()

    after = open_chat("k", ScriptedProvider(["y"]))
    events = await all_of(after.send("go on"))
    assert any(isinstance(event, Notice) and event.about == "recovered" for event in events)
    assert texts(store, "k")[2:] == [
        ("assistant", "so far", "interrupted"), ("user", "go on", ""), ("assistant", "y", "complete"),
    ]  # fmt: skip
    assert after.queue == (waiting,)


# --- context ---


async def test_oldest_turns_are_left_out_when_they_can_not_fit_and_it_is_said(open_chat: OpenChat) -> None:
    provider = ScriptedProvider(["word " * 40] * 12, window=600, max_output=100)
    off = CompactionOptions(mode="off")
    chat = open_chat("k", provider, compaction=off, overflow="drop-oldest")
    notices: list[Notice] = []
    for n in range(12):
        events = await all_of(chat.send(f"prompt {n}"))
        assert isinstance(events[-1], TurnCompleted)
        notices += [event for event in events if isinstance(event, Notice)]
    assert notices
    assert notices[-1].about == "older_turns_left_out"
    first_sent = sent(provider)[0]
    assert first_sent != ("user", "prompt 0")
    assert chat.session.find_message(notices[-1].details["starts_at"]).text == first_sent[1]  # type: ignore[arg-type]  # a position
    assert len(chat.session.path) == 24


async def test_a_prompt_that_can_never_fit_fails_before_the_call(
    open_chat: OpenChat, store: FullStore
) -> None:
    provider = ScriptedProvider(["x"], window=600, max_output=100)
    last = last_of(await all_of(open_chat("k", provider).send("word " * 2000)))
    assert isinstance(last, TurnFailed)
    assert (last.failure.code, last.exit_code) == ("context_overflow", 9)
    assert provider.requests == []
    assert texts(store, "k")[0][1].startswith("word")


async def test_a_provider_that_finds_a_request_too_long_is_asked_with_less(open_chat: OpenChat) -> None:
    provider = ScriptedProvider([[ContextOverflow("too long")], "fits"])
    events = await all_of(open_chat("k", provider).send("go"))
    assert isinstance(events[-1], TurnCompleted)
    assert len(provider.requests) == 2


# --- a disk that fails ---


async def test_a_reply_that_can_not_be_stored_is_kept_and_stored_later(
    open_chat: OpenChat, file_store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = open_chat("k", ScriptedProvider(["precious"]), on=file_store)
    real, broken = file_store.append, asyncio.Event()

    def full(*args: object, **kwargs: object) -> object:
        if broken.is_set():
            raise StoreUnavailable("NOT SAVED: the disk is full")
        return real(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(file_store, "append", full)
    events = []
    async for event in chat.send("go"):
        events.append(event)
        if event.type == "reply_started":
            broken.set()
    last = last_of(events)
    assert isinstance(last, TurnFailed)
    assert (last.failure.code, last.exit_code, last.saved) == ("store_unavailable", 6, False)
    assert any(isinstance(event, Notice) and event.about == "not_saved" for event in events)
    before = chat.saved
    assert before is False
    assert [message.text for message in chat.session.messages()] == ["go", "precious"]
    assert await chat.retry_save() is False
    broken.clear()
    assert await chat.retry_save() is True
    assert chat.saved
    assert texts(file_store, "k")[-1] == ("assistant", "precious", "complete")


async def test_a_prompt_that_can_not_be_stored_is_not_sent(
    open_chat: OpenChat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileSessionStore(tmp_path / "sessions")

    def full(*_: object) -> object:
        raise StoreUnavailable("NOT SAVED: the disk is full")

    monkeypatch.setattr(store, "create", full)
    provider = ScriptedProvider(["x"])
    with pytest.raises(StoreUnavailable):
        await all_of(open_chat("k", provider, on=store).send("go"))
    assert provider.requests == []
    assert store.holder("k") is None


async def test_the_file_is_one_valid_document_after_every_event(
    open_chat: OpenChat, file_store: FileSessionStore, tmp_path: Path
) -> None:
    chat = open_chat("k", ScriptedProvider(["a", "b"]), on=file_store)
    for prompt in ("one", "two"):
        async for _ in chat.send(prompt):
            document = json.loads((tmp_path / "sessions" / "k.json").read_bytes())
            assert [entry["seq"] for entry in document["entries"]] == list(
                range(1, len(document["entries"]) + 1)
            )
    ended = chat.session.find_message(4)
    assert isinstance(ended, AssistantMessage)
    assert ended.stop_reason == StreamEnded("stop").stop_reason
