"""What the store writes, byte for byte, who may read it, and torn files."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord, SetEntry
from shipchat.core.errors import (
    SessionConflict,
    SessionExists,
    SessionHeld,
    SessionNotFound,
)
from shipchat.formats.lines import CLOSING
from shipchat.stores.file import FileSessionStore
from shipchat.stores.file.temporary import temporary
from shipchat.testing.samples import START, every_kind, header, ids, prompt, reply, title

RECORD = SessionRecord(header("k"), (prompt("a"), reply("b", "a"), title("t", "Export")))


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


def bytes_of(store: FileSessionStore, key: str = "k") -> bytes:
    return Path(store.path(key)).read_bytes()


def put(store: FileSessionStore, data: bytes, key: str = "k") -> None:
    Path(store.path(key)).write_bytes(data)


def trash_of(store: FileSessionStore) -> list[Path]:
    return sorted((Path(store.root) / ".trash").iterdir())


# --- what is written ---


def test_an_append_rewrites_nothing_but_the_closing_line(store: FileSessionStore) -> None:
    cursor = store.create(RECORD)
    before = bytes_of(store)
    store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    after = bytes_of(store)
    assert after.startswith(before[: -len(CLOSING)] + b",\n{")
    assert after.endswith(b"}" + CLOSING)
    assert [entry["id"] for entry in json.loads(after)["entries"]] == ["a", "b", "t", "c"]


def test_a_store_needs_no_closing_and_keeps_no_descriptors(store: FileSessionStore) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    cursor = store.create(RECORD)
    for n in range(20):
        cursor = store.append("k", [SetEntry(id=f"s{n}", at=START)], cursor, exclusive=False).cursor
        store.read_new("k", cursor)
        store.summary("k")
        list(store.summaries())
    store.hold("k", "test").release()
    if before:
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_everything_is_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        store = FileSessionStore(tmp_path / "new" / "data" / "sessions")
        cursor = store.create(RECORD)
        store.append("k", [prompt("c", "b")], cursor, exclusive=True)
        store.fork("k", header("f"), ["a"], [])
        hold = store.hold("k", "test")
        window = store.open_window("k")
        window.write("unsent")
        end = bytes_of(store).rfind(CLOSING)
        put(store, bytes_of(store)[:end] + b',\n{"seq":')
        store.append("k", [title("x", "X")], cursor, exclusive=False)
        store.delete("f")
        modes = {
            path: stat.S_IMODE(path.stat().st_mode)
            for path in (tmp_path / "new", *(tmp_path / "new").rglob("*"))
        }
        hold.release()
        window.close()
    finally:
        os.umask(old)
    assert len(modes) > 10
    assert {
        path: oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)
    } == {}


def test_relative_directories_are_made_absolute_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = FileSessionStore(".shipchat/sessions")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.create(RECORD)
    assert (tmp_path / ".shipchat" / "sessions" / "k.json").exists()
    assert os.listdir() == []


def test_looking_makes_nothing(store: FileSessionStore) -> None:
    assert store.keys() == []
    assert list(store.summaries()) == []
    assert store.load("k") is None
    assert store.summary("k") is None
    assert store.trashed() == []
    assert store.holder("k") is None
    assert store.read_turn_draft("k") is None
    assert not os.path.exists(store.root)


def test_leftovers_of_writers_that_are_gone_are_swept(store: FileSessionStore) -> None:
    store.create(RECORD)
    root = Path(store.root)
    left = [
        root / ".a.1.abc.tmp",
        root / ".trash" / ".a.1.abc.tmp",
        root / ".drafts" / ".a.1.abc.tmp",
        root / ".locks" / ".test.1.abc",
    ]
    for path in left:
        path.write_text("half")
    with temporary(root, "living") as (_, living):
        FileSessionStore(root).create(replace(RECORD, header=header("other")))
        assert os.path.exists(living)
    assert [path for path in left if path.exists()] == []
    assert sorted(store.keys()) == ["k", "other"]


def test_a_fork_copies_lines_byte_for_byte(store: FileSessionStore) -> None:
    record = SessionRecord(header("k"), every_kind())
    store.create(record)
    before = bytes_of(store)
    store.fork("k", header("f"), ["m1", "m2", "c1"], [title("t", "Trial")])
    lines = bytes_of(store, "f").splitlines()
    assert [line.rstrip(b",") for line in lines[1:4]] == [
        line.rstrip(b",")
        for line in before.splitlines()
        if any(b'"id":"%b"' % one in line for one in (b"m1", b"m2", b"c1"))
    ]
    assert b'"copied":3' in lines[0]
    assert lines[4].startswith(b'{"seq":7,')
    assert bytes_of(store) == before


# --- torn files ---


def test_an_unfinished_append_is_left_out_and_mended_by_the_next_writer(store: FileSessionStore) -> None:
    cursor = store.create(RECORD)
    whole = bytes_of(store)
    torn = whole[: -len(CLOSING)] + b',\n{"seq":4,"at":"2026'
    put(store, torn)
    assert store.load("k") == RECORD
    row = store.summary("k")
    assert row is not None
    assert (row.damage, row.messages) == (None, 2)
    assert store.read_new("k", cursor).entries == ()
    assert bytes_of(store) == torn
    tail = store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    assert tail.mended is not None
    assert Path(tail.mended).read_bytes() == torn[len(whole) - len(CLOSING) :]
    assert trash_of(store) == [Path(tail.mended)]
    record = store.load("k")
    assert record is not None
    assert ids(record.entries) == ["a", "b", "t", "c"]
    json.loads(bytes_of(store))
    assert store.append("k", [title("x", "X")], tail.cursor, exclusive=False).mended is None


def test_nothing_lost_is_not_reported(store: FileSessionStore) -> None:
    cursor = store.create(RECORD)
    put(store, bytes_of(store)[: -len(CLOSING)])
    assert store.append("k", [prompt("c", "b")], cursor, exclusive=True).mended is None
    assert trash_of(store) == []


def test_a_follower_reloads_when_its_last_line_is_gone(store: FileSessionStore) -> None:
    first = store.create(RECORD)
    before = bytes_of(store)
    ahead = store.append("k", [prompt("c", "b")], first, exclusive=True).cursor
    put(store, before)
    tail = store.read_new("k", ahead)
    assert (tail.entries, tail.reloaded) == (RECORD.entries, True)
    store.append("k", [prompt("d", "b")], first, exclusive=True)
    tail = store.read_new("k", ahead)
    assert (ids(tail.entries), tail.reloaded) == (["a", "b", "t", "d"], True)
    with pytest.raises(SessionConflict):
        store.append("k", [reply("e", "c")], ahead, exclusive=True)


def test_a_session_replaced_by_another_of_its_name_is_reloaded(store: FileSessionStore) -> None:
    cursor = store.create(RECORD)
    store.delete("k")
    with pytest.raises(SessionNotFound):
        store.read_new("k", cursor)
    with pytest.raises(SessionNotFound):
        store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    fresh = SessionRecord(header("k"), (prompt("z"),))
    store.create(fresh)
    assert store.load("k") == fresh
    assert store.read_new("k", cursor).reloaded
    with pytest.raises(SessionConflict):
        store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    assert store.load("k") == fresh


# --- names ---


def test_a_symbolic_link_to_the_directory_meets_in_one_lock(store: FileSessionStore, tmp_path: Path) -> None:
    store.create(RECORD)
    os.symlink(store.root, tmp_path / "alias")
    others = (
        FileSessionStore(tmp_path / "alias"),
        FileSessionStore(tmp_path / "sessions" / ".." / "sessions"),
    )
    hold = store.hold("k", "test")
    for other in others:
        for key in ("k", "K"):
            with pytest.raises(SessionHeld):
                other.hold(key, "test")
        assert other.holder("k") == store.holder("k")
    hold.release()


def test_restore_never_clobbers(store: FileSessionStore) -> None:
    store.create(RECORD)
    gone = store.delete("k")
    store.create(SessionRecord(header("K"), (prompt("z"),)))
    before = bytes_of(store, "K")
    with pytest.raises(SessionExists):
        store.restore(gone.trash_id)
    assert bytes_of(store, "K") == before
    assert store.trashed() == [gone]


def test_keys_with_dots_do_not_share_drafts(store: FileSessionStore) -> None:
    keys = ("a", "a.turn", "a.0123456789ab", "a.turn.live")
    windows = [store.open_window(key) for key in keys]
    for window, key in zip(windows, keys, strict=True):
        window.write(f"of {key}")
        window.close()
    for key in keys:
        window = store.open_window(key)
        assert window.text == f"of {key}"
        window.close()
