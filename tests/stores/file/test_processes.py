"""Several processes on one session: one holder, no lost writes, no waiting for the dead."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import SessionHeld
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, prompt

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    made = FileSessionStore(tmp_path / "sessions")
    made.create(SessionRecord(header("k"), (prompt("a"),)))
    return made


class Processes:
    def __init__(self, root: str) -> None:
        self.root = root
        self.started: list[subprocess.Popen[str]] = []

    def start(self, what: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.file.contender", what, self.root, *arguments],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process


@pytest.fixture
def processes(store: FileSessionStore) -> Iterator[Processes]:
    group = Processes(os.fspath(store.root))
    yield group
    for process in group.started:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def test_of_sixteen_processes_one_wins_the_hold(store: FileSessionStore, processes: Processes) -> None:
    group = [processes.start("hold", "k" if n % 2 else "K") for n in range(16)]
    assert [line(process) for process in group] == ["ready"] * 16
    for process in group:
        tell(process, "go")
    said = {process.pid: line(process) for process in group}
    winners = [pid for pid, word in said.items() if word == "won"]
    assert len(winners) == 1
    assert {word for word in said.values() if word != "won"} == {f"held by {winners[0]}"}
    with pytest.raises(SessionHeld, match=rf"held by pid {winners[0]} on .+ \(contender\)"):
        store.hold("k", "test")
    tell(next(process for process in group if process.pid == winners[0]), "stop")
    assert [process.wait(20) for process in group] == [0] * 16
    store.hold("k", "test").release()


def test_a_killed_holder_frees_the_session_at_once(store: FileSessionStore, processes: Processes) -> None:
    holder = processes.start("hold", "k")
    assert line(holder) == "ready"
    tell(holder, "go")
    assert line(holder) == "won"
    assert store.holder("k") is not None
    holder.send_signal(signal.SIGKILL)
    holder.wait(20)
    start = time.monotonic()
    assert store.holder("k") is None
    (row,) = store.summaries()
    assert row.holder is None
    hold = store.hold("k", "test")
    assert time.monotonic() - start < 0.1
    own = store.holder("k")
    assert own is not None
    assert (own.pid, own.program) == (os.getpid(), "test")
    hold.release()


def test_the_text_of_another_host_does_not_decide(store: FileSessionStore) -> None:
    path = Path(store.root) / ".locks" / "k.hold"
    path.write_text(
        json.dumps({"pid": 1, "host": "elsewhere", "since": "2026-01-01T00:00:00+00:00", "program": "x"})
    )
    assert store.holder("k") is None
    store.hold("k", "test").release()


def test_probing_never_makes_an_acquirer_fail(store: FileSessionStore, processes: Processes) -> None:
    import threading

    stop = threading.Event()
    path = Path(store.root) / ".locks" / "k.hold"
    text = json.dumps({"pid": 1, "host": "gone", "since": "2026-01-01T00:00:00+00:00", "program": "x"})

    def probe() -> None:
        while not stop.is_set():
            store.holder("k")

    threads = [threading.Thread(target=probe) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            path.write_text(text)  # what a killed holder leaves, so that every probe tries the lock
            store.hold("k", "test").release()
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)


def test_a_forked_child_neither_keeps_nor_frees_the_hold(store: FileSessionStore) -> None:
    hold = store.hold("k", "parent")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # the child's copy of the hold is closed; letting go of it must not free the parent's
        hold.release()
        os.read(read, 1)
        os._exit(0)
    with pytest.raises(SessionHeld):
        store.hold("k", "another")
    hold.release()
    store.hold("k", "another").release()
    os.write(write, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(read)
    os.close(write)


def test_metadata_of_several_processes_is_never_lost(store: FileSessionStore, processes: Processes) -> None:
    group = [processes.start("tag", "k", name, "40") for name in "wxyz"]
    acknowledged = [word for process in group for word in process.communicate(timeout=60)[0].split()]
    assert len(acknowledged) == 160
    record = store.load("k")
    assert record is not None
    assert sorted(entry.id for entry in record.entries) == sorted(["a", *acknowledged])
    row = store.summary("k")
    assert row is not None
    assert sorted(row.tags) == sorted(acknowledged)


def test_one_name_is_made_once(store: FileSessionStore, processes: Processes) -> None:
    group = [processes.start("create", "new" if n % 2 else "New", "k") for n in range(8)]
    assert [line(process) for process in group] == ["ready"] * 8
    for process in group:
        tell(process, "go")
    assert sorted(line(process) for process in group) == ["exists"] * 7 + ["made"]
    assert len(store.keys()) == 2
    assert [path for path in Path(store.root).iterdir() if path.name.endswith(".tmp")] == []


def test_killed_writers_lose_nothing_that_was_acknowledged(
    store: FileSessionStore, processes: Processes
) -> None:
    """Talkers are killed at random moments while others tag and this process reads without locks."""
    chance = random.Random(7)
    acknowledged: list[str] = ["a"]
    _, cursor = store.open("k")
    seen = ["a"]
    for round_ in range(8):
        talker = processes.start("talk", "k", f"t{round_}")
        tagger = processes.start("tag", "k", f"g{round_}", "1000")
        first = line(talker)
        deadline = time.monotonic() + chance.uniform(0.0, 0.15)
        while time.monotonic() < deadline:
            tail = store.read_new("k", cursor)
            cursor = tail.cursor
            assert not tail.reloaded or tail.entries
            seen = [*([] if tail.reloaded else seen), *(entry.id for entry in tail.entries)]
        for process in (talker, tagger):
            process.send_signal(signal.SIGKILL)
        for process in (talker, tagger):
            assert process.stdout is not None
            said = process.stdout.read()
            acknowledged += said[: said.rfind("\n") + 1].split()
        acknowledged.append(first)
        hold = store.hold("k", "test")
        store.read_turn_draft("k")
        hold.release()
        record = store.load("k")
        assert record is not None
        there = [entry.id for entry in record.entries]
        assert set(acknowledged) <= set(there)
        assert len(there) == len(set(there))
        assert there[: len(seen)] == seen
    assert "CONFLICT" not in acknowledged
    json.loads(Path(store.path("k")).read_bytes())


def test_a_dead_windows_text_is_adopted_and_a_living_ones_is_not(
    store: FileSessionStore, processes: Processes
) -> None:
    program = (
        "import sys; from shipchat.stores.file import FileSessionStore as S\n"
        "w = S(sys.argv[1]).open_window('k'); w.write('first'); w.write('of the dead'); print('ok', flush=True)\n"
        "sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, os.fspath(store.root)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    processes.started.append(other)
    assert line(other) == "ok"
    mine = store.open_window("k")
    assert mine.text == ""
    other.kill()
    other.wait(20)
    heir = store.open_window("k")
    assert heir.text == "of the dead"
    heir.write("mine now")
    again = store.open_window("k")
    assert again.text == ""
    for window in (mine, heir, again):
        window.close()
