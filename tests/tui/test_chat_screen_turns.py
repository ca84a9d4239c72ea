"""Turns on the screen: sending, streaming, queueing, interrupting, failing, retrying, editing, flipping."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from shipchat.core.drafts import QueuedPrompt, TurnDraft
from shipchat.core.errors import ProviderRejected, ProviderUnavailable
from shipchat.core.messages import AssistantMessage
from shipchat.core.protocols import ModelRequest
from shipchat.testing.scripted import Reply
from tests.tui.chat_app import Chat, make_services, running


async def test_a_prompt_is_sent_and_its_reply_shown(tmp_path: Path) -> None:
    async with running(tmp_path, ["The **answer**."]) as chat:
        assert not (tmp_path / "data" / "sessions").exists()  # opening makes no file
        await chat.say("What is it?")
        await chat.shows("you  1", "What is it?", "assistant  2  one", "The answer.", "2 messages", "saved")
        assert chat.screen.view.composer.text == ""
        key = chat.opened.key
        assert [message.text for message in chat.services.sessions.open(key).messages()] == [
            "What is it?",
            "The **answer**.",
        ]
        await chat.until(lambda: chat.screen.view.sidebar.rows, "the sidebar lists it")
        assert [row.title for row in chat.screen.view.sidebar.rows] == ["What is it?"]


async def test_a_reply_is_shown_while_it_comes(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("first part", gate, " and the rest"))]) as chat:
        await chat.send("go")
        await chat.shows("first part", "writing", "Esc stops", "Enter queues")
        assert "and the rest" not in chat.text
        gate.set()
        await chat.shows("first part and the rest", "saved")
        assert "Esc stops" not in chat.text


async def test_escape_stops_the_reply_and_keeps_what_is_typed(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("half of it", gate))]) as chat:
        await chat.send("go")
        await chat.shows("half of it")
        await chat.type("next thought")
        await chat.press("escape")
        await chat.shows("! interrupted", "half of it")
        assert chat.screen.view.composer.text == "next thought"
        last = list(chat.services.sessions.open(chat.opened.key).messages())[-1]
        assert isinstance(last, AssistantMessage)
        assert (last.text, last.status) == ("half of it", "interrupted")


async def test_a_reply_that_was_cut_off_is_continued(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("one two", gate)), " three"]) as chat:
        await chat.send("count")
        await chat.shows("one two")
        await chat.press("escape")
        await chat.shows("! interrupted")
        await chat.command("/continue")
        await chat.until(lambda: len(chat.opened.session.path) == 3 and not chat.opened.turning)
        await chat.shows("three")


async def test_prompts_queue_behind_a_reply_and_are_sent_in_order(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("slow", gate)), "to two", "to three"]) as chat:
        await chat.send("one")
        await chat.shows("slow")
        await chat.send("two")
        await chat.shows("queued 1  two")
        await chat.send("three")
        await chat.shows("queued 2  three")
        draft = chat.services.sessions.store.read_turn_draft(chat.opened.key)
        assert draft is not None
        assert [prompt.text for prompt in draft.queue] == ["two", "three"]
        gate.set()
        await chat.until(lambda: len(chat.opened.session.path) == 6 and not chat.opened.turning)
        assert [message.text for message in chat.opened.session.messages()] == [
            "one", "slow", "two", "to two", "three", "to three",
        ]  # fmt: skip
        assert "queued" not in chat.text


async def test_up_takes_a_queued_prompt_back(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("slow", gate))]) as chat:
        await chat.send("one")
        await chat.shows("slow")
        await chat.send("second thoughts")
        await chat.shows("queued 1")
        await chat.press("up")
        await chat.gone("queued 1")
        assert chat.screen.view.composer.text == "second thoughts"
        draft = chat.services.sessions.store.read_turn_draft(chat.opened.key)
        assert draft is not None
        assert draft.queue == ()
        gate.set()
        await chat.until(lambda: not chat.opened.turning)


async def test_the_queue_is_offered_back_after_an_interrupt(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("slow", gate)), "later"]) as chat:
        await chat.send("one")
        await chat.shows("slow")
        await chat.send("two")
        await chat.shows("queued 1")
        await chat.press("escape")
        await chat.shows("1 prompt still waits", "queued 1  two")
        await chat.command("/queue")
        await chat.until(lambda: len(chat.opened.session.path) == 4 and not chat.opened.turning)
        assert [message.text for message in chat.opened.session.messages()] == ["one", "slow", "two", "later"]


async def test_a_failing_model_is_told_and_can_be_asked_again(tmp_path: Path) -> None:
    broken = Reply(("some", ProviderUnavailable("the line went dead")))
    async with running(tmp_path, [broken, "all of it"]) as chat:
        await chat.send("go")
        await chat.shows("! cut off", "some", "the line went dead", "c continue", "r retry")
        await chat.press("ctrl+up", "r")
        await chat.shows("all of it", "‹ 2/2 ›")  # noqa: RUF001 - the sign that is drawn


async def test_a_failure_before_any_text_is_told(tmp_path: Path) -> None:
    async with running(tmp_path, [[ProviderRejected("no such thing")]]) as chat:
        await chat.send("go")
        await chat.shows("no such thing", "go")
        assert not chat.opened.turning


async def test_another_reply_stands_beside_the_first_and_can_be_flipped(tmp_path: Path) -> None:
    async with running(tmp_path, ["first try", "second try"]) as chat:
        await chat.say("go")
        await chat.command("/retry")
        await chat.until(lambda: not chat.opened.turning)
        await chat.shows("second try", "‹ 2/2 ›")  # noqa: RUF001 - the sign that is drawn
        assert "first try" not in chat.text
        await chat.press("ctrl+up", "left")
        await chat.shows("first try")
        assert "second try" not in chat.text
        assert chat.services.sessions.open(chat.opened.key).head == chat.opened.session.head
        await chat.press("right")
        await chat.shows("second try")
        await chat.press("left", "escape")
        await chat.shows("first try", "‹ 1/2 ›")  # noqa: RUF001 - the sign that is drawn


async def test_a_prompt_is_edited_and_its_sibling_sent(tmp_path: Path) -> None:
    async with running(tmp_path, ["to the first", "to the second"]) as chat:
        await chat.say("a question")
        await chat.press("ctrl+up", "up", "e")
        await chat.shows("Editing message 1")
        assert chat.screen.view.composer.text == "a question"
        chat.screen.view.composer.clear()
        await chat.send("a better question")
        await chat.until(lambda: not chat.opened.turning and "to the second" in chat.text)
        assert [message.text for message in chat.opened.session.messages()] == [
            "a better question",
            "to the second",
        ]
        assert "‹ 2/2 ›" in chat.text  # noqa: RUF001 - the sign that is drawn


async def test_editing_makes_a_fork_when_the_setting_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, ["one", "two", "three"], edit="fork") as chat:
        await chat.say("first")
        await chat.say("second")
        before = chat.opened.key
        await chat.command("/edit 3")
        await chat.shows("Editing message 3")
        chat.screen.view.composer.clear()
        await chat.send("second, better")
        await chat.until(lambda: chat.opened.key != before and len(chat.opened.session.path) == 4)
        await chat.until(lambda: not chat.opened.turning)
        assert [message.text for message in chat.opened.session.messages()] == [
            "first",
            "one",
            "second, better",
            "three",
        ]
        assert [message.text for message in chat.services.sessions.open(before).messages()] == [
            "first", "one", "second", "two",
        ]  # fmt: skip


async def test_the_model_sees_a_prompt_only_once_it_is_on_disk(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    made, provider = make_services(tmp_path)

    def answer(_: ModelRequest) -> str:
        rows = made.sessions.list_sessions()
        seen.append([message.text for row in rows for message in made.sessions.open(row.key).messages()])
        return "ok"

    provider.answers = [answer]
    async with running(tmp_path, made=(made, provider)) as chat:
        await chat.say("is it there?")
    assert seen == [["is it there?"]]


async def test_a_second_turn_is_refused_while_one_runs(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("slow", gate))]) as chat:
        await chat.send("one")
        await chat.shows("slow")
        await chat.command("/retry")
        await chat.shows("a reply is being written")
        gate.set()
        await chat.until(lambda: not chat.opened.turning)
        assert len(chat.opened.session.path) == 2


async def test_a_turn_goes_on_behind_another_session(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("begun ", gate, "and done")), "other"]) as chat:
        await chat.send("long one")
        await chat.shows("begun")
        first = chat.opened.key
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
        await chat.say("short one")
        assert chat.screen.window.replying == {first}
        await chat.shows("● long one")
        gate.set()
        await chat.until(lambda: not chat.screen.window.replying)
        await chat.shows("• long one")
        await chat.screen.stage.open_session(first)
        await chat.shows("begun and done")
        assert chat.screen.window.unread == set()


async def test_switching_back_shows_the_reply_that_grows(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("begun ", gate, "and done"))]) as chat:
        await chat.send("long one")
        await chat.shows("begun")
        first = chat.opened.key
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
        await chat.screen.stage.open_session(first)
        await chat.shows("begun", "writing")
        gate.set()
        await chat.shows("begun and done")
        await chat.until(lambda: not chat.opened.turning)


async def left_behind(chat: Chat, *texts: str) -> None:
    """Leave prompts in the open session's queue as a program does that was killed in the middle of a turn."""
    queue = tuple(QueuedPrompt(f"left-{n}", datetime.now(UTC), text) for n, text in enumerate(texts))
    store, key = chat.services.sessions.store, chat.opened.key
    await asyncio.to_thread(store.write_turn_draft, key, TurnDraft(None, queue), durable=True)


async def test_prompts_left_by_a_crash_are_offered_and_not_sent(tmp_path: Path) -> None:
    async with running(tmp_path, ["reply"]) as chat:
        await chat.say("one")
        key = chat.opened.key
        await left_behind(chat, "never sent", "nor this")
        await chat.shows("2 prompts wait", "queued 1  never sent", "queued 2  nor this", "↑ edit")
        await chat.command("/new")
        await chat.gone("queued 1")
        await chat.command(f"/resume {key}")
        await chat.shows("queued 1  never sent")
        await chat.say("two")
        await chat.shows("queued 1  never sent", "queued 2  nor this")
        assert [message.text for message in chat.opened.session.messages()] == [
            "one",
            "reply",
            "two",
            "reply",
        ]
        await chat.press("up")
        await chat.gone("queued 2")
        assert chat.screen.view.composer.text == "nor this"
        draft = chat.services.sessions.store.read_turn_draft(key)
        assert draft is not None
        assert [prompt.text for prompt in draft.queue] == ["never sent"]


async def test_what_is_queued_here_goes_before_what_was_left(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, ["first", Reply(("slow", gate)), "third"]) as chat:
        await chat.say("one")
        await left_behind(chat, "left over")
        await chat.shows("queued 1  left over")
        await chat.send("two")
        await chat.shows("slow")
        await chat.send("three")
        await chat.shows("queued 2  three")
        gate.set()
        await chat.until(lambda: len(chat.opened.session.path) == 6 and not chat.opened.turning)
        assert [message.text for message in chat.opened.session.messages()] == [
            "one", "first", "two", "slow", "three", "third",
        ]  # fmt: skip
        await chat.shows("1 prompt still waits", "queued 1  left over")


async def test_the_queue_command_sends_everything_that_was_left(tmp_path: Path) -> None:
    async with running(tmp_path, ["reply"]) as chat:
        await chat.say("one")
        await left_behind(chat, "two", "three")
        await chat.shows("queued 2  three")
        await chat.command("/queue")
        await chat.until(lambda: len(chat.opened.session.path) == 6 and not chat.opened.turning)
        assert "queued" not in chat.text


async def test_a_message_is_pinned_and_let_go(tmp_path: Path) -> None:
    async with running(tmp_path, ["reply"]) as chat:
        await chat.say("one")
        await chat.press("ctrl+up", "p")
        await chat.shows("Message 2 is pinned", "pinned")
        assert chat.opened.session.pins == {chat.opened.session.path[1]}
        await chat.press("p")
        await chat.shows("Message 2 is pinned no more")
        await chat.until(lambda: chat.opened.session.pins == frozenset())


async def test_the_siblings_are_named_on_the_focused_message_too(tmp_path: Path) -> None:
    async with running(tmp_path, ["reply"]) as chat:
        await chat.say("one")
        await chat.command("/retry")
        await chat.shows("‹ 2/2 ›")  # noqa: RUF001 - the sign that is drawn
        await chat.until(lambda: not chat.opened.turning)
        await chat.press("ctrl+up")
        await chat.shows("‹ 2/2 ›   c copy")  # noqa: RUF001 - the sign that is drawn
        await chat.press("left")
        await chat.shows("‹ 1/2 ›   c copy")  # noqa: RUF001 - the sign that is drawn


async def test_the_argument_of_a_command_is_completed(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.type("/theme ")
        await chat.shows("high-contrast")
        await chat.press("h", "tab")
        assert chat.screen.view.composer.text == "/theme high-contrast"
        await chat.press("enter")
        await chat.until(lambda: chat.app.theme == "high-contrast", "the theme")
        await chat.say("hello")
        await chat.type("/goto 1")
        await chat.shows("you: hello")
        await chat.press("enter")  # as it was typed: nothing was chosen
        await chat.until(lambda: chat.screen.view.transcript.has_focus, "it went there")
