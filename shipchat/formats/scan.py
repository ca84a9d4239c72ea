"""Finding the lines of a session file and judging each by its checksum, before anything is decoded.

The verdict on a file that isn't whole is one of two. Torn: the end of an append that never finished, which a
writer may cut off. Damaged: everything else, which is never written to.
"""

import re
import zlib
from dataclasses import dataclass, field
from typing import Final

from shipchat.formats.lines import CLOSING, CRC_FIELD, CRC_LENGTH, seal_holds

_CLOSE: Final = b"]}"
_BRACE: Final = ord("{")
_HOLE: Final = bytes(8)
_SECTOR: Final = 512
"""Bytes that a disk writes as one: what a power cut loses begins and ends at multiples of it."""
# What an append that was cut off can leave after the last whole entry: nothing, some of the old closing line, the
# start of the next entry, or both mixed.
_ONE_LINE: Final = re.compile(rb"[^\n]*(?:\n[\]}\n\0]*)?\Z")
_UNFINISHED: Final = re.compile(rb"\s*,?\s*(?:\]?\}?\s*|\{.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong from `offset` (bytes) on; `torn` when it is only an append that did not finish."""

    reason: str
    offset: int
    torn: bool = False
    newer: int | None = None


@dataclass(slots=True)
class Scan:
    """The places of the entries whose checksum holds, in order, and where the last of them ends."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    end: int = 0
    problem: Problem | None = None


def scan(data: bytes, start: int, *, first: bool) -> Scan:
    """Find the entries from `start` on: the place right after the `[` (`first`) or after an entry.

    Stops at the first line that is not an entry with a good checksum.
    """
    found = _scan(data, start, first=first)
    problem = found.problem
    if problem is not None and not problem.torn and found.end and _lost_a_sector(data, found.end):
        found.problem = Problem("the end is missing: an append did not finish", found.end, torn=True)
    return found


def _lost_a_sector(data: bytes, end: int) -> bool:
    """Return whether what follows the last whole entry is what a power cut can leave of an append.

    The new length and later sectors may have reached the disk without the sector that the append began in. There the
    old closing line still stands, whole or to the border of a sector, and NULs follow to the sector's end.
    """
    if not _ONE_LINE.match(data, end + len(CLOSING)):
        return False  # entries are made durable one by one: never more than one line is at stake
    head = data[end : end + len(CLOSING)]
    if head.startswith(b"\0"):  # cut off here, but for the length
        border = end + _SECTOR - end % _SECTOR
        return not data[end:border].strip(b"\0")
    if head == CLOSING:
        after = end + len(CLOSING)
        return after % _SECTOR == 0 or data.startswith(b"\0", after)
    for new in (b',\n{"', b'\n{"s'):
        for kept in range(1, len(CLOSING)):
            if (end + kept) % _SECTOR == 0 and head in (
                new[:kept] + CLOSING[kept:],
                CLOSING[:kept] + new[kept:],
            ):
                return True
    return False


def _scan(data: bytes, start: int, *, first: bool) -> Scan:
    found = Scan(end=start)
    spans, view = found.spans, memoryview(data)
    crc32, find = zlib.crc32, data.find
    comma = first  # whether an entry may come now
    position, size = start, len(data)
    while position < size:
        line_end = find(b"\n", position)
        stop = size if line_end < 0 else line_end
        # The usual line, in as few steps as can be: ten thousand of them are read while somebody waits.
        at = stop - CRC_LENGTH - 2
        if (
            comma
            and at > position
            and data.startswith(b',"crc":"%08x"},' % crc32(view[position:at]), at)
            and data[position] == _BRACE
        ):
            spans.append((position, stop - 1))
            position = stop + 1
            continue
        if spans:
            found.end = spans[-1][1]
        if data.startswith(b"{", position):
            end = stop
            if not (comma and seal_holds(data, position, end)):
                found.problem, end = _odd_line(data, position, stop, found, comma=comma)
                if found.problem is not None:
                    return found
            spans.append((position, end))
            found.end = end
            comma = data.startswith(b",", end)
        else:
            line = data[position:stop].strip()
            if line == b"," and not comma:
                comma = True
            elif line == _CLOSE and (not comma or (first and not spans)):
                found.problem = _after_closing(data, stop)
                return found
            elif line:
                found.problem = _bad_end(data, found, position)
                return found
        position = stop + 1
    found.end = spans[-1][1] if spans else start
    found.problem = Problem("the end is missing: an append did not finish", found.end, torn=True)
    return found


def _odd_line(data: bytes, start: int, stop: int, found: Scan, *, comma: bool) -> tuple[Problem | None, int]:
    """Judge a line that starts like an entry but does not look as we write it; return where its entry ends."""
    text = data[start:stop]
    stripped = text.rstrip(b" \t\r")
    bare = stripped[:-1].rstrip(b" \t\r") if stripped.endswith(b",") else stripped
    end = start + len(bare)
    if comma and seal_holds(data, start, end):  # CRLF and blanks do no harm
        return None, end
    at = text.rfind(CRC_FIELD)
    end = start + at + CRC_LENGTH + 1
    if comma and at > 0 and seal_holds(data, start, end):  # whole, though something else follows it
        found.spans.append((start, end))
        found.end = end
        rest = data[end:].replace(b"\0", b"")
        mixture = _UNFINISHED.match(rest) and not rest.strip(b" \t\r\n,").startswith(b"{")
        if mixture and _is_last(data, stop):
            return Problem("the end is missing: an append did not finish", end, torn=True), end
        return Problem("foreign bytes after an entry", end), end
    return _bad_end(data, found, start, missing_comma=not comma), end


def _bad_end(data: bytes, found: Scan, start: int, *, missing_comma: bool = False) -> Problem:
    """Say what is wrong with the line at `start`, which is neither an entry nor the closing line."""
    stop = data.find(b"\n", start)
    line = data[start : len(data) if stop < 0 else stop]
    last = _is_last(data, start + len(line))
    if b"\0" in line:
        # A hole that a power cut left in the last write has many; a single one is a flipped bit.
        closed = _HOLE in line and data[start + len(line) :].strip() == _CLOSE
        return Problem("NUL bytes where an entry should be", start, torn=bool(found.end) and (last or closed))
    if last and not missing_comma and _UNFINISHED.match(data, found.end):
        return Problem("the end is missing: an append did not finish", found.end, torn=True)
    if missing_comma:
        return Problem("a comma is missing before this line", start)
    if not line.lstrip().startswith(b"{"):
        return Problem("foreign bytes where an entry should be", start)
    if CRC_FIELD in line:
        return Problem("the checksum does not match: the line was changed", start)
    return Problem("the line is incomplete", start)


def _is_last(data: bytes, stop: int) -> bool:
    return not data[stop:].strip()


def _after_closing(data: bytes, stop: int) -> Problem | None:
    rest = data[stop:]
    extra = rest.strip(b" \t\r\n")
    if not extra:
        return None
    offset = stop + len(rest) - len(rest.lstrip(b" \t\r\n"))
    return Problem(f"{len(data) - offset} bytes of extra data after the end, from byte {offset} on", offset)
