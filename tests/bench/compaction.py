"""Measures what compaction costs a turn: deciding whether it is time, and building a request, at any history."""

import time
from collections.abc import Callable, Iterator
from statistics import median

from shipchat.core.entries import CheckpointEntry, Entry, MessageEntry, SessionHeader
from shipchat.core.messages import TextPart, UserMessage
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.session import Session, fold, new_session
from shipchat.sessions.options import CompactionOptions
from shipchat.sessions.requests import Frame, Scales
from shipchat.sessions.token_ledger import TokenTable
from shipchat.tokens.o200k import O200kCounter
from tests.bench.row import BenchRow
from tests.bench.sessions import START, conversation

RUNS = 200
COUNTER = O200kCounter()
SYSTEM = "You are a helpful assistant."


def session_of(count: int, covered: int | None = None) -> Session:
    """Return a session of so many messages, the first `covered` of them summarised."""
    entries: list[Entry] = conversation(count)
    if covered is not None:
        checkpoint = CheckpointEntry(
            id="c",
            at=START,
            summary="## Goal\nto measure",
            covers=entries[covered - 1].id,
            kept_from=entries[covered].id,
            tokens_before=0,
            tokens_after=0,
            model="bench/one",
        )
        entries.append(checkpoint)
    return fold(new_session(SessionHeader(key="k", created=START)), entries)


def frame(window: int) -> Frame:
    """Return what requests to a model with this window are made for."""
    ref = ModelRef("bench", "one")
    info = ModelInfo(ref, window, 8_000)
    return Frame(ref=ref, info=info, system=SYSTEM, rules=CompactionOptions())


def milliseconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median of so many runs."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1000 * median(times)


def deciding(count: int) -> float:
    """Return the milliseconds of deciding after one more message, all but that one having been counted before."""
    session, scales = session_of(count), Scales(TokenTable(COUNTER))
    wide = frame(10_000_000 if count > 1000 else 40_000)
    scales.standing(session, wide, exactly=True)
    times = []
    for n in range(RUNS):
        prompt = UserMessage(
            id=f"new{n}", parent=session.head, at=START, parts=(TextPart("And what is to be changed?"),)
        )
        session = fold(session, (MessageEntry(message=prompt),))
        began = time.perf_counter()
        scales.standing(session, wide, exactly=True)
        times.append(time.perf_counter() - began)
    return 1000 * median(times)


def building(count: int, sent: int) -> float:
    """Return the milliseconds of building a request of `sent` messages after a checkpoint in a session of `count`."""
    session, scales, small = session_of(count, count - sent), Scales(TokenTable(COUNTER)), frame(200_000)
    scales.make(session, small)
    return milliseconds(lambda: scales.make(session, small))


def rows() -> Iterator[BenchRow]:
    """Yield deciding at 10 and 10,000 messages, building 20 messages of 100 and of 10,000, and 200 of 10,000."""
    few, many = deciding(10), deciding(10_000)
    yield BenchRow("deciding whether to compact, 10 messages", few, "ms")
    yield BenchRow("deciding whether to compact, 10,000 messages", many, "ms", few, many / few, "<= 0.2 ms")
    short, long = building(100, 20), building(10_000, 20)
    yield BenchRow("building a request of 20 messages, history of 100", short, "ms")
    yield BenchRow(
        "building a request of 20 messages, history of 10,000",
        long,
        "ms",
        short,
        long / short,
        "ratio <= 1.5",
    )
    more = building(10_000, 200)
    yield BenchRow(
        "building a request of 200 messages, history of 10,000", more, "ms", long, more / long, "ratio <= 11"
    )
