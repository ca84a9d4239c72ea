"""Files that are damaged, odd or no session files at all: each harms only itself."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import (
    SessionDamaged,
    SessionExists,
    SessionNewer,
)
from shipchat.core.summaries import Damage
from shipchat.formats.document import encode_session
from shipchat.formats.lines import CLOSING, seal
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import every_kind, header, prompt, reply, title

RECORD = SessionRecord(header("k"), (prompt("a"), reply("b", "a"), title("t", "Export")))


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


def bytes_of(store: FileSessionStore, key: str = "k") -> bytes:
    return Path(store.path(key)).read_bytes()


def put(store: FileSessionStore, data: bytes, key: str = "k") -> None:
    Path(store.path(key)).write_bytes(data)


def bad_files() -> dict[str, tuple[bytes, int, str]]:
    data = encode_session(header("k"), RECORD.entries)
    stale = encode_session(header("k"), every_kind())[-1111:]
    return {
        "nul": (bytes(413), 1, "not JSON: 413 NUL bytes"),
        "empty": (b"", 1, "the file is empty"),
        "twice": (data[: len(data) * 6 // 10] + data, 3, "the checksum does not match: the line was changed"),
        "stale": (data + stale, 6, f"1111 bytes of extra data after the end, from byte {len(data)} on"),
        "edited": (
            data.replace(b"Because", b"Perhaps"),
            3,
            "the checksum does not match: the line was changed",
        ),
        "other": (b'{"some": "json"}', 1, "valid JSON, but not a shipchat session"),
        "pretty": (
            json.dumps(json.loads(data), indent=1).encode(),
            1,
            "it was reformatted by another program",
        ),
    }


@pytest.mark.parametrize("name", bad_files())
def test_a_damaged_file_harms_only_itself(store: FileSessionStore, name: str) -> None:
    data, line, reason = bad_files()[name]
    cursor = store.create(RECORD)
    for key in ("one", "two"):
        store.create(replace(RECORD, header=header(key)))
    path = store.path("k")
    os.truncate(path, 0)
    put(store, data)
    with pytest.raises(SessionDamaged) as caught:
        store.load("k")
    assert (caught.value.path, caught.value.line, caught.value.reason) == (path, line, reason)
    assert (caught.value.exit_code, caught.value.code) == (5, "session_damaged")
    with pytest.raises(SessionDamaged):
        store.open("k")
    with pytest.raises(SessionDamaged):
        store.fork("k", header("f"), ["a"], [])
    with pytest.raises(SessionDamaged):
        store.save(RECORD)
    if name != "edited":  # far behind a cursor nothing is read again
        with pytest.raises(SessionDamaged):
            store.append("k", [prompt("c", "b")], cursor, exclusive=True)
        with pytest.raises(SessionDamaged):
            store.read_new("k", cursor)
    with pytest.raises(SessionExists):
        store.create(RECORD)
    rows = {row.key: row for row in store.summaries()}
    assert rows["k"].damage == Damage(path, line, reason)
    assert (rows["one"].damage, rows["two"].damage, len(rows)) == (None, None, 3)
    assert {record.key for record in store.list_all()} == {"one", "two"}
    assert sorted(store.keys()) == ["k", "one", "two"]
    record, damage = store.salvage("k")
    assert damage == Damage(path, line, reason)
    assert record is None or record.entries == RECORD.entries[: len(record.entries)]
    assert bytes_of(store) == data
    gone = store.delete("k")
    assert store.restore(gone.trash_id) == "k"
    assert bytes_of(store) == data


def test_a_newer_version_is_read_only_and_says_so(store: FileSessionStore) -> None:
    store.create(RECORD)
    line = seal({"format": "shipchat.session", "version": 2, "key": "k"}, opening=b',"entries":[')
    put(store, line + CLOSING)
    with pytest.raises(SessionNewer, match="written by a newer shipchat"):
        store.load("k")
    row = store.summary("k")
    assert row is not None
    assert row.damage is not None
    assert row.damage.code == "session_newer"


def make_fifo(path: str) -> None:
    os.mkfifo(path)


def make_link(path: str) -> None:
    os.symlink("/etc/passwd", path)


def make_directory(path: str) -> None:
    os.mkdir(path)


def make_huge(path: str) -> None:
    with open(path, "wb") as file:
        file.truncate(2 << 30)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (make_fifo, "not a regular file but a FIFO"),
        (make_link, "not a regular file but a symbolic link"),
        (make_directory, "not a regular file but a directory"),
        (make_huge, "2.0 GiB, over the limit of 1.0 GiB"),
    ],
)
def test_what_is_no_session_file_is_refused_early(store: FileSessionStore, make: object, reason: str) -> None:
    cursor = store.create(RECORD)
    path = store.path("k")
    os.unlink(path)
    assert callable(make)
    make(path)
    for attempt in (
        lambda: store.load("k"),
        lambda: store.append("k", [prompt("c", "b")], cursor, exclusive=True),
    ):
        with pytest.raises(SessionDamaged) as caught:
            attempt()
        assert (caught.value.reason, caught.value.path) == (reason, path)
    (row,) = store.summaries()
    assert row.damage == Damage(path, 0, reason)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied_is_said_and_never_called_not_found(store: FileSessionStore) -> None:
    store.create(RECORD)
    os.chmod(store.path("k"), 0)
    with pytest.raises(SessionDamaged, match="permission denied"):
        store.load("k")
    with pytest.raises(SessionExists):
        store.create(RECORD)


def test_a_misnamed_file_is_listed_with_the_reason(store: FileSessionStore) -> None:
    store.create(RECORD)
    shutil.copy(store.path("k"), Path(store.root) / "my chat.json")
    rows = {row.key: row.damage for row in store.summaries()}
    assert set(rows) == {"k", "my chat"}
    damage = rows["my chat"]
    assert damage is not None
    assert damage.reason.startswith("its name can't be a session key: it may hold only")
    assert store.keys() == ["k"]


def test_a_key_inside_the_file_names_no_path(store: FileSessionStore) -> None:
    store.create(RECORD)
    put(store, encode_session(header("../../pwned"), RECORD.entries))
    record = store.load("k")
    assert record is not None
    assert record.key == "k"


def test_bom_crlf_and_blank_lines_load_and_can_be_added_to(store: FileSessionStore) -> None:
    cursor = store.create(RECORD)
    data = bytes_of(store)
    for odd in (
        b"\xef\xbb\xbf" + data,
        data.replace(b"\n", b"\r\n"),
        data.replace(b"\n", b"\n\n"),
        data + b"\n" * 5000,
    ):
        put(store, odd)
        assert store.load("k") == RECORD
        tail = store.append("k", [prompt("c", "b")], cursor, exclusive=True)
        record = store.load("k")
        assert record is not None
        assert (record.entries, tail.mended) == ((*RECORD.entries, prompt("c", "b")), None)
        assert store.read_new("k", tail.cursor).entries == ()


def test_a_fork_of_a_line_that_makes_no_sense_says_which(store: FileSessionStore) -> None:
    line = seal({"seq": 1, "at": "2026-11-29T15:09:00Z", "type": "message", "id": 7})
    store.create(SessionRecord(header("k")))
    put(store, bytes_of(store)[: -len(CLOSING)] + b"\n" + line + CLOSING)
    with pytest.raises(SessionDamaged, match="line 2"):
        store.fork("k", header("f"), ["a"], [])


LISTING = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
from shipchat.stores.file import FileSessionStore
for row in sorted(FileSessionStore(sys.argv[1]).summaries(), key=lambda row: row.key):
    print(row.key, row.messages, row.damage.reason if row.damage else "ok")
"""


def test_a_list_with_large_files_needs_little_memory(store: FileSessionStore) -> None:
    """Two sessions of 50 MB among small ones, one too large for the memory there is, all under 512 MB."""
    store.create(RECORD)
    big = SessionRecord(header("big"), (prompt("a"), reply("b", "a", "word " * 10_000_000)))
    store.create(big)
    messages = [prompt(f"m{n}", f"m{n - 1}" if n else None, "word " * 10_000) for n in range(1000)]
    store.create(SessionRecord(header("long"), tuple(messages)))
    huge = Path(store.root) / "huge.json"
    with huge.open("wb") as file:
        file.truncate(600 << 20)
    listed = subprocess.run(
        [sys.executable, "-c", LISTING, os.fspath(store.root)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert listed.stdout.splitlines() == [
        "big 2 ok",
        "huge 0 not enough memory to read it",
        "k 2 ok",
        "long 1000 ok",
    ]
