"""The slow way to read a line: for fields, parts and entries that a newer shipchat wrote, and for good reasons.

What is unknown is kept beside what is known, so that it is still there when the session is saved elsewhere.
"""

from collections.abc import Mapping
from typing import Final, cast

import msgspec

from shipchat.core.entries import Entry, MessageEntry, UnknownEntry
from shipchat.core.messages import Json, Part
from shipchat.formats.entries import entry_from_wire, entry_to_json, message_from_wire
from shipchat.formats.lines import BadJson, parse_strictly
from shipchat.formats.parts import part_from_json
from shipchat.formats.wire import WIRES, EntryWire, Instant, MessageWire

_LINE_FIELDS: Final = frozenset({"seq", "at", "type", "id", "crc"})
_INSIDE: Final[dict[str, frozenset[str]]] = {
    "usage": frozenset(
        {"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"}
    ),
    "failure": frozenset({"code", "message"}),
}


def decode_entry_tolerantly(line: bytes | memoryview) -> tuple[int, Entry]:
    """Return the number and the entry of one line. Raises BadJson with the reason."""
    return entry_from_json(parse_strictly(line))


def entry_from_json(value: Json) -> tuple[int, Entry]:
    """Return the number and the entry of a JSON object. Raises BadJson with the reason."""
    if not isinstance(value, dict):
        raise BadJson("not an object")
    seq, kind = value.get("seq"), value.get("type")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise BadJson("without a number (seq)")
    if not isinstance(kind, str):
        raise BadJson("without a type")
    try:
        if kind not in WIRES:
            return seq, _unknown_entry(seq, kind, value)
        return seq, _known_entry(kind, value)
    except msgspec.ValidationError as error:
        raise BadJson(f"not a proper {kind[:40]!r} entry ({error})") from error


def _unknown_entry(seq: int, kind: str, value: dict[str, Json]) -> UnknownEntry:
    entry_id = value.get("id")
    return UnknownEntry(
        id=entry_id if isinstance(entry_id, str) else f"seq-{seq}",
        at=msgspec.convert(value.get("at"), Instant),
        type=kind,
        data={name: item for name, item in value.items() if name not in _LINE_FIELDS},
    )


def _known_entry(kind: str, value: dict[str, Json]) -> Entry:
    wire_type = WIRES[kind]
    known = {
        name: item for name, item in value.items() if name in wire_type.__struct_fields__ or name == "type"
    }
    if kind == "message":
        entry: Entry = _message_entry(known, {})
    else:
        entry = entry_from_wire(cast("EntryWire", msgspec.convert(known, wire_type)))
    # What the known part does not say again when it is written is what this version does not know.
    left = residue(value, entry_to_json(entry, 0))
    extra = {
        name: item
        for name, item in left.items()
        if name not in _LINE_FIELDS and not (item is None and name in known)
    }
    if not extra:
        return entry
    if kind == "message":
        return _message_entry(known, extra)
    return entry_from_wire(cast("EntryWire", msgspec.convert(known, wire_type)), extra)


def _message_entry(known: dict[str, Json], extra: Mapping[str, Json]) -> MessageEntry:
    stored = known.get("parts")
    if not isinstance(stored, list):
        raise msgspec.ValidationError("without parts")
    plain: dict[str, Json] = {**known, "parts": []}
    for name, fields in _INSIDE.items():
        inner = plain.get(name)
        if isinstance(inner, dict):
            plain[name] = {field: item for field, item in inner.items() if field in fields}
    wire = msgspec.convert(plain, MessageWire)
    if wire.role == "assistant" and (wire.status is None or wire.model is None):
        raise msgspec.ValidationError("a reply without its status or model")
    parts: tuple[Part, ...] = tuple(part_from_json(part) for part in stored)
    message = message_from_wire(wire, extra)
    from dataclasses import replace

    return MessageEntry(message=replace(message, parts=parts))


def residue(stored: Mapping[str, Json], known: Mapping[str, Json]) -> dict[str, Json]:
    """Return what `stored` has and `known` lacks, at any depth; the places in a list become `{"0": …}`."""
    left: dict[str, Json] = {}
    for name, item in stored.items():
        if name not in known:
            left[name] = item
            continue
        inner = _residue_inside(item, known[name])
        if inner:
            left[name] = inner
    return left


def _residue_inside(stored: Json, known: Json) -> dict[str, Json]:
    if isinstance(stored, dict) and isinstance(known, dict):
        return residue(stored, known)
    if isinstance(stored, list) and isinstance(known, list) and len(stored) == len(known):
        inner = {str(n): _residue_inside(*pair) for n, pair in enumerate(zip(stored, known, strict=True))}
        return {place: cast("Json", item) for place, item in inner.items() if item}
    return {}


def merge(fields: dict[str, Json], extra: Mapping[str, Json]) -> None:
    """Put back what `residue` took out, wherever nothing else has come to stand since."""
    for name, item in extra.items():
        if name not in fields:
            fields[name] = item
            continue
        target = fields[name]
        if not isinstance(item, dict):
            continue
        if isinstance(target, dict):
            copy = dict(target)
            merge(copy, item)
            fields[name] = copy
        elif isinstance(target, list):
            fields[name] = _merged_list(target, item)


def _merged_list(target: list[Json], places: Mapping[str, Json]) -> list[Json]:
    merged = list(target)
    for place, item in places.items():
        index = int(place) if place.isascii() and place.isdigit() else -1
        if 0 <= index < len(merged) and isinstance(item, dict):
            element = merged[index]
            if isinstance(element, dict):
                copy = dict(element)
                merge(copy, item)
                merged[index] = copy
    return merged
