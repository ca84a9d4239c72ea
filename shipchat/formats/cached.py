"""Rows and the states they were left off in as compact bytes for a cache; what is not exactly that is refused."""

import zlib
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from shipchat.core.summaries import SessionSummary
from shipchat.formats.summary import RowState

_encode: Final[Callable[[object], bytes]] = msgspec.msgpack.Encoder().encode
_decode_row: Final[Callable[[bytes], SessionSummary]] = msgspec.msgpack.Decoder(SessionSummary).decode
_decode_state: Final[Callable[[bytes], RowState]] = msgspec.msgpack.Decoder(RowState).decode


class BadCache(ValueError):
    """Bytes that this version did not write, or that have changed since."""


def encode_row(row: SessionSummary) -> tuple[bytes, int]:
    """Return a row as bytes, and their checksum. Its holder should be left out: it is never true for long."""
    data = _encode(row)
    return data, zlib.crc32(data)


def decode_row(data: bytes, checksum: int) -> SessionSummary:
    """Return the row. Raises BadCache."""
    if zlib.crc32(data) != checksum:
        raise BadCache("a row has changed since it was written")
    try:
        return _decode_row(data)
    except msgspec.MsgspecError as error:
        raise BadCache(str(error)) from error


def decode_rows(rows: Sequence[bytes], checksums: Sequence[int]) -> list[SessionSummary]:
    """Return many rows, in half the time. Raises BadCache when one of them is bad."""
    try:
        if list(map(zlib.crc32, rows)) == list(checksums):
            return [_decode_row(row) for row in rows]
    except (msgspec.MsgspecError, TypeError) as error:
        raise BadCache(str(error)) from error
    raise BadCache("a row has changed since it was written")


def encode_state(state: RowState | None) -> bytes | None:
    """Return a state as bytes."""
    return None if state is None else _encode(state)


def decode_state(data: bytes | None) -> RowState | None:
    """Return the state, None when there is none or it makes no sense: then the file is read as a whole."""
    if data is None:
        return None
    try:
        return _decode_state(data)
    except msgspec.MsgspecError:
        return None
