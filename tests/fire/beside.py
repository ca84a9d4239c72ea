"""What goes on beside a holder that saves at full speed: forks, listings, metadata."""

import subprocess
import sys
import threading
from pathlib import Path

from shipchat.core.entries import SessionRecord
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, prompt

CHECKOUT = Path(__file__).parents[2]


def contender(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.stores.file.contender", *arguments],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def forks(place: Path, count: int) -> str:
    """Fork a session `count` times while another process saves at full speed; each is one exact saved state."""
    store = FileSessionStore(place)
    store.create(SessionRecord(header("k"), (prompt("a"),)))
    manager = SessionManager(store)
    holder = contender("talk", str(place), "k", "holder")
    assert holder.stdout is not None
    reader = threading.Thread(target=holder.stdout.read)  # so that it never waits for us
    assert holder.stdout.readline()
    reader.start()
    made = [manager.fork("k", new_key=f"f{number}", title=f"fork {number}") for number in range(count)]
    holder.kill()
    reader.join()
    holder.stdout.close()
    holder.wait()
    assert holder.stdin is not None
    holder.stdin.close()
    store.hold("k", "next").release()
    lines = Path(store.path("k")).read_bytes().split(b"\n")[1:]
    lengths = set()
    for key in made:
        copied = Path(store.path(key)).read_bytes().split(b"\n")[1:-3]
        lengths.add(len(copied))
        assert [line.removesuffix(b",") for line in copied] == [
            line.removesuffix(b",") for line in lines[: len(copied)]
        ], key
        assert store.load(key) is not None
    assert len(lengths) > min(count, 20) // 4, "the holder did not save meanwhile"
    return f"{count} forks while the holder saved {len(lines)} messages: each is one of {len(lengths)} saved states"


def listings(place: Path, count: int) -> str:
    """Take a hold `count` times while two threads list without a pause; return the figure."""
    store = FileSessionStore(place)
    store.create(SessionRecord(header("k"), (prompt("a"),)))
    stop = threading.Event()
    listed = [0]

    def look() -> None:
        while not stop.is_set():
            listed[0] += len([*FileSessionStore(place).summaries()])
            store.holder("k")

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            store.hold("k", "turn").release()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return f"{count} holds taken beside {listed[0]} listings: none failed"
