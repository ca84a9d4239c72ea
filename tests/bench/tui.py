"""Measures the full-screen front end in a terminal of its own, beside the smallest Textual application there can be.

First frame and first echoed key with 10,000 sessions stored; key echo, idle and while a reply streams; peak memory;
opening a session of 10,000 messages; CPU of a streamed reply, and of the second half of a very long one.
"""

import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from statistics import quantiles

from shipchat.core.entries import SessionHeader
from shipchat.formats.document import encode_session
from tests.bench.row import BenchRow
from tests.bench.sessions import START, conversation, make_sessions

ROOT = Path(__file__).parents[2]
RUNS = 5
KEYS = "éàèùçñöüäßøå"
"""Typed to measure echoes: letters whose bytes are in no escape sequence."""
TICKS = os.sysconf("SC_CLK_TCK")
LETTERS_PER_TOKEN = 4
SMALLEST = """
from textual.app import App
from textual.widgets import TextArea
class Smallest(App):
    def compose(self):
        yield TextArea(placeholder="Write a message")
Smallest().run()
"""
PROSE = (
    "The job opens **one connection per row**, so at about 4,000 rows the pool is empty and `export_rows()` waits.\n\n"
    "1. `nightly.py` takes a lock and calls `db.connect()`.\n2. Nothing gives the connection back.\n\n"
    "```python\ndef export_rows(rows, pool):\n    with pool.connect() as c:\n        return c.run(rows)\n```\n\n"
)


class Window:
    """A program in a pty; only raw bytes are looked at, so that measuring costs little."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.execve(command[0], list(command), dict(env))
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))

    def until(self, wanted: bytes, seconds: float = 60) -> float:
        """Read until `wanted` comes; return the seconds since the start."""
        seen, ends = b"", time.perf_counter() + seconds
        while wanted not in seen:
            ready, _, _ = select.select([self.descriptor], [], [], max(0, ends - time.perf_counter()))
            if not ready:
                raise TimeoutError(f"{wanted!r} did not come; {seen[-300:]!r} did")
            seen = seen[-200:] + os.read(self.descriptor, 65536)
        return time.perf_counter() - self.began

    def echo(self, key: str) -> float:
        """Type a key and return the seconds until it is painted."""
        began = time.perf_counter()
        os.write(self.descriptor, key.encode())
        self.until(key.encode())
        return time.perf_counter() - began

    def echoes(self, count: int, pause: tuple[float, float] = (0.02, 0.06)) -> list[float]:
        """Type so many keys with pauses between them; return the seconds each took to be painted."""
        dice, found = random.Random(7), []
        for key, _ in zip(cycle(KEYS), range(count), strict=False):
            found.append(self.echo(key))
            self.drain(dice.uniform(*pause))
        return found

    def drain(self, seconds: float) -> None:
        """Read whatever comes for a while."""
        ends = time.perf_counter() + seconds
        while (left := ends - time.perf_counter()) > 0:
            ready, _, _ = select.select([self.descriptor], [], [], left)
            if ready:
                os.read(self.descriptor, 65536)

    @property
    def cpu(self) -> float:
        """CPU seconds the program has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def peak(self) -> float:
        """Peak memory in MB."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def close(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


class Place:
    """Directories and a script for the program under test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            "SHIPCHAT_DATA_DIR": str(root / "data"),
            "SHIPCHAT_CONFIG_DIR": str(root / "config"),
            "SHIPCHAT_EXTRA_PROVIDERS": "scripted=shipchat.testing.scripted:from_environment",
            "SHIPCHAT_TEST_SCRIPT": str(root / "script.json"),
            "SHIPCHAT_DEFAULT_MODEL": "scripted/one",
        }
        self.script(1, 1, 0)

    @property
    def sessions(self) -> Path:
        """Where session files go."""
        return self.root / "data" / "sessions"

    def script(self, tokens: int, per_chunk: int, delay: float) -> None:
        """Let the model say `tokens` tokens, `per_chunk` at a time, `delay` seconds apart, and then `fertig`.

        Half-way it says `mittendrin`.
        """
        text = (PROSE * (tokens * LETTERS_PER_TOKEN // len(PROSE) + 1))[: tokens * LETTERS_PER_TOKEN]
        step = per_chunk * LETTERS_PER_TOKEN
        chunks = [text[at : at + step] for at in range(0, len(text), step)]
        half = len(chunks) // 2
        said = [*chunks[:half], "\n\n```\n```\n\nmittendrin\n\n", *chunks[half:], "\n\n```\n```\n\nfertig"]
        reply = {"chunks": said, "delay": delay}
        (self.root / "script.json").write_text(json.dumps({"replies": [reply], "repeat_last": True}))

    def open(self, *arguments: str) -> Window:
        """Start the program."""
        return Window([sys.executable, "-m", "shipchat", *arguments], self.env)


def start_times(
    place: Place, command: Sequence[str] | None = None, wanted: bytes = b"rite a message"
) -> tuple[float, float]:
    """Return the seconds to the first frame and to the first echoed key."""
    window = place.open() if command is None else Window(command, place.env)
    try:
        frame = window.until(wanted)
        window.echo("é")
        return frame, time.perf_counter() - window.began
    finally:
        window.close()


def percentile(values: Sequence[float], share: int) -> float:
    """Return a percentile in milliseconds."""
    return quantiles(values, n=100)[share - 1] * 1000


def rows() -> Iterator[BenchRow]:
    """Yield all figures."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        yield from _start(root / "start")
        yield from _idle(root / "idle")
        yield from _resume(root / "resume")
        yield from _streaming(root / "streaming")


def _place(root: Path) -> Place:
    root.mkdir()
    return Place(root)


def _start(root: Path) -> Iterator[BenchRow]:
    place = _place(root)
    make_sessions(place.sessions, 10_000)
    smallest = [sys.executable, "-c", SMALLEST]
    least, ours = [], []
    start_times(place)  # fills the caches of the system, and ours
    for _ in range(RUNS):
        least.append(start_times(place, smallest))
        ours.append(start_times(place))
    for index, (name, goal) in enumerate((("first frame", 1.25), ("first echoed key", 1.3))):
        limit, value = min(run[index] for run in least), min(run[index] for run in ours)
        yield BenchRow(
            f"{name}, 10,000 sessions stored", value, "s", limit, value / limit, f"ratio <= {goal}"
        )


def _idle(root: Path) -> Iterator[BenchRow]:
    place = _place(root)
    least = Window([sys.executable, "-c", SMALLEST], place.env)
    least.until(b"rite a message")
    least.drain(2)
    floor = least.echoes(150)
    least.close()
    window = place.open()
    window.until(b"rite a message")
    window.drain(2)
    found = window.echoes(150)
    for share, goal in ((50, 1.3), (95, 1.7)):
        value, limit = percentile(found, share), percentile(floor, share)
        yield BenchRow(f"key echo, idle, p{share}", value, "ms", limit, value / limit, f"ratio <= {goal}")
    yield BenchRow("peak memory, nothing open", window.peak, "MB", goal="<= 55")
    window.close()


def _resume(root: Path) -> Iterator[BenchRow]:
    place = _place(root)
    place.sessions.mkdir(parents=True, mode=0o700)
    entries = conversation(10_000)
    (place.sessions / "long.json").write_bytes(
        encode_session(SessionHeader(key="long", created=START), entries)
    )
    empty, full = [], []
    for _ in range(RUNS):
        window = place.open()
        empty.append(window.until(b"rite a message"))
        window.close()
        window = place.open("resume", "long")
        full.append(window.until(b"10,000 messages"))
        window.close()
    limit, value = min(empty), min(full)
    yield BenchRow("open 10,000 messages, program start", value, "s", limit, value / limit, "ratio <= 1.3")
    window = place.open("resume", "long")
    window.until(b"10,000 messages")
    window.drain(2)
    found = window.echoes(100)
    yield BenchRow("key echo, 10,000 messages open, p50", percentile(found, 50), "ms")
    yield BenchRow("key echo, 10,000 messages open, p95", percentile(found, 95), "ms")
    yield BenchRow("peak memory, 10,000 messages open", window.peak, "MB", goal="<= 110")
    window.close()


def _streaming(root: Path) -> Iterator[BenchRow]:
    place = _place(root)
    place.script(10_000, 10, 0.005)
    cpu, took, _ = _stream(place, keys=False)
    yield BenchRow("stream 2,000 tokens/s, CPU of 10,000 tokens", cpu, "s", goal="<= 3.4")
    yield BenchRow("the same, share of the offered rate", 5.0 / took, "", goal=">= 0.97")
    _, _, echoes = _stream(place, keys=True)
    yield BenchRow("the same, key echo p95", percentile(echoes, 95), "ms", goal="<= 35")
    yield BenchRow("the same, key echo max", max(echoes) * 1000, "ms", goal="<= 80")
    place.script(1_500, 1, 0.01)
    cpu, _, _ = _stream(place, keys=False)
    yield BenchRow("stream 100 tokens/s, CPU of 10,000 tokens", cpu * 10_000 / 1_500, "s", goal="<= 15")
    place.script(50_000, 10, 0.005)
    first, second = _halves(place)
    yield BenchRow("50,000 tokens, CPU of the first half", first, "s")
    yield BenchRow(
        "50,000 tokens, CPU of the second half", second, "s", first, second / first, "ratio <= 1.2"
    )


def _stream(place: Place, *, keys: bool) -> tuple[float, float, list[float]]:
    """Return CPU seconds and wall seconds of one reply, and key echoes while it came."""
    window = place.open()
    try:
        window.until(b"rite a message")
        window.drain(2)
        cpu, began = window.cpu, time.perf_counter()
        os.write(window.descriptor, b"go\r")
        echoes: list[float] = []
        if keys:
            window.drain(0.5)
            echoes = window.echoes(60)
        window.until(b"fertig")
        took = time.perf_counter() - began
        window.drain(0.3)
        return window.cpu - cpu, took, echoes
    finally:
        window.close()


def _halves(place: Place) -> tuple[float, float]:
    window = place.open()
    try:
        window.until(b"rite a message")
        window.drain(2)
        begun = window.cpu
        os.write(window.descriptor, b"go\r")
        window.until(b"mittendrin")
        middle = window.cpu
        window.until(b"fertig")
        return middle - begun, window.cpu - middle
    finally:
        window.close()


if __name__ == "__main__":
    from tests.bench.row import print_table

    print_table(rows())
