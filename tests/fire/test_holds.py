import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from shipchat.core.errors import ProviderRejected, SessionHeld, StoreUnavailable
from shipchat.core.events import SessionEvent, TextDelta
from shipchat.core.session import session_from
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.file import FileSessionStore
from shipchat.testing.scripted import Answer, Reply, ScriptedProvider
from tests.fire import beside, holds
from tests.sessions.conftest import ScriptedModels


def chat_on(store: FileSessionStore, *answers: Answer) -> ChatSession:
    return ChatSession(
        store,
        "k",
        models=ScriptedModels(ScriptedProvider(answers, repeat_last=True)),
        options=ChatOptions(default_model="scripted/one"),
    )


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


def test_of_2_to_16_racers_one_wins(tmp_path: Path) -> None:
    """Cases 22, 23, 26, 34: a second one is refused, and told by whom; letter case makes no other session."""
    holds.race(tmp_path / "sessions", 8)


def test_a_killed_holders_session_is_free_at_once(tmp_path: Path) -> None:
    """Case 29."""
    holds.killed_holders(tmp_path / "sessions", 3)


def test_each_fork_beside_a_holder_at_full_speed_is_one_saved_state(tmp_path: Path) -> None:
    """Cases 8, 43, 44."""
    beside.forks(tmp_path / "sessions", 40)


def test_listing_never_makes_an_acquirer_fail(tmp_path: Path) -> None:
    beside.listings(tmp_path / "sessions", 60)


async def _ends(stream: object) -> None:
    with contextlib.suppress(ProviderRejected, StoreUnavailable):
        async for _ in stream:  # type: ignore[attr-defined]
            pass


HALF: tuple[str, ...] = ("half ",)


def breaks(chat: ChatSession, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    def fail(*_: object, **__: object) -> object:
        raise StoreUnavailable("NOT SAVED: the disk is full")

    monkeypatch.setattr(chat._store, what, fail)


WAYS: dict[str, Answer] = {
    "complete": "whole",
    "provider fails": Reply(("half ", ProviderRejected("no"))),
    "merely stops": Reply(("half ",), ends=False),
    "bug": Reply(("half ", ZeroDivisionError())),
}


@pytest.mark.parametrize("way", WAYS)
async def test_the_hold_is_freed_however_a_turn_ends(store: FileSessionStore, way: str) -> None:
    chat = chat_on(store, WAYS[way])
    await _ends(chat.send("go"))
    assert store.holder("k") is None
    store.hold("k", "another").release()


async def test_the_hold_is_freed_when_the_disk_fails(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chat_on(store, "whole")
    await _ends(chat.send("go"))
    for what in ("append", "read_turn_draft", "read_new"):
        with monkeypatch.context() as patch:
            breaks(chat, patch, what)
            await _ends(chat.send("go"))
        store.hold("k", "another").release()


LEAVING: dict[str, Callable[[ChatSession, "asyncio.Task[None]"], object]] = {
    "interrupt": lambda chat, _: chat.interrupt(),
    "cancelled": lambda _, task: task.cancel(),
}


@pytest.mark.parametrize("way", LEAVING)
async def test_the_hold_is_freed_when_a_turn_is_left(store: FileSessionStore, way: str) -> None:
    """Case 28: a window that goes elsewhere leaves nothing held."""
    gate = asyncio.Event()
    begun = asyncio.Event()
    chat = chat_on(store, Reply((TextDelta("half "), gate)))

    async def follow() -> None:
        async for event in chat.send("go"):
            if isinstance(event, TextDelta):
                begun.set()

    task = asyncio.create_task(follow())
    await begun.wait()
    with pytest.raises(SessionHeld):
        store.hold("k", "another")
    LEAVING[way](chat, task)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await chat.close()
    store.hold("k", "another").release()


async def test_an_idle_window_holds_nothing(store: FileSessionStore) -> None:
    """Case 28."""
    chat = chat_on(store, "whole")
    window = await chat.open_window()
    await _ends(chat.send("go"))
    window.write("unsent")
    await chat.look()
    assert store.holder("k") is None
    other = chat_on(store, "other")
    await _ends(other.send("me too"))
    await chat.refresh()
    assert [message.text for message in chat.session.messages()] == ["go", "whole", "me too", "other"]
    window.close()


async def test_metadata_of_eight_processes_during_a_turn_is_kept_and_the_turn_unharmed(
    store: FileSessionStore,
) -> None:
    gate = asyncio.Event()
    chat = chat_on(store, "first", Reply((TextDelta("half "), gate, TextDelta("whole"))))
    await _ends(chat.send("go"))
    events: list[SessionEvent] = []
    begun = asyncio.Event()

    async def follow() -> None:
        async for event in chat.send("again"):
            events.append(event)
            if isinstance(event, TextDelta):
                begun.set()

    task = asyncio.create_task(follow())
    await begun.wait()
    people = [beside.contender("tag", str(store.root), "k", f"p{number}", "15") for number in range(8)]
    said = await asyncio.gather(*(asyncio.to_thread(one.communicate) for one in people))
    gate.set()
    await task
    assert events[-1].type == "turn_completed"
    record = store.load("k")
    assert record is not None
    session = session_from(record)
    tags = [word for out, _ in said for word in out.split()]
    assert len(tags) == 8 * 15
    assert set(tags) == set(session.tags)
    assert [message.text for message in session.messages()] == ["go", "first", "again", "half whole"]
