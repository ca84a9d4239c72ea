"""A made-up version 0: read as it is, brought up to date by the first write, after a backup."""

import json
from pathlib import Path
from typing import cast

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import MessageNotFound, SessionDamaged, StoreUnavailable
from shipchat.core.messages import Json
from shipchat.core.session import session_from
from shipchat.formats import migrations
from shipchat.formats.lines import CLOSING, seal
from shipchat.formats.migrations import Step
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, ids, prompt, reply, title

RECORD = SessionRecord(header("k"), (prompt("a"), reply("b", "a"), title("t", "Export")))


def entry_to_1(value: dict[str, Json]) -> dict[str, Json]:
    """Version 0 called the parts of a message its body, and kept plain text in it."""
    if "body" not in value:
        return value
    changed = {name: item for name, item in value.items() if name != "body"}
    return changed | {"parts": [{"type": "text", "text": value["body"]}]}


def entry_to_0(value: dict[str, Json]) -> dict[str, Json]:
    if "parts" not in value:
        return value
    (part,) = cast("list[dict[str, Json]]", value["parts"])
    return {name: item for name, item in value.items() if name != "parts"} | {"body": part["text"]}


def header_to_1(value: dict[str, Json]) -> dict[str, Json]:
    return {name: item for name, item in value.items() if name != "made"} | {"created": value["made"]}


def version_0(data: bytes) -> bytes:
    """Return a file of version 1 as version 0 would have written it."""
    document = json.loads(data)
    entries = [{name: item for name, item in one.items() if name != "crc"} for one in document.pop("entries")]
    first = {name: item for name, item in document.items() if name not in ("crc", "created")}
    first |= {"version": 0, "made": document["created"]}
    lines = [seal(entry_to_0(entry)) for entry in entries]
    return seal(first, opening=b',"entries":[') + b"\n" + b",\n".join(lines) + CLOSING


@pytest.fixture(autouse=True)
def a_step_from_version_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[int, Step]", migrations.STEPS), 0, Step(header_to_1, entry_to_1))


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    made = FileSessionStore(tmp_path / "sessions")
    made.create(RECORD)
    path = Path(made.path("k"))
    path.write_bytes(version_0(path.read_bytes()))
    return made


def bytes_of(store: FileSessionStore, key: str = "k") -> bytes:
    return Path(store.path(key)).read_bytes()


def backups(store: FileSessionStore) -> list[Path]:
    return sorted(Path(store.root).glob(".trash/k.*.version0"))


def test_an_older_file_is_read_listed_and_left_as_it_is(store: FileSessionStore) -> None:
    before = bytes_of(store)
    assert store.load("k") == RECORD
    row = store.summary("k")
    assert row is not None
    assert (row.title, row.messages, row.damage) == ("Export", 2, None)
    record, cursor = store.open("k")
    assert record == RECORD
    assert store.read_new("k", cursor).entries == RECORD.entries
    assert bytes_of(store) == before
    assert backups(store) == []


def test_the_first_write_brings_it_up_to_date_after_a_backup(store: FileSessionStore) -> None:
    before = bytes_of(store)
    _, cursor = store.open("k")
    tail = store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    assert tail.reloaded
    assert json.loads(bytes_of(store))["version"] == 1
    record = store.load("k")
    assert record is not None
    assert record.entries == (*RECORD.entries, prompt("c", "b"))
    (backup,) = backups(store)
    assert backup.read_bytes() == before
    assert backup.stat().st_mode & 0o777 == 0o600
    store.append("k", [reply("d", "c")], tail.cursor, exclusive=True)
    assert backups(store) == [backup]


def test_a_writer_beside_a_holder_may_bring_it_up_to_date(store: FileSessionStore) -> None:
    hold = store.hold("k", "test")
    _, cursor = store.open("k")
    SessionManager(store).rename("k", "New name")
    store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    hold.release()
    record = store.load("k")
    assert record is not None
    assert session_from(record).title == "New name"
    assert ids(record.entries)[-1] == "c"
    assert len(backups(store)) == 1


def test_a_torn_end_of_an_older_file_is_in_the_backup(store: FileSessionStore) -> None:
    torn = bytes_of(store)[: -len(CLOSING)] + b',\n{"seq":4,"at":"2026'
    Path(store.path("k")).write_bytes(torn)
    _, cursor = store.open("k")
    store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    assert backups(store)[0].read_bytes() == torn
    record = store.load("k")
    assert record is not None
    assert ids(record.entries) == ["a", "b", "t", "c"]


def test_a_fork_of_an_older_file_is_of_this_version(store: FileSessionStore) -> None:
    before = bytes_of(store)
    store.fork("k", header("f"), ["a", "b"], [title("x", "Fork")])
    record = store.load("f")
    assert record is not None
    assert record.entries == (*RECORD.entries[:2], title("x", "Fork"))
    assert record.header.copied == 2
    assert json.loads(bytes_of(store, "f"))["version"] == 1
    assert bytes_of(store) == before
    with pytest.raises(MessageNotFound):
        store.fork("k", header("g"), ["nothing"], [])


def test_without_room_for_the_backup_nothing_is_changed(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bytes_of(store)
    _, cursor = store.open("k")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shipchat.stores.file.journal.publish_new", fail)
        with pytest.raises(StoreUnavailable, match="NOT SAVED: No space left"):
            store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    assert bytes_of(store) == before


def test_without_a_step_it_is_damaged_and_says_so(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(cast("dict[int, Step]", migrations.STEPS), 0)
    with pytest.raises(SessionDamaged, match="format version 0 can't be brought up to date"):
        store.load("k")
