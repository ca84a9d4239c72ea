"""The first line of a session file: its JSON form, its checksum, and why it can't be read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from shipchat.core.entries import ForkOrigin, SessionHeader
from shipchat.core.messages import Json
from shipchat.formats.entries import instant_to_json
from shipchat.formats.lines import ENTRIES_FIELD, BadJson, parse_strictly, seal, seal_holds
from shipchat.formats.migrations import STEPS, VERSION, Step, steps_from
from shipchat.formats.wire import ExactHeaderWire, HeaderWire

FORMAT: Final = "shipchat.session"
NO_FIRST_LINE: Final = "not the first line of a session file"
"""The reason why a file that was never one, or was reformatted, can't be read."""
_KNOWN: Final = frozenset({"format", "version", "key", "created", "forked_from", "copied", "crc", "entries"})
_SHAPE: Final = re.compile(rb',"crc":"[0-9a-f]{8}","entries":\[\Z')


_decode: Final[Callable[[bytes], ExactHeaderWire]] = msgspec.json.Decoder(ExactHeaderWire).decode


@dataclass(frozen=True, slots=True)
class ReadHeader:
    """A header, the version its file has, and the steps that bring its entries up to date."""

    header: SessionHeader
    version: int
    steps: tuple[Step, ...] = ()


class NewerVersion(Exception):
    """The file is of a later version than this program knows."""

    def __init__(self, version: int) -> None:
        super().__init__(f"written by a newer shipchat (format version {version})")
        self.version = version


def encode_header(header: SessionHeader) -> bytes:
    """Return the first line (without a line feed): a sealed object left open for the entries."""
    return seal(header_to_json(header), opening=b"," + ENTRIES_FIELD[1:])


def header_to_json(header: SessionHeader) -> dict[str, Json]:
    """Return the fields of the first line in their order on disk, all but the checksum and the entries."""
    origin = header.forked_from
    fields: dict[str, Json] = {
        "format": FORMAT,
        "version": VERSION,
        "key": header.key,
        "created": instant_to_json(header.created),
        "forked_from": None
        if origin is None
        else {"key": origin.key, "message": origin.message, "position": origin.position},
        "copied": header.copied,
    }
    return fields | {name: value for name, value in header.extra.items() if name not in _KNOWN}


def decode_header(line: bytes, key: str) -> ReadHeader:
    """Return the header of a first line; the file name (`key`) decides the key, not the line.

    Raises BadJson with the reason, NewerVersion for one that this program can't read.
    """
    if not _SHAPE.search(line):
        raise BadJson(NO_FIRST_LINE)
    end = len(line) - len(ENTRIES_FIELD)
    body = line[:end] + b"}"
    if not seal_holds(body, 0, end + 1):
        raise BadJson("the header's checksum does not match")
    try:
        exact = _decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        exact = None
    if exact is not None and exact.format == FORMAT and exact.version == VERSION and exact.copied >= 0:
        return ReadHeader(_header(exact, key, {}), VERSION)
    value = parse_strictly(body)
    if not isinstance(value, dict):
        raise BadJson("the header is not an object")
    return header_from_json(value, key)


def header_from_json(value: dict[str, Json], key: str) -> ReadHeader:
    """Return the header of a JSON object. Raises BadJson with the reason, NewerVersion."""
    if value.get("format") != FORMAT:
        raise BadJson("not a shipchat session")
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise BadJson(f"there is no format version {str(version)[:20]}")
    if version > VERSION:
        raise NewerVersion(version)
    steps = steps_from(version, steps=STEPS)
    if steps is None:
        raise BadJson(f"format version {version} can't be brought up to date")
    for step in steps:
        value = step.header(value)
    try:
        wire = msgspec.convert({name: item for name, item in value.items() if name in _KNOWN}, HeaderWire)
    except msgspec.ValidationError as error:
        raise BadJson(f"not a proper header ({error})") from error
    if wire.copied < 0:
        raise BadJson("the header's count of copied entries is negative")
    extra = {name: item for name, item in value.items() if name not in _KNOWN}
    return ReadHeader(_header(wire, key, extra), version, steps)


def _header(wire: HeaderWire, key: str, extra: dict[str, Json]) -> SessionHeader:
    origin = wire.forked_from
    return SessionHeader(
        key=key,
        created=wire.created,
        forked_from=None if origin is None else ForkOrigin(origin.key, origin.message, origin.position),
        copied=wire.copied,
        extra=extra,
    )
