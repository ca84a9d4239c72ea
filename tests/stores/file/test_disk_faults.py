"""Disks that are full, fail or belong to someone else: never called saved."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import (
    StoreUnavailable,
)
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, prompt, reply, title

RECORD = SessionRecord(header("k"), (prompt("a"), reply("b", "a"), title("t", "Export")))


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


def bytes_of(store: FileSessionStore, key: str = "k") -> bytes:
    return Path(store.path(key)).read_bytes()


@pytest.fixture
def file_size_limit() -> Iterator[int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield hard
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 1, 3, 4, 50, 5000])
def test_a_write_that_does_not_fit_leaves_the_file_as_it_was(
    store: FileSessionStore, file_size_limit: int, room: int
) -> None:
    cursor = store.create(RECORD)
    before = bytes_of(store)
    long = prompt("c", "b", "long " * 5000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, file_size_limit))
    with pytest.raises(StoreUnavailable) as caught:
        store.append("k", [long], cursor, exclusive=True)
    assert str(caught.value) == f"NOT SAVED: File too large: {store.path('k')}"
    assert caught.value.exit_code == 6
    assert bytes_of(store) == before
    with pytest.raises(StoreUnavailable, match="NOT SAVED: File too large"):
        store.create(SessionRecord(header("new"), (prompt("x", None, "long " * 5000),)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))
    assert store.keys() == ["k"]
    assert [path.name for path in Path(store.root).iterdir() if path.name.endswith(".tmp")] == []
    store.append("k", [long], cursor, exclusive=True)
    record = store.load("k")
    assert record is not None
    assert record.entries == (*RECORD.entries, long)


def test_an_fsync_that_fails_is_never_called_saved(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = store.create(RECORD)
    before = bytes_of(store)

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("shipchat.stores.file.disk.os.fdatasync", fail, raising=False)
        patched.setattr("shipchat.stores.file.disk.os.fsync", fail)
        with pytest.raises(StoreUnavailable, match="NOT SAVED: Input/output error"):
            store.append("k", [prompt("c", "b")], cursor, exclusive=True)
        assert bytes_of(store) == before
        with pytest.raises(StoreUnavailable, match="NOT SAVED: Input/output error"):
            store.create(SessionRecord(header("new")))
        assert store.keys() == ["k"]
    store.append("k", [prompt("c", "b")], cursor, exclusive=True)


def test_over_the_size_limit_nothing_is_added(tmp_path: Path) -> None:
    store = FileSessionStore(tmp_path, size_limit=2000)
    cursor = store.create(RECORD)
    before = bytes_of(store)
    with pytest.raises(StoreUnavailable, match="NOT SAVED: the session has reached the size limit"):
        store.append("k", [prompt("c", "b", "long " * 500)], cursor, exclusive=True)
    assert bytes_of(store) == before


def test_a_directory_that_is_a_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("")
    store = FileSessionStore(tmp_path / "sessions")
    with pytest.raises(StoreUnavailable, match="NOT SAVED: Not a directory"):
        store.create(RECORD)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_users_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    os.chown(tmp_path / "sessions", 4242, 4242)
    with pytest.raises(StoreUnavailable, match="belongs to another user"):
        FileSessionStore(tmp_path / "sessions").create(RECORD)
