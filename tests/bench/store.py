"""Measures the file store: `python -m tests.bench.store [DIRECTORY]`, or `rows()` for a runner.

A durable turn is two appends (the prompt, the reply). It is judged against what no store can beat: encoding the same
two messages as JSON, appending each as a line to an open file and waiting for the disk. Both take turns in one loop, so
that a busy machine slows both alike.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from shipchat.core.entries import Entry, MessageEntry, SessionHeader, SessionRecord
from shipchat.core.messages import AssistantMessage, TextPart, Usage, UserMessage
from shipchat.formats.document import encode_session, read_document
from shipchat.stores.file import FileSessionStore
from tests.bench.row import BenchRow

SIZES = (10, 100, 1_000, 10_000)
TURNS = 60
TEXT = "The nightly export fails with a timeout; find out why, and say what to change. " * 4


def prompt(n: int, parent: str | None) -> MessageEntry:
    """Return a prompt of 320 characters."""
    parts = (TextPart(TEXT),)
    return MessageEntry(message=UserMessage(id=f"{n:016x}", parent=parent, at=datetime.now(UTC), parts=parts))


def reply(n: int, parent: str | None) -> MessageEntry:
    """Return a reply of 640 characters."""
    message = AssistantMessage(
        id=f"{n:016x}",
        parent=parent,
        at=datetime.now(UTC),
        parts=(TextPart(TEXT * 2),),
        model="local/smollm2",
        stop_reason="end_turn",
        usage=Usage(1200, 160),
    )
    return MessageEntry(message=message)


def conversation(count: int) -> list[Entry]:
    """Return so many messages, prompts and replies in turn."""
    entries: list[Entry] = []
    for n in range(count):
        parent = entries[-1].id if entries else None
        entries.append(reply(n, parent) if n % 2 else prompt(n, parent))
    return entries


def raw_turn(descriptor: int, n: int) -> int:
    """Append two JSON lines, each durable; return how many bytes that were."""
    written = 0
    for role, text in (("user", TEXT), ("assistant", TEXT * 2)):
        line = json.dumps({"id": f"{n:016x}", "at": time.time(), "role": role, "content": text}) + "\n"
        written += os.write(descriptor, line.encode())
        os.fdatasync(descriptor)
    return written


def turns(root: Path) -> list[BenchRow]:
    """Time durable turns in sessions of each size, the raw ones in between."""
    store = FileSessionStore(root / "turns")
    raw = os.open(root / "raw.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    cursors, heads = {}, {}
    for size in SIZES:
        entries = conversation(size)
        header = SessionHeader(key=f"n{size}", created=datetime.now(UTC))
        cursors[size], heads[size] = store.create(SessionRecord(header, tuple(entries))), entries[-1].id
    took: dict[int, list[float]] = {size: [] for size in SIZES}
    limits: list[float] = []
    grown, raw_bytes = 0, 0
    for turn in range(TURNS):
        start = time.perf_counter()
        raw_bytes += raw_turn(raw, turn)
        limits.append(time.perf_counter() - start)
        for size in SIZES:
            before = os.stat(store.path(f"n{size}")).st_size
            start = time.perf_counter()
            for make, n in ((prompt, 2 * turn), (reply, 2 * turn + 1)):
                entry = make((size << 20) + n, heads[size])
                tail = store.append(f"n{size}", [entry], cursors[size], exclusive=True)
                cursors[size], heads[size] = tail.cursor, entry.id
            took[size].append(time.perf_counter() - start)
            grown += os.stat(store.path(f"n{size}")).st_size - before
    os.close(raw)
    limit = median(limits) * 1000
    rows = [
        BenchRow(
            f"durable turn at {size} messages",
            median(took[size]) * 1000,
            "ms",
            limit,
            median(took[size]) * 1000 / limit,
            "at most 1.5x the limit",
        )
        for size in SIZES
    ]
    flat = median(took[SIZES[-1]]) / median(took[SIZES[0]])
    rows.append(BenchRow("durable turn at 10,000 against 10 messages", flat, "x", 1.0, flat, "at most 1.2x"))
    each = grown / (TURNS * len(SIZES))
    raw_each = raw_bytes / TURNS
    rows.append(BenchRow("bytes of a turn", each, "bytes", raw_each, each / raw_each, "at most 2x the limit"))
    return rows


def best(call: Callable[[], object], times: int = 5) -> float:
    """Return the least milliseconds that `call` took."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return min(took) * 1000


def large(root: Path) -> list[BenchRow]:
    """Time reading and forking a session of 10,000 messages."""
    store = FileSessionStore(root / "large")
    header = SessionHeader(key="large", created=datetime.now(UTC))
    entries = tuple(conversation(10_000))
    store.create(SessionRecord(header, entries))
    data = Path(store.path("large")).read_bytes()
    parse = best(lambda: json.loads(data))
    decode = best(lambda: read_document(data, "large"))
    ids = [entry.id for entry in entries]
    copy = root / "copy.json"

    def copy_durably() -> None:
        copy.write_bytes(data)
        with copy.open("rb") as file:
            os.fsync(file.fileno())

    numbers = iter(range(100))

    def fork() -> None:
        made = SessionHeader(key=f"fork{next(numbers)}", created=datetime.now(UTC))
        store.fork("large", made, ids, [])

    copied, forked = best(copy_durably), best(fork)
    return [
        BenchRow(
            "decode 10,000 messages", decode, "ms", parse, decode / parse, "at most json.loads of the same"
        ),
        BenchRow("fork at 10,000 messages", forked, "ms", copied, forked / copied, "limit: a durable copy"),
    ]


def listing(root: Path, count: int = 10_000) -> list[BenchRow]:
    """Time the rows of many sessions, read from the files alone."""
    store = FileSessionStore(root / "many")
    store.create(SessionRecord(SessionHeader(key="first", created=datetime.now(UTC))))
    data = encode_session(SessionHeader(key="any", created=datetime.now(UTC)), conversation(6))
    for n in range(count - 1):
        Path(store.path(f"s{n:05}")).write_bytes(data)

    def read_all() -> None:
        for item in os.scandir(store.root):
            if item.name.endswith(".json"):
                descriptor = os.open(item.path, os.O_RDONLY)
                os.read(descriptor, 1 << 20)
                os.close(descriptor)

    limit, took = best(read_all, 3), best(lambda: list(store.summaries()), 3)
    keys = best(store.keys, 3)
    return [
        BenchRow(
            f"rows of {count} sessions, no index", took, "ms", limit, took / limit, "limit: reading them"
        ),
        BenchRow(f"keys of {count} sessions", keys, "ms"),
    ]


def rows(directory: str | None = None) -> list[BenchRow]:
    """Return all figures, measured in a directory of their own under `directory` (default: the system's)."""
    root = Path(tempfile.mkdtemp(prefix="shipchat-bench-", dir=directory))
    try:
        return [*turns(root), *large(root), *listing(root)]
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    for row in rows(sys.argv[1] if len(sys.argv) > 1 else None):
        print(json.dumps(asdict(row)))
