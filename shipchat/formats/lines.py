"""One line of a session file as bytes: encoding JSON safely and sealing it with a checksum, not what it means."""

import json
import re
import zlib
from collections.abc import Callable
from typing import Final

import msgspec

from shipchat.core.messages import Json
from shipchat.core.safe_text import without_surrogates

CRC_FIELD: Final = b',"crc":"'
CRC_LENGTH: Final = len(b',"crc":"00000000"')
ENTRIES_FIELD: Final = b',"entries":['
CLOSING: Final = b"\n]}\n"
"""The end of every whole session file; the only bytes an append ever overwrites."""

_CRC: Final = re.compile(rb',"crc":"([0-9a-f]{8})"')

_encode: Final[Callable[[object], bytes]] = msgspec.json.Encoder().encode


def encode_json(value: Json | dict[str, Json]) -> bytes:
    """Return compact UTF-8 JSON. Lone surrogates become U+FFFD; numbers too large for 64 bits are kept."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        text = json.dumps(scrub(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")


def scrub(value: Json) -> Json:
    """Return `value` with the lone surrogates in every string and name replaced by U+FFFD."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(name): scrub(item) for name, item in value.items()}
    return value


def seal(value: dict[str, Json], *, opening: bytes = b"}") -> bytes:
    """Return `value` as one line whose last field is the CRC-32 of the bytes before it; `opening` ends the line."""
    body = encode_json(value)[:-1]
    return b'%b%b%08x"%b' % (body, CRC_FIELD, zlib.crc32(body), opening)


def seal_holds(data: bytes | memoryview, start: int, end: int) -> bool:
    """Return whether the object at `data[start:end]`, is closed and carries the checksum of its bytes."""
    at = end - 1 - CRC_LENGTH
    if at <= start or data[end - 1 : end] != b"}":
        return False
    field = _CRC.match(data, at)
    return field is not None and int(field[1], 16) == zlib.crc32(memoryview(data)[start:at])


class BadJson(ValueError):
    """JSON that can't be trusted; the message says why."""


def _refuse_constant(name: str) -> Json:
    raise BadJson(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise BadJson(f"the field {name[:40]!r} is there twice")
            seen.add(name)
    return fields


def parse_strictly(data: bytes | memoryview) -> Json:
    """Return any JSON value; raise BadJson with a reason for all that is not JSON, doubled fields and NaN included."""
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise BadJson(f"not UTF-8 (byte {error.start + 1} of the line)") from error
    try:
        value: Json = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise BadJson(f"not JSON ({error.msg} at column {error.colno})") from error
    except (RecursionError, ValueError) as error:
        raise (
            error if isinstance(error, BadJson) else BadJson("not JSON (nested too deeply or too long)")
        ) from error
    return scrub(value)
