"""Measures the index: listing 10,000 sessions cold and warm, building their full text, searching it, and memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from shipchat.core.entries import MessageEntry, SessionHeader
from shipchat.core.messages import AssistantMessage, TextPart, UserMessage
from shipchat.formats.document import encode_session
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.index.search import SessionSearch
from shipchat.stores.file.store import FileSessionStore
from tests.bench.row import BenchRow
from tests.bench.sessions import START, make_sessions

SESSIONS = 10_000
RUNS = 7

PEAK = """
import resource, sys
from pathlib import Path
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.stores.file.store import FileSessionStore
root = Path(sys.argv[1])
rows = IndexedCatalogue(FileSessionStore(root), root, Path(sys.argv[2])).rows()
print(len(rows), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def milliseconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median of so many runs."""
    seen = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        seen.append(1000 * (time.perf_counter() - began))
    return median(seen)


def scan(root: Path) -> int:
    """Do what nobody who looks at the files can do without."""
    with os.scandir(root) as listed:
        return sum(item.stat(follow_symlinks=False).st_mtime_ns > 0 for item in listed)


def make_talk(root: Path) -> None:
    """Write 10,000 sessions of 20 messages of made-up words, one of which is in one message only."""
    import random

    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(30_000)]
    root.mkdir(parents=True)
    for number in range(SESSIONS):
        entries = []
        parent = None
        for place in range(20):
            text = " ".join(chance.choices(words, k=20 if place % 2 == 0 else 80))
            if number == SESSIONS // 2 and place == 7:
                text += " needleinthehay"
            parts = (TextPart(text),)
            made: UserMessage | AssistantMessage
            if place % 2:
                made = AssistantMessage(id=f"{place:016x}", parent=parent, at=START, parts=parts, model="m")
            else:
                made = UserMessage(id=f"{place:016x}", parent=parent, at=START, parts=parts)
            entries.append(MessageEntry(message=made))
            parent = made.id
        key = f"s{number:05}"
        (root / f"{key}.json").write_bytes(encode_session(SessionHeader(key=key, created=START), entries))


def catalogue_rows(place: Path) -> Iterator[BenchRow]:
    """Yield listing 10,000 sessions."""
    root, path = place / "six" / "sessions", place / "six" / "index.sqlite3"
    make_sessions(root, SESSIONS)

    def opened() -> IndexedCatalogue:
        return IndexedCatalogue(FileSessionStore(root), root, path)

    def cold() -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        one = opened()
        one.rows()
        one.close()

    least = milliseconds(lambda: scan(root))
    plain = milliseconds(lambda: list(FileSessionStore(root).summaries()), 3)
    yield BenchRow("list 10,000: every file read, no index", plain, "ms", least, plain / least)
    empty = milliseconds(cold, 3)
    yield BenchRow("list 10,000: cold catalogue", empty, "ms", least, empty / least, "<= 350 ms")
    warm = milliseconds(lambda: opened().rows())
    yield BenchRow(
        "list 10,000: warm, a new process's first look", warm, "ms", least, warm / least, "<= 60 ms"
    )
    kept = opened()
    kept.rows()
    again = milliseconds(kept.rows)
    yield BenchRow("list 10,000: the same process looks again", again, "ms", least, again / least)
    out = subprocess.run(
        [sys.executable, "-c", PEAK, str(root), str(path)], capture_output=True, text=True, check=True
    ).stdout
    yield BenchRow("list 10,000: peak memory of the process", float(out.split()[1]), "MB", goal="< 80 MB")


def search_rows(place: Path) -> Iterator[BenchRow]:
    """Yield building the full text of 10,000 sessions of 20 messages, and searching it."""
    root, path = place / "talk" / "sessions", place / "talk" / "index.sqlite3"
    make_talk(root)
    search = SessionSearch(IndexedCatalogue(FileSessionStore(root), root, path), root)
    began, cpu = time.perf_counter(), time.process_time()
    progress = search.catch_up()
    assert progress.complete
    yield BenchRow("full text of 10,000 x 20 messages, wall", time.perf_counter() - began, "s", goal="< 30 s")
    yield BenchRow("full text of 10,000 x 20 messages, CPU", time.process_time() - cpu, "s")
    yield BenchRow(
        "size of the index beside that of the sessions", path.stat().st_size / 1e6, "MB", _size(root)
    )
    first = milliseconds(lambda: search.search("needleinthehay"), 1)
    assert len(search.search("needleinthehay").hits) == 1
    yield BenchRow("search one hit, with a look at the directory", first, "ms")
    one = milliseconds(lambda: search.search("needleinthehay"))
    yield BenchRow("search one hit in 10,000 sessions", one, "ms", goal="<= 10 ms")
    common = milliseconds(lambda: search.search("a*"))
    yield BenchRow("search a beginning that very many words have", common, "ms")
    search.close()


def _size(root: Path) -> float:
    return sum(one.stat().st_size for one in root.iterdir()) / 1e6


def rows() -> Iterator[BenchRow]:
    """Yield all figures of the index."""
    with tempfile.TemporaryDirectory() as place:
        yield from catalogue_rows(Path(place))
        yield from search_rows(Path(place))
