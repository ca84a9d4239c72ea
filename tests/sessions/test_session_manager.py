"""Finding, forking, naming, archiving, deleting: on real stores, with the parent's bytes looked at."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shipchat.core.errors import (
    MessageNotFound,
    SessionAmbiguous,
    SessionExists,
    SessionHeld,
    SessionKeyInvalid,
    SessionNotFound,
    UsageError,
)
from shipchat.core.events import SessionCreated, SessionRemoved, SessionUpdated, TextDelta
from shipchat.core.protocols import FullStore
from shipchat.sessions.follower import SessionFollower
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file.store import FileSessionStore
from shipchat.testing.scripted import Reply, ScriptedProvider
from tests.sessions.conftest import OpenChat
from tests.sessions.events import all_of


async def talk(open_chat: OpenChat, key: str, *prompts: str) -> None:
    chat = open_chat(key, ScriptedProvider([f"reply to {prompt}" for prompt in prompts]))
    for prompt in prompts:
        await all_of(chat.send(prompt))


def texts(manager: SessionManager, key: str) -> list[str]:
    return [message.text for message in manager.open(key).messages()]


async def test_forks_of_forks_and_of_a_running_session_are_whole_and_named_apart(
    open_chat: OpenChat, manager: SessionManager
) -> None:
    await talk(open_chat, "a", "one", "two")
    b = manager.fork("a")
    c = manager.fork(b)
    d = manager.fork("a")
    assert (b, c, d) == ("a-fork", "a-fork-fork", "a-fork2")
    whole = ["one", "reply to one", "two", "reply to two"]
    assert [texts(manager, key) for key in (b, c, d)] == [whole] * 3
    titles = [manager.open(key).title for key in ("a", b, c, d)]
    assert titles == ["one", "one (fork)", "one (fork 2)", "one (fork 3)"]
    origin = manager.open(c).forked_from
    assert origin is not None
    assert (origin.key, origin.position) == ("a-fork", 4)


@pytest.mark.parametrize("position", [1, 2, 3, 4])
async def test_a_fork_includes_the_message_it_is_made_from(
    open_chat: OpenChat, manager: SessionManager, position: int
) -> None:
    await talk(open_chat, "a", "one", "two")
    by_position = manager.fork("a", from_message=position)
    by_id = manager.fork("a", from_message=manager.open("a").path[position - 1])
    assert texts(manager, by_position) == texts(manager, by_id) == texts(manager, "a")[:position]


@pytest.mark.parametrize("bad", [0, -1, 5, True, 1.5, "0", "nope"])
async def test_a_fork_from_nowhere_makes_nothing(
    open_chat: OpenChat, manager: SessionManager, bad: int | str
) -> None:
    await talk(open_chat, "a", "one", "two")
    with pytest.raises(MessageNotFound) as caught:
        manager.fork("a", from_message=bad)
    assert "1 to 4" in caught.value.advice[0]
    assert manager.store.keys() == ["a"]


async def test_the_parents_bytes_stay_the_same_and_a_fork_goes_its_own_way(
    open_chat: OpenChat, file_store: FileSessionStore, tmp_path: Path
) -> None:
    chat = open_chat("a", ScriptedProvider(["1", "2"]), on=file_store)
    await all_of(chat.send("one"))
    before = (tmp_path / "sessions" / "a.json").read_bytes()
    manager = SessionManager(file_store)
    fork = manager.fork("a", from_message=1)
    lines = (tmp_path / "sessions" / f"{fork}.json").read_bytes().splitlines()
    assert lines[1] == before.splitlines()[1].rstrip(b",") or lines[1].rstrip(b",") == before.splitlines()[
        1
    ].rstrip(b",")
    provider = ScriptedProvider(["other"] * 5)
    forked = open_chat(fork, provider, on=file_store)
    for n in range(5):
        await all_of(forked.send(f"prompt {n}"))
    assert (tmp_path / "sessions" / "a.json").read_bytes() == before
    assert len(texts(manager, fork)) == 11


async def test_a_fork_takes_system_model_tags_and_pins_but_not_the_archive(
    open_chat: OpenChat, manager: SessionManager
) -> None:
    chat = open_chat("a", ScriptedProvider(["x"]), system="Be kind.", model="scripted/two")
    await all_of(chat.send("one"))
    await chat.set(pin=chat.session.path[0])
    manager.tag("a", add=["bug", "#ops"])
    manager.archive("a")
    fork = manager.open(manager.fork("a", title="Mine"))
    assert (fork.system, fork.model, fork.tags, fork.archived, fork.title) == (
        "Be kind.", "scripted/two", ("bug", "ops"), False, "Mine",
    )  # fmt: skip
    assert fork.pins == frozenset([fork.path[0]])


async def test_siblings_are_not_copied(open_chat: OpenChat, manager: SessionManager) -> None:
    chat = open_chat("a", ScriptedProvider(["first", "second"]))
    await all_of(chat.send("go"))
    await all_of(chat.regenerate())
    fork = manager.open(manager.fork("a"))
    assert [message.text for message in fork.messages()] == ["go", "second"]
    assert len(fork.tree) == 2
    first = manager.open("a").tree.siblings(fork.path[1])[0]
    other = manager.open(manager.fork("a", from_message=first))
    assert [message.text for message in other.messages()] == ["go", "first"]


async def test_forking_while_a_turn_runs_ends_at_the_last_stored_message(
    open_chat: OpenChat, manager: SessionManager
) -> None:
    gate = asyncio.Event()
    chat = open_chat("a", ScriptedProvider([Reply(("half", gate))]))
    async for event in chat.send("go"):
        if isinstance(event, TextDelta):
            fork = await asyncio.to_thread(manager.fork, "a")
            assert texts(manager, fork) == ["go"]
            gate.set()
    assert texts(manager, "a") == ["go", "half"]


async def test_a_name_is_resolved_level_by_level_and_never_guessed(
    open_chat: OpenChat, manager: SessionManager
) -> None:
    for key, prompt in [("alpha-1", "first"), ("alpha-2", "second"), ("beta", "alpha-1")]:
        await talk(open_chat, key, prompt)
    manager.rename("alpha-2", "Nightly export")
    manager.rename("alpha-2", "Exports")
    assert manager.resolve("alpha-1") == "alpha-1"  # the key beats beta's title
    assert manager.resolve("ALPHA-1") == "alpha-1"
    assert manager.resolve("Exports") == "alpha-2"
    assert manager.resolve("bet") == "beta"
    assert manager.resolve("Nightly export") == "alpha-2"
    with pytest.raises(SessionAmbiguous) as ambiguous:
        manager.resolve("alpha")
    assert ambiguous.value.details["candidates"] == ["alpha-1", "alpha-2"] or ambiguous.value.details[
        "candidates"
    ] == ["alpha-2", "alpha-1"]
    with pytest.raises(SessionNotFound) as missing:
        manager.resolve("alpah-1")
    assert "alpha-1" in missing.value.advice[0]
    for empty in ("", "  "):
        with pytest.raises(UsageError):
            manager.resolve(empty)


async def test_newest_is_the_latest_message_not_archived_and_unmoved_by_rename_and_tag(
    open_chat: OpenChat, manager: SessionManager
) -> None:
    with pytest.raises(SessionNotFound):
        manager.newest()
    for key in ("a", "b", "c"):
        await talk(open_chat, key, "hi")
    manager.rename("a", "x")
    manager.tag("a", add=["t"])
    assert manager.newest() == "c"
    manager.archive("c")
    assert manager.newest() == "b"
    assert [row.key for row in manager.list_sessions()] == ["b", "a"]
    assert [row.key for row in manager.list_sessions(archived=None)] == ["c", "b", "a"]
    assert [row.key for row in manager.list_sessions(archived=True)] == ["c"]
    assert [row.key for row in manager.list_sessions(tags=["t"])] == ["a"]


def test_making_sessions(manager: SessionManager) -> None:
    assert manager.create("ticket-812", title="Nightly export", system="s", model="a/b") == "ticket-812"
    session = manager.open("ticket-812")
    assert (session.title, session.system, session.model, list(session.path)) == (
        "Nightly export",
        "s",
        "a/b",
        [],
    )
    with pytest.raises(SessionExists):
        manager.create("Ticket-812")
    with pytest.raises(SessionKeyInvalid):
        manager.create("../../pwned")
    with pytest.raises(UsageError):
        manager.create("x", model="no-slash")
    assert manager.open(manager.create()).created <= datetime.now(UTC)
    assert len(manager.store.keys()) == 2


@pytest.mark.parametrize(
    "title", ["[/b] [TODO]", '"; touch pwned; "', "$(touch pwned)", "日本語", "../../x", "e\u0301", "\x1b[2J"]
)
def test_any_title_can_be_given_found_and_removed(manager: SessionManager, title: str) -> None:
    manager.create("k")
    assert manager.rename("k", title).title == title
    assert manager.resolve(title) == "k"
    manager.archive("k")
    manager.unarchive("k")
    manager.delete("k")
    assert manager.restore(title) == "k"
    assert manager.open("k").title == title


def test_bad_titles_and_tags_are_refused(manager: SessionManager) -> None:
    manager.create("k")
    for title in ("", " \n", "x" * 1001):
        with pytest.raises(UsageError):
            manager.rename("k", title)
    for tag in ("", "#", "two words", "x" * 101):
        with pytest.raises(UsageError):
            manager.tag("k", add=[tag])


async def test_deleting_and_restoring(open_chat: OpenChat, manager: SessionManager) -> None:
    await talk(open_chat, "a", "one")
    trashed = manager.delete("a")
    assert (trashed.key, trashed.title) == ("a", "one")
    with pytest.raises(SessionNotFound):
        manager.open("a")
    with pytest.raises(SessionNotFound):
        manager.delete("a")
    manager.create("a")
    copy = manager.restore("a")
    assert copy == "a-restored"
    assert texts(manager, copy) == ["one", "reply to one"]
    assert texts(manager, "a") == []
    with pytest.raises(SessionNotFound):
        manager.restore("a")


async def test_a_running_session_can_not_be_deleted(open_chat: OpenChat, manager: SessionManager) -> None:
    chat = open_chat("a", ScriptedProvider([Reply(("x", asyncio.Event()))]))
    async for event in chat.send("go"):
        if isinstance(event, TextDelta):
            with pytest.raises(SessionHeld):
                await asyncio.to_thread(manager.delete, "a")
            chat.interrupt()
    manager.delete("a")


async def test_the_follower_sees_what_others_do(
    open_chat: OpenChat, store: FullStore, manager: SessionManager
) -> None:
    await talk(open_chat, "a", "one")
    follower = SessionFollower(manager)
    assert follower.poll() == []
    assert follower.poll() == []
    manager.create("b")
    manager.rename("a", "x")
    assert sorted(follower.poll(), key=lambda change: change.key) == [
        SessionUpdated("a"),
        SessionCreated("b"),
    ]
    manager.delete("b")
    assert follower.poll() == [SessionRemoved("b")]


async def test_another_window_watches_the_reply_grow(open_chat: OpenChat, store: FullStore) -> None:
    gate, grown = asyncio.Event(), asyncio.Event()
    chat = open_chat("a", ScriptedProvider([Reply(("some ", gate, "more"))]), program="the other")
    window = open_chat("a", ScriptedProvider([]))
    assert (await window.look()).changed is False

    async def reply() -> None:
        async for _ in chat.send("go"):
            pass
        grown.set()

    task = asyncio.create_task(reply())
    text, seen = "", await window.look()
    while not text:  # the draft is written about twice a second
        seen = await window.look()
        text = seen.reply.parts[0].text if seen.reply and seen.reply.parts else ""  # type: ignore[union-attr]  # a text
    assert text == "some "
    assert seen.holder is not None
    assert seen.holder.program == "the other"
    gate.set()
    await grown.wait()
    await task
    seen = await window.look()
    assert (seen.changed, seen.holder, seen.reply) == (True, None, None)
    assert [message.text for message in window.session.messages()] == ["go", "some more"]
    SessionManager(store).delete("a")
    assert (await window.look()).missing is True
