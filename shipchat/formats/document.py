"""A whole session file, or its tail, as values: header, entries, and what is wrong with the rest."""

import contextlib
import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from shipchat.core.entries import Entry, SessionHeader
from shipchat.formats.entries import decode_entry, encode_entry
from shipchat.formats.header import (
    FORMAT,
    NO_FIRST_LINE,
    NewerVersion,
    ReadHeader,
    decode_header,
    encode_header,
)
from shipchat.formats.lines import CLOSING, BadJson, parse_strictly
from shipchat.formats.scan import Problem, Scan, scan
from shipchat.formats.tolerant import entry_from_json

_BOM: Final = b"\xef\xbb\xbf"
_LARGE: Final = 256 * 1024
_DIAGNOSED: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read: `entries` up to `problem`, the last one's number (`seq`) and where it ends (`end`).

    `version` is what the header says, None when none was read.
    """

    header: SessionHeader | None
    entries: tuple[Entry, ...]
    seq: int
    end: int
    spans: tuple[tuple[int, int], ...] = ()
    problem: Problem | None = None
    version: int | None = None


class _Outline(msgspec.Struct, gc=False):
    seq: int
    id: str | None = None


_outline: Final[Callable[[memoryview], _Outline]] = msgspec.json.Decoder(_Outline).decode


def encode_document(header: SessionHeader, lines: Iterable[bytes]) -> bytes:
    """Return the bytes of a whole file with these sealed lines."""
    body = b",\n".join(lines)
    return encode_header(header) + (b"\n" + body if body else b"") + CLOSING


def encode_session(header: SessionHeader, entries: Sequence[Entry]) -> bytes:
    """Return the bytes of a whole file; the entries are numbered from 1."""
    lines = [encode_entry(entry, seq) for seq, entry in enumerate(entries, 1)]
    return encode_document(replace(header, copied=min(header.copied, len(lines))), lines)


def first_line(data: bytes, key: str) -> tuple[ReadHeader | None, int, Problem | None]:
    """Return the header, the place right after its `[`, and what is wrong when there is none."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    while data[start : start + 1] in (b"\n", b"\r", b" ", b"\t"):
        start += 1
    stop = data.find(b"\n", start)
    line = data[start : len(data) if stop < 0 else stop].rstrip()
    try:
        return decode_header(line, key), start + len(line), None
    except NewerVersion as error:
        return None, 0, Problem(str(error), start, newer=error.version)
    except BadJson as error:
        return None, 0, _diagnosis(data, start, str(error))


def read_document(data: bytes, key: str) -> Reading:
    """Read all of a file's bytes. Never raises: what is wrong is in `problem`."""
    found, start, problem = first_line(data, key)
    if found is None:
        return Reading(None, (), 0, 0, (), problem)
    lines = scan(data, start, first=True)
    with _no_collections(len(data)):
        reading = _decode(data, lines, start, 0, found)
    if reading.problem is None and len(reading.entries) < found.header.copied:
        short = Problem(
            f"only {len(reading.entries)} of {found.header.copied} copied entries are there", start
        )
        reading = replace(reading, problem=short)
    return reading


@contextlib.contextmanager
def _no_collections(size: int) -> Iterator[None]:
    """Keep the collector from walking the growing pile of a large session again and again: a quarter of the time."""
    if size < _LARGE or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def read_ids(data: bytes, reading: Reading) -> list[tuple[int, str]]:
    """Return the number and the id of each entry at the places that `outline` found. Raises BadJson."""
    view = memoryview(data)
    found: list[tuple[int, str]] = []
    try:
        for start, stop in reading.spans:
            line = _outline(view[start:stop])
            found.append((line.seq, line.id if line.id is not None else f"seq-{line.seq}"))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadJson(str(error)) from error
    return found


def outline(data: bytes, key: str) -> Reading:
    """Read header and places of the entries, each judged by its checksum, without decoding any. Never raises."""
    found, start, problem = first_line(data, key)
    if found is None:
        return Reading(None, (), 0, 0, (), problem)
    lines = scan(data, start, first=True)
    return Reading(found.header, (), 0, lines.end, tuple(lines.spans), lines.problem, found.version)


def read_tail(data: bytes, start: int, seq: int, *, first: bool) -> Reading:
    """Read the bytes that follow entry `seq`, which ends at `start` (`first`: follow the header)."""
    lines = scan(data, start, first=first)
    return _decode(data, lines, start, seq, None)


def _decode(data: bytes, lines: Scan, end: int, seq: int, found: ReadHeader | None) -> Reading:
    spans, problem = lines.spans, lines.problem
    view = memoryview(data)
    copied = found.header.copied if found is not None else 0
    steps = found.steps if found is not None else ()
    entries: list[Entry] = []
    add = entries.append
    for start, stop in spans:
        try:
            if steps:
                value = parse_strictly(view[start:stop])
                for step in steps:
                    value = step.entry(value) if isinstance(value, dict) else value
                number, entry = entry_from_json(value)
            else:
                number, entry = decode_entry(view[start:stop])
        except BadJson as error:
            problem = Problem(str(error), start)
            break
        if number != seq + 1 and not (len(entries) < copied and number > seq):
            problem = Problem(f"entry {number} where {seq + 1} should be", start)
            break
        seq = number
        end = stop
        add(entry)
    header, version = (found.header, found.version) if found is not None else (None, None)
    return Reading(header, tuple(entries), seq, end, tuple(spans[: len(entries)]), problem, version)


def _diagnosis(data: bytes, start: int, reason: str) -> Problem:
    """Say what a file without a proper first line is."""
    if not data.strip(b" \t\r\n"):
        return Problem("the file is empty", 0)
    if not data.strip(b"\0"):
        return Problem(f"not JSON: {len(data)} NUL bytes", 0)
    if not data.startswith(b"{", start):
        return Problem("not JSON", start)
    if reason == NO_FIRST_LINE and len(data) <= _DIAGNOSED:
        try:
            whole = json.loads(data[start:])
        except (ValueError, RecursionError):
            return Problem(reason, start)
        if isinstance(whole, dict) and whole.get("format") == FORMAT:
            version = whole.get("version")
            if isinstance(version, int) and version > 1:
                return Problem(
                    f"written by a newer shipchat (format version {version})", start, newer=version
                )
            return Problem("it was reformatted by another program", start)
        return Problem("valid JSON, but not a shipchat session", start)
    return Problem(reason, start)
