"""Getting entries out of a file that is damaged, edited by hand or reformatted; decides nothing about files."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.messages import Json
from shipchat.formats.document import read_document
from shipchat.formats.header import NewerVersion, header_from_json
from shipchat.formats.lines import CRC_FIELD, CRC_LENGTH, BadJson, encode_json, parse_strictly, seal_holds
from shipchat.formats.tolerant import entry_from_json

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Recovered:
    """What could be read, in order, each id once, and a sentence for everything that is not as it was written."""

    header: SessionHeader | None = None
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def add(self, entry: Entry, where: str) -> None:
        """Keep an entry, unless its id was there before."""
        if entry.id in self.seen:
            self.notes.append(f"{where} repeats {entry.id}: left out")
            return
        self.seen.add(entry.id)
        self.entries.append(entry)


def recover(data: bytes, key: str) -> tuple[SessionRecord | None, tuple[str, ...]]:
    """Return what can be read of a file's bytes, and what is not as it was written. Raises NewerVersion."""
    reading = read_document(data, key)
    if reading.header is not None and reading.problem is None:
        return SessionRecord(reading.header, reading.entries), ()
    if reading.problem is not None and reading.problem.newer is not None:
        raise NewerVersion(reading.problem.newer)
    found = Recovered(header=reading.header)
    if not _from_whole(data, key, found):
        _from_lines(data, key, found)
    if found.header is None:
        if not found.entries:
            return None, tuple(found.notes)
        found.notes.append("the header can't be read: a new one is made, without where it was forked from")
        found.header = SessionHeader(
            key=key, created=min((entry.at for entry in found.entries), default=_EPOCH)
        )
    return SessionRecord(found.header, tuple(found.entries)), tuple(found.notes)


def _from_whole(data: bytes, key: str, found: Recovered) -> bool:
    """Read a file that is JSON as a whole, however it is laid out."""
    try:
        document = parse_strictly(data.removeprefix(b"\xef\xbb\xbf"))
    except BadJson:
        return False
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        return False
    entries = document.pop("entries")
    _header(document, key, found)
    for place, value in enumerate(entries if isinstance(entries, list) else (), 1):
        _value(value, f"entry {place}", found)
    return True


def _header(value: dict[str, Json], key: str, found: Recovered) -> None:
    try:
        found.header = header_from_json(value, key).header
    except BadJson as error:
        found.notes.append(f"the header: {error}")
        return
    if not _is_as_written(value):
        found.notes.append("the header was changed by hand")


def _value(value: Json, where: str, found: Recovered) -> None:
    try:
        _, entry = entry_from_json(value)
    except BadJson as error:
        found.notes.append(f"{where} is left out: {error}")
        return
    if not (isinstance(value, dict) and _is_as_written(value)):
        found.notes.append(f"{where} ({entry.id}) was changed by hand")
    found.add(entry, where)


def _is_as_written(value: dict[str, Json]) -> bool:
    """Return whether the checksum holds once the layout is undone."""
    fields = dict(value)
    crc = fields.pop("crc", None)
    return crc == f"{zlib.crc32(encode_json(fields)[:-1]):08x}"


def _from_lines(data: bytes, key: str, found: Recovered) -> None:
    """Read line by line, passing over what makes no sense."""
    for number, line in _lines(data):
        where = f"line {number}"
        if line.startswith(b'{"format":'):
            _header_line(line, key, where, found)
            continue
        if not line.strip(b"\0"):
            found.notes.append(f"{where} is left out: {len(line)} NUL bytes")
            continue
        if seal_holds(line, 0, len(line)):
            _value(parse_or_none(line), where, found)
            continue
        at = line.rfind(CRC_FIELD)
        whole = line[: at + CRC_LENGTH + 1]
        if at > 0 and seal_holds(whole, 0, len(whole)):
            found.notes.append(f"{where}: {len(line) - len(whole)} bytes after the entry are left out")
            _value(parse_or_none(whole), where, found)
            continue
        try:
            value = parse_strictly(line)
        except BadJson as error:
            found.notes.append(f"{where} is left out: {error}")
            continue
        _value(value, where, found)


def parse_or_none(line: bytes) -> Json:
    """Return the JSON value of a line, None when it is none."""
    try:
        return parse_strictly(line)
    except BadJson:
        return None


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        line = raw.strip(b" \t\r")
        line = line.removesuffix(b",").rstrip(b" \t")
        if line and line != b"]}":
            yield number, line


def _header_line(line: bytes, key: str, where: str, found: Recovered) -> None:
    if found.header is not None:
        if found.entries:
            found.notes.append(f"{where} begins the session a second time")
        return
    head = line.removesuffix(b',"entries":[') + b"}"
    value = parse_or_none(head)
    if isinstance(value, dict):
        _header(value, key, found)
    else:
        found.notes.append(f"{where}: the header can't be read")
