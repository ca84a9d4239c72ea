"""Sessions on the screen: the sidebar's wishes, undo, other windows and processes, damage, drafts, saving."""

import asyncio
import os
from pathlib import Path

from shipchat.core.errors import StoreUnavailable
from shipchat.core.messages import text_of
from shipchat.sessions.chat_session import ChatSession
from shipchat.testing.scripted import Reply
from shipchat.tui.start import Start
from shipchat.tui.widgets.sidebar_row import RowMark
from tests.tui.chat_app import Chat, make_services, running


async def in_list(chat: Chat, key: str) -> None:
    """Put the list's cursor on a session."""
    await chat.until(lambda: key in chat.screen.window.rows, f"{key} is listed")
    await chat.until(lambda: any(row.key == key for row in chat.screen.view.sidebar.rows))
    chat.screen.view.open_sidebar()
    chat.screen.view.sidebar.select(key)
    await chat.pilot.pause()


def can_type(chat: Chat) -> bool:
    """Whether there is a composer."""
    return chat.screen.view.composer.display


def texts(chat: Chat) -> list[str]:
    return [message.text for message in chat.opened.session.messages()]


async def test_a_session_is_picked_up_where_it_was_left(tmp_path: Path) -> None:
    async with running(tmp_path, ["the first reply"]) as chat:
        await chat.say("remember me")
        key = chat.opened.key
    async with running(tmp_path, ["the second reply"], start=Start(key)) as chat:
        await chat.shows("remember me", "the first reply", "2 messages")
        await chat.say("go on")
        await chat.shows("the second reply")
        assert texts(chat) == ["remember me", "the first reply", "go on", "the second reply"]
        await chat.press("up", "up")
        assert chat.screen.view.composer.text == "remember me"


async def test_a_fork_from_a_message_is_opened_below_its_parent(tmp_path: Path) -> None:
    async with running(tmp_path, ["one", "two"]) as chat:
        await chat.say("first")
        await chat.say("second")
        parent = chat.opened.key
        await chat.press("ctrl+up", "up", "up", "f")  # the reply at 2
        await chat.until(lambda: chat.opened.key != parent)
        assert texts(chat) == ["first", "one"]
        await chat.shows("Forked at message 2", "first (fork)", "└ ")
        assert [message.text for message in chat.services.sessions.open(parent).messages()] == [
            "first", "one", "second", "two",
        ]  # fmt: skip


async def test_rename_in_place_and_undo(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("a first line")
        key = chat.opened.key
        await in_list(chat, key)
        await chat.press("r", *["backspace"] * 12, *"Better", "enter")
        await chat.shows("Renamed", "Better")
        await chat.until(lambda: chat.services.sessions.open(key).title == "Better")
        await chat.until(lambda: chat.screen.view.header.state.title == "Better")
        await chat.press("u")
        await chat.until(lambda: chat.services.sessions.open(key).title == "a first line")
        await chat.until(lambda: chat.screen.view.header.state.title == "a first line")


async def test_tags_by_dialog_and_by_command(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("tag me")
        key = chat.opened.key
        await in_list(chat, key)
        await chat.press("t")
        await chat.shows("Tags")
        await chat.press(*"ops", "enter")
        await chat.until(lambda: chat.services.sessions.open(key).tags == ("ops",))
        await chat.command("/tag bug")
        await chat.until(lambda: chat.services.sessions.open(key).tags == ("ops", "bug"))
        await chat.shows("#ops  #bug")
        await chat.command("/untag ops")
        await chat.until(lambda: chat.services.sessions.open(key).tags == ("bug",))
        await chat.command("/undo")
        await chat.until(lambda: set(chat.services.sessions.open(key).tags) == {"bug", "ops"})


async def test_archive_leaves_the_list_and_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("old thing")
        key = chat.opened.key
        await in_list(chat, key)
        await chat.press("a")
        await chat.shows("Archived", "No sessions yet")
        await chat.until(lambda: chat.services.sessions.open(key).archived)
        await chat.press("u")
        await chat.until(lambda: not chat.services.sessions.open(key).archived)
        await chat.press("a")
        await chat.until(lambda: chat.services.sessions.open(key).archived)
        await chat.press("A")
        await chat.shows("Archived", "old thing")
        await chat.until(lambda: chat.screen.view.sidebar.archive_view)


async def test_delete_opens_a_fresh_session_and_undo_brings_it_back(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("precious")
        key = chat.opened.key
        await in_list(chat, key)
        await chat.press("d")
        await chat.shows("Moved to the trash", "Ask anything.")
        assert chat.services.sessions.list_sessions() == []
        await chat.command("/undo")
        await chat.until(lambda: chat.opened.key == key)
        await chat.shows("precious", "2 messages")


async def test_new_open_and_the_newest(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("number one")
        one = chat.opened.key
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.", "number one · now · Ctrl+O opens it")
        await chat.press("ctrl+o")
        await chat.until(lambda: chat.opened.key == one)
        await chat.command("/new")
        await chat.shows("Ask anything.")
        await chat.command("/resume number one")
        await chat.until(lambda: chat.opened.key == one)
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
        await in_list(chat, one)
        await chat.press("enter")
        await chat.until(lambda: chat.opened.key == one)


async def test_an_unknown_session_is_told_and_the_command_stays(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.command("/resume no-such")
        await chat.shows("there is no session 'no-such'")
        assert chat.screen.view.composer.text == "/resume no-such"


async def test_what_another_process_does_appears(tmp_path: Path) -> None:
    made, provider = make_services(tmp_path)
    other, _ = make_services(tmp_path, ["from there"])
    async with running(tmp_path, made=(made, provider)) as chat:
        key = await asyncio.to_thread(other.sessions.create, "elsewhere", title="Made elsewhere")
        await chat.shows("Made elsewhere")
        await chat.screen.stage.open_session(key)
        there = other.chats.open(key)
        async for _ in there.send("typed there"):
            pass
        await chat.shows("typed there", "from there", "2 messages")
        await asyncio.to_thread(other.sessions.rename, key, "Renamed there")
        await chat.until(lambda: chat.screen.view.header.state.title == "Renamed there")
        await chat.until(lambda: chat.screen.view.sidebar.rows[0].title == "Renamed there")
        await there.close()
    await other.models.close()


async def drain(chat: ChatSession, prompt: str) -> None:
    async for _ in chat.send(prompt):
        pass


async def test_a_reply_elsewhere_is_watched_and_what_is_typed_waits_for_it(tmp_path: Path) -> None:
    gate = asyncio.Event()
    other, _ = make_services(tmp_path, [Reply(("growing ", gate, "to its end"))])
    async with running(tmp_path, ["answered here"]) as chat:
        await chat.say("mine")
        there = other.chats.open(chat.opened.key)
        running_there = asyncio.create_task(drain(there, "theirs"))
        await chat.shows("theirs", "growing", "Replying in another window", "replying elsewhere")
        await chat.until(
            lambda: [row.mark for row in chat.screen.view.sidebar.rows] in ([RowMark.HELD], [RowMark.NONE])
        )
        await chat.send("and then me")
        await chat.shows("w wait for it")
        assert chat.screen.view.composer.text == "and then me"
        await chat.press("w")
        await chat.shows("It is sent when the other reply ends")
        gate.set()
        await running_there
        await chat.shows("growing to its end", "answered here")
        assert texts(chat)[-4:] == ["theirs", "growing to its end", "and then me", "answered here"]
        await there.close()
    await other.models.close()


async def test_a_fork_is_offered_while_a_reply_runs_elsewhere(tmp_path: Path) -> None:
    gate = asyncio.Event()
    other, _ = make_services(tmp_path, [Reply(("growing", gate))])
    async with running(tmp_path, ["mine", "in the fork"]) as chat:
        await chat.say("one")
        before = chat.opened.key
        there = other.chats.open(before)
        running_there = asyncio.create_task(drain(there, "theirs"))
        await chat.shows("Replying in another window")
        await chat.send("not waiting")
        await chat.press("f")
        await chat.until(lambda: chat.opened.key != before and "in the fork" in chat.text)
        assert texts(chat)[-2:] == ["not waiting", "in the fork"]
        gate.set()
        await running_there
        await there.close()
    await other.models.close()


async def test_a_draft_survives_and_belongs_to_its_session(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("one")
        one = chat.opened.key
        await chat.type("draft of one")
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
        assert chat.screen.view.composer.text == ""
        await chat.type("draft of nothing yet")
        await chat.screen.stage.open_session(one)
        assert chat.screen.view.composer.text == "draft of one"
        await chat.until(lambda: drafts_on_disk(tmp_path) == {"draft of one", "draft of nothing yet"})
    async with running(tmp_path) as chat:
        assert chat.screen.view.composer.text == "draft of nothing yet"
        await chat.screen.stage.open_session(one)
        assert chat.screen.view.composer.text == "draft of one"
        await chat.press("enter")
        await chat.until(lambda: len(chat.opened.session.path) == 4 and not chat.opened.turning)
        await chat.until(lambda: "draft of one" not in drafts_on_disk(tmp_path))


def drafts_on_disk(place: Path) -> set[str]:
    """All texts in the drafts directory that were typed in these tests."""
    found = set()
    for path in (place / "data" / "sessions").glob("**/*.json"):
        text = path.read_text(encoding="utf-8")
        found |= {
            one
            for one in ("draft of one", "draft of nothing yet")
            if f'"{one}"' in text and "drafts" in str(path)
        }
    return found


async def test_ctrl_c_clears_stops_and_asks_in_this_order(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with running(tmp_path, [Reply(("slow", gate))]) as chat:
        await chat.send("go")
        await chat.shows("slow")
        await chat.type("a half thought")
        await chat.press("ctrl+c")
        assert chat.screen.view.composer.text == ""
        assert chat.screen.window.replying
        await chat.press("up")
        assert chat.screen.view.composer.text == "a half thought"
        await chat.press("ctrl+c", "ctrl+c")
        await chat.shows("! interrupted")
        assert not chat.opened.turning
        await chat.press("ctrl+c")
        await chat.shows("Quit?", "Stay")
        await chat.press("escape")
        await chat.gone("Quit?")
        assert chat.app.is_running
        assert len(chat.opened.session.path) == 2


async def test_a_full_disk_is_told_and_the_prompt_kept_until_it_works_again(tmp_path: Path) -> None:
    made, provider = make_services(tmp_path, ["ok", "ok again"])
    store = made.sessions.store
    async with running(tmp_path, made=(made, provider)) as chat:
        await chat.say("fine")
        working = store.append
        draft_write = store.open_window

        def refuse(*_: object, **__: object) -> None:
            raise StoreUnavailable("NOT SAVED: No space left on device: /somewhere/x.json")

        store.append = refuse  # type: ignore[method-assign, assignment]
        await chat.send("not fine")
        await chat.shows("NOT SAVED: no space left on device.", "! NOT SAVED  no space left on device")
        assert chat.screen.view.composer.text == "not fine"
        assert len(provider.requests) == 1  # nothing was sent
        store.append = working  # type: ignore[method-assign]
        assert draft_write is not None
        chat.screen.following.retry_save_now()
        await chat.gone("NOT SAVED")
        await chat.press("enter")
        await chat.shows("ok again", "saved")


async def test_a_damaged_session_is_shown_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    async with running(tmp_path, ["readable reply", "later reply"]) as chat:
        await chat.say("readable prompt")
        await chat.say("second prompt")
        key = chat.opened.key
    path = tmp_path / "data" / "sessions" / f"{key}.json"
    data = path.read_bytes()
    at = data.index(b"second prompt")
    path.write_bytes(data[:at] + b"\x00" + data[at + 1 :])
    before = path.read_bytes()
    async with running(tmp_path) as chat:
        await chat.until(lambda: [row.mark for row in chat.screen.view.sidebar.rows] == [RowMark.DAMAGED])
        await chat.screen.stage.open_session(key)
        await chat.shows("damaged, read-only", "readable prompt", "readable reply")
        assert not can_type(chat)
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
        assert can_type(chat)
    assert path.read_bytes() == before


async def test_read_only_shows_and_sends_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("look at me")
        key = chat.opened.key
    async with running(tmp_path, start=Start(key, read_only=True)) as chat:
        await chat.shows("look at me", "read-only")
        assert not can_type(chat)
        chat.screen.action_do("/retry")
        await chat.shows("this session is open to read only")


async def test_a_private_session_leaves_nothing_on_disk(tmp_path: Path) -> None:
    async with running(tmp_path, ["a secret reply"]) as chat:
        await chat.command("/private")
        await chat.shows("private", "nothing here is stored", "Nothing of this session is written to disk.")
        await chat.say("a secret prompt")
        await chat.shows("a secret reply", "not stored")
        await chat.type("a secret draft")
        await chat.press("ctrl+n")
        await chat.shows("Ask anything.")
    for directory, _, names in os.walk(tmp_path):
        for name in names:
            assert b"secret" not in (Path(directory) / name).read_bytes()


async def test_deleted_elsewhere_is_told_when_one_sends(tmp_path: Path) -> None:
    other, _ = make_services(tmp_path)
    async with running(tmp_path) as chat:
        await chat.say("here")
        key = chat.opened.key
        await asyncio.to_thread(other.sessions.delete, key)
        await chat.until(lambda: chat.opened.missing)
        await chat.send("gone?")
        await chat.until(lambda: chat.toasts)
        assert chat.screen.view.composer.text == "gone?"


async def test_ten_thousand_messages_open_at_their_end_and_load_more(tmp_path: Path) -> None:
    made, provider = make_services(tmp_path)
    key = await asyncio.to_thread(long_session, made.sessions.store, 3000)
    async with running(tmp_path, made=(made, provider), start=Start(key)) as chat:
        await chat.shows("message 3000 ", "3,000 messages")
        assert chat.opened.first == 2801
        chat.screen.view.transcript.focus()
        await chat.press("home")
        await chat.until(lambda: chat.opened.first < 2801)
        await chat.command("/goto 7")
        await chat.shows("message 7 ")
        assert chat.opened.first == 1
        await chat.shows("of 3,000")


def long_session(store: object, count: int) -> str:
    from datetime import UTC, datetime, timedelta

    from shipchat.core.entries import MessageEntry, SessionHeader, SessionRecord
    from shipchat.core.messages import AssistantMessage, Message, TextPart, UserMessage

    at = datetime(2026, 11, 1, 9, tzinfo=UTC)
    entries = []
    parent = None
    for number in range(1, count + 1):
        parts = (TextPart(f"message {number} says something"),)
        when = at + timedelta(minutes=number)
        message: Message = (
            UserMessage(id=f"m{number}", parent=parent, at=when, parts=parts)
            if number % 2
            else AssistantMessage(id=f"m{number}", parent=parent, at=when, parts=parts, model="scripted/one")
        )
        assert text_of(message.parts)
        entries.append(MessageEntry(message=message))
        parent = message.id
    store.create(SessionRecord(SessionHeader(key="long", created=at), tuple(entries)))  # type: ignore[attr-defined]
    return "long"


async def test_the_filter_finds_what_was_said_and_lands_on_it(tmp_path: Path) -> None:
    answers = ["A zebra has stripes.", *["nothing"] * 3]
    async with running(tmp_path, answers) as chat:
        await chat.say("About animals")
        found = chat.opened.key
        for number in range(3):
            await chat.say(f"more {number}")
        await chat.command("/new")
        await chat.say("About numbers")
        await chat.until(lambda: len(chat.screen.view.sidebar.rows) == 2)
        await chat.press("ctrl+f", *"zebr")
        await chat.shows("A zebra has stripes.", "1 hit")
        assert not any("About numbers" in line[:30] for line in chat.lines)
        await chat.press("enter")
        await chat.until(lambda: chat.opened.key == found, "the session")
        await chat.until(lambda: chat.screen.view.transcript.chosen == chat.opened.session.path[1])
        await chat.press("ctrl+f", "escape")
        await chat.shows("About numbers")
