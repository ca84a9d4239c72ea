import os
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shipchat.core.entries import HeadEntry, SetEntry
from shipchat.core.errors import ShipchatError
from shipchat.core.events import SessionRemoved, SessionUpdated
from shipchat.index import directory
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.index.database import SCHEMA
from shipchat.sessions.follower import SessionFollower
from shipchat.sessions.session_manager import SessionManager
from tests.index.place import START, Place, by_key, prompt, reply


def test_rows_are_those_of_the_files(place: Place) -> None:
    place.put("a", [prompt("1", None, "First line\nsecond"), reply("2", "1", "Yes.")])
    place.put("b", [])
    place.put("c", [prompt("1", None, "x"), SetEntry(id="s", at=START, title="T", add_tags=("k",))])
    (place.root / "bad.json").write_bytes(bytes(413))
    (place.root / "odd name.json").write_text("{}", encoding="utf-8")
    (place.root / "folder.json").mkdir()
    os.symlink(place.file("a"), place.root / "link.json")
    os.mkfifo(place.root / "fifo.json")
    plain = place.plain()
    assert [row.key for row in plain if row.damage] == ["bad", "fifo", "folder", "link", "odd name"]
    cold = place.catalogue()
    assert by_key(cold.rows()) == plain
    assert by_key(cold.rows()) == plain
    assert by_key(place.catalogue().rows()) == plain
    assert cold.problem is None


def test_only_what_was_appended_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.put("long", [prompt("p0", None, "x" * 300_000)])
    catalogue = place.catalogue()
    catalogue.rows()
    before = place.file("long").stat().st_size
    place.append("long", reply("r0", "p0", "short"))
    read: list[tuple[int, int]] = []
    whole = directory.Files.read

    def counting(self: directory.Files, name: str, start: int, size: int) -> bytes | None:
        read.append((start, size))
        return whole(self, name, start, size)

    monkeypatch.setattr(directory.Files, "read", counting)
    for fresh in (catalogue, place.catalogue()):
        assert by_key(fresh.rows()) == place.plain()
    assert len(read) == 1  # the second process found what the first had written
    assert read[0][0] > before - 64
    assert read[0][1] < 1000


def test_a_rewind_and_a_sibling_are_seen(place: Place) -> None:
    place.put("a", [prompt("1", None, "one"), reply("2", "1", "two"), prompt("3", "2", "three")])
    catalogue = place.catalogue()
    catalogue.rows()
    for entry in (
        HeadEntry(id="h", at=START, target="1"),
        reply("4", "1", "other"),
        HeadEntry(id="h2", at=START, target=None),
        prompt("5", None, "another beginning"),
    ):
        place.append("a", entry)
        assert by_key(catalogue.rows()) == place.plain()
        assert by_key(place.catalogue().rows()) == place.plain()


def test_an_edit_that_leaves_size_and_time_alone_is_seen(place: Place) -> None:
    place.put("a", [prompt("1", None, "The weather")])
    catalogue = place.catalogue()
    assert [row.damage for row in catalogue.rows()] == [None]
    path = place.file("a")
    times = path.stat()
    with path.open("r+b") as file:  # in place, within the same tick of the clock as the write before
        data = file.read()
        file.seek(data.index(b"weather"))
        file.write(b"whether")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [row.damage is not None for row in catalogue.rows()] == [True]
    assert by_key(catalogue.rows()) == place.plain()


def test_permissions_that_come_back_are_seen(place: Place) -> None:
    place.put("a", [prompt("1", None, "x")])
    catalogue = place.catalogue()
    place.file("a").chmod(0)
    assert by_key(catalogue.rows()) == place.plain()
    place.file("a").chmod(0o600)
    assert by_key(catalogue.rows()) == place.plain()


def test_a_file_that_goes_behind_the_index_is_named(place: Place) -> None:
    for key in ("a", "b", "c"):
        place.put(key, [])
    place.catalogue().rows()
    place.file("a").unlink()
    SessionManager(place.store).delete("b")
    catalogue = place.catalogue()
    assert [row.key for row in catalogue.rows()] == ["c"]
    assert catalogue.vanished == [str(place.file("a"))]
    assert place.catalogue().vanished == []


def test_a_manager_asks_the_catalogue(place: Place) -> None:
    place.put("a", [prompt("1", None, "First")])
    place.put("b", [prompt("1", None, "Second", minute=5)])
    catalogue = place.catalogue()
    manager = SessionManager(place.store, catalogue=catalogue)
    assert [row.key for row in manager.list_sessions()] == ["b", "a"]
    manager.rename("a", "Named")
    assert (manager.resolve("Named"), manager.resolve("Second"), manager.newest()) == ("a", "b", "b")
    follower = SessionFollower(manager)
    assert follower.poll() == []
    manager.tag("b", add=["t"])
    manager.delete("a")
    assert follower.poll() == [SessionRemoved("a"), SessionUpdated("b")]


def test_a_running_turn_is_told(place: Place) -> None:
    place.put("a", [])
    catalogue = place.catalogue()
    catalogue.rows()
    hold = place.store.hold("a", "test")
    [row] = catalogue.rows()
    assert row.holder is not None
    assert row.holder.pid == os.getpid()
    assert catalogue.summary("a") == row
    hold.release()
    assert [row.holder for row in catalogue.rows()] == [None]
    assert catalogue.summary("nothing") is None


@pytest.mark.parametrize(
    "harm",
    ["garbage", "empty", "deleted", "truncated", "flipped", "other version", "other tables", "directory"],
)
def test_an_index_that_is_not_right_is_made_anew(place: Place, harm: str) -> None:
    for number in range(30):
        place.put(f"s{number:02}", [prompt("1", None, f"Number {number}")])
    first = place.catalogue()
    first.rows()
    first.close()
    data = place.path.read_bytes()
    match harm:
        case "garbage":
            place.path.write_bytes(b"This is no database. " * 500)
        case "empty":
            place.path.write_bytes(b"")
        case "deleted":
            shutil.rmtree(place.path.parent)
        case "truncated":
            place.path.write_bytes(data[: len(data) // 2])
        case "flipped":
            at = data.index(b"Number 7")
            place.path.write_bytes(data[:at] + b"Lumber" + data[at + 6 :])
        case "other version":
            with sqlite3.connect(place.path) as connection:
                connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
            connection.close()
        case "other tables":
            with sqlite3.connect(place.path) as connection:
                connection.execute("ALTER TABLE sessions RENAME COLUMN row TO blob")
            connection.close()
        case _:
            place.path.unlink()
            place.path.mkdir()
    after = place.catalogue()
    assert by_key(after.rows()) == place.plain()
    assert (after.problem is None) == (harm != "directory")
    assert by_key(place.catalogue().rows()) == place.plain()


def test_deleted_under_an_open_one_it_is_filled_again(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra")])
    search = place.search()
    assert len(search.search("zebra", patience=30).hits) == 1
    for path in place.path.parent.iterdir():
        path.unlink()
    search.catch_up()
    assert len(search.search("zebra", patience=30).hits) == 1
    assert place.found("zebra") == [("a", 1)]


def test_without_a_place_for_it_files_are_read(place: Place) -> None:
    place.put("a", [prompt("1", None, "x")])
    (place.directory / "file").write_text("", encoding="utf-8")
    catalogue = IndexedCatalogue(place.store, place.root, place.directory / "file" / "index.sqlite3")
    assert by_key(catalogue.rows()) == place.plain()
    assert catalogue.problem == "not a directory"
    place.append("a", reply("2", "1", "y"))
    assert by_key(catalogue.rows()) == place.plain()


def test_a_full_disk_costs_the_index_only(place: Place) -> None:
    resource = pytest.importorskip("resource")
    for number in range(40):
        place.put(f"s{number:02}", [prompt("1", None, "x" * 2000)])
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from tests.index.place import Place\n"
        "from shipchat.index import catalogue\n"
        "catalogue.SMALL_COUNT = -1\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "one = Place(Path(sys.argv[1])).catalogue()\n"
        "print(len(one.rows()), len(one.rows()), one.problem is not None)\n"
    )
    assert resource is not None
    assert run_python(code, str(place.directory)) == "40 40 True\n"
    assert by_key(place.catalogue().rows()) == place.plain()


def run_python(code: str, *arguments: str) -> str:
    import subprocess

    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def test_the_index_is_private(place: Place) -> None:
    mask = os.umask(0)
    try:
        place.put("a", [prompt("1", None, "secret")])
        search = place.search()
        search.search("secret", patience=30)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.path.parent.iterdir()}
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys(["index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm"], 0o600)
    assert stat.S_IMODE(place.path.parent.stat().st_mode) == 0o700


# --- whatever happens to the files, the indexed rows are those of a plain scan ---

keys = st.sampled_from(["a", "b", "c"])
words = st.sampled_from(["zebra", "Nightly export", "東京都", "x" * 200])
operations = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), keys, words),
        st.tuples(st.just("sibling"), keys, words),
        st.tuples(st.just("rewind"), keys, st.integers(0, 4)),
        st.tuples(st.just("rename"), keys, words),
        st.tuples(st.just("tag"), keys, st.sampled_from(["t", "u"])),
        st.tuples(st.just("archive"), keys, st.booleans()),
        st.tuples(st.just("fork"), keys, st.none()),
        st.tuples(st.just("delete"), keys, st.none()),
        st.tuples(st.just("restore"), st.none(), st.none()),
        st.tuples(st.just("replace"), keys, keys),
        st.tuples(st.just("truncate"), keys, st.integers(1, 400)),
        st.tuples(st.just("flip"), keys, st.integers(0, 2000)),
        st.tuples(st.just("another process"), st.none(), st.none()),
        st.tuples(st.just("index deleted"), st.none(), st.none()),
    ),
    min_size=1,
    max_size=14,
)


class Happening:
    """Does to a place what `operations` say."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.manager = SessionManager(place.store)
        self.number = 0

    def do(self, what: str, key: str, value: object) -> None:
        path = self.place.file(key)
        match what:
            case "turn" | "sibling":
                session = self.manager.open(key)
                self.number += 1
                parent = session.head
                if what == "sibling" and session.head is not None:
                    parent = session.tree.parent(session.head)
                one, two = f"p{self.number}", f"r{self.number}"
                self.place.append(key, prompt(one, parent, str(value)), reply(two, one, f"{value} too"))
            case "rewind":
                session = self.manager.open(key)
                target = session.path[int(str(value)) % len(session.path)] if session.path else None
                self.number += 1
                self.place.append(key, HeadEntry(id=f"h{self.number}", at=START, target=target))
            case "rename":
                self.manager.rename(key, str(value))
            case "tag":
                self.manager.tag(key, add=[str(value)])
            case "archive":
                (self.manager.archive if value else self.manager.unarchive)(key)
            case "fork":
                self.manager.fork(key)
            case "delete":
                self.manager.delete(key)
            case "restore":
                self.manager.restore()
            case "replace":
                shutil.copyfile(self.place.file(str(value)), self.place.directory / "copy")
                os.replace(self.place.directory / "copy", path)
            case "truncate":
                os.truncate(path, max(0, path.stat().st_size - int(str(value))))
            case "flip":
                data = bytearray(path.read_bytes())
                data[int(str(value)) % len(data)] ^= 4
                path.write_bytes(data)
            case "index deleted":
                shutil.rmtree(self.place.path.parent, ignore_errors=True)
            case _:
                pass


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=operations)
def test_whatever_happens_the_rows_are_those_of_a_plain_scan(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, object]]
) -> None:
    place = Place(tmp_path_factory.mktemp("place"))
    place.put("a", [prompt("1", None, "First"), reply("2", "1", "Second")])
    place.put("b", [])
    happening = Happening(place)
    catalogue = place.catalogue()
    try:
        for what, key, value in steps:
            try:
                happening.do(what, key, value)
            except (ShipchatError, OSError, ZeroDivisionError):
                continue  # refused, as it would be for a user: nothing happened
            if what == "another process":
                catalogue.close()
                catalogue = place.catalogue()
            assert by_key(catalogue.rows()) == place.plain(), (what, key, value)
    finally:
        catalogue.close()
        shutil.rmtree(place.directory)
