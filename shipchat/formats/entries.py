"""Entries to and from the lines of a session file: the fast, strict way, with `tolerant` for what it refuses."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, assert_never

import msgspec

from shipchat.core.entries import (
    CheckpointEntry,
    CheckpointUndoneEntry,
    Entry,
    HeadEntry,
    MessageEntry,
    NoticeEntry,
    SetEntry,
    UnknownEntry,
)
from shipchat.core.messages import (
    NOTHING,
    Failure,
    Json,
    Message,
    Usage,
    UserMessage,
)
from shipchat.formats.lines import seal
from shipchat.formats.parts import part_from_wire, parts_to_json
from shipchat.formats.quick import assistant_message, message_entry, text_part, user_message
from shipchat.formats.wire import (
    CheckpointUndoneWire,
    CheckpointWire,
    EntryWire,
    HeadWire,
    MessageWire,
    NoticeWire,
    SetWire,
    TextWire,
)

_decode: Final[Callable[[bytes | memoryview], EntryWire]] = msgspec.json.Decoder(EntryWire).decode


def instant_to_json(at: datetime) -> str:
    """Return an aware time as `2026-11-29T15:09:00.123456Z`. Raises ValueError for one without a time zone."""
    if at.tzinfo is None:
        raise ValueError("a time without a time zone can't be stored")
    return f"{at.astimezone(UTC).isoformat()[:-6]}Z"


def encode_entry(entry: Entry, seq: int) -> bytes:
    """Return `entry` as one sealed line (without a line feed), numbered `seq`."""
    return seal(entry_to_json(entry, seq))


def decode_entry(line: bytes | memoryview) -> tuple[int, Entry]:
    """Return the number and the entry of one line whose checksum holds. Raises BadJson with the reason."""
    try:
        wire = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        from shipchat.formats.tolerant import decode_entry_tolerantly

        return decode_entry_tolerantly(line)
    if isinstance(wire, MessageWire):
        if not is_plain(wire):
            from shipchat.formats.tolerant import decode_entry_tolerantly

            return decode_entry_tolerantly(line)
        return wire.seq, message_entry(message_from_wire(wire))
    return wire.seq, entry_from_wire(wire)


def is_plain(wire: MessageWire) -> bool:
    """Return whether the message has exactly the fields of its role."""
    if wire.role == "user":
        return wire.status is None and wire.model is None and wire.usage is None and wire.failure is None
    return wire.status is not None and wire.model is not None


def message_from_wire(wire: MessageWire, extra: Mapping[str, Json] = NOTHING) -> Message:
    """Return the message; `extra` are stored fields that this version does not know."""
    parts = tuple(
        [text_part(part.text) if type(part) is TextWire else part_from_wire(part) for part in wire.parts]
    )
    message_id = wire.id if wire.id is not None else f"seq-{wire.seq}"
    if wire.role == "user":
        return user_message(message_id, wire.parent, wire.at, parts, tokens=wire.tokens, extra=extra)
    usage, failure = wire.usage, wire.failure
    return assistant_message(
        message_id,
        wire.parent,
        wire.at,
        parts,
        wire.model or "",
        status=wire.status or "complete",
        stop_reason=wire.stop_reason,
        usage=None
        if usage is None
        else Usage(
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
        ),
        failure=None if failure is None else Failure(failure.code, failure.message),
        tokens=wire.tokens,
        extra=extra,
    )


def entry_from_wire(wire: EntryWire, extra: Mapping[str, Json] | None = None) -> Entry:
    """Return the entry of a strictly decoded line; `extra` are fields that this version does not know."""
    entry_id = wire.id if wire.id is not None else f"seq-{wire.seq}"
    at = wire.at
    more = {} if extra is None else dict(extra)
    match wire:
        case MessageWire():
            return MessageEntry(message=message_from_wire(wire, more))
        case HeadWire():
            return HeadEntry(id=entry_id, at=at, target=wire.target, extra=more)
        case SetWire():
            custom = {name: more.pop(name) for name in list(more) if name.startswith("x-")}
            return SetEntry(
                id=entry_id,
                at=at,
                title=wire.title,
                by=wire.by,
                archived=wire.archived,
                system=wire.system,
                model=wire.model,
                add_tags=wire.add_tags,
                remove_tags=wire.remove_tags,
                add_pins=wire.add_pins,
                remove_pins=wire.remove_pins,
                custom=custom,
                extra=more,
            )
        case CheckpointWire():
            return CheckpointEntry(
                id=entry_id,
                at=at,
                summary=wire.summary,
                covers=wire.covers,
                kept_from=wire.kept_from,
                tokens_before=wire.tokens_before,
                tokens_after=wire.tokens_after,
                model=wire.model,
                instructions=wire.instructions,
                extra=more,
            )
        case CheckpointUndoneWire():
            return CheckpointUndoneEntry(id=entry_id, at=at, checkpoint=wire.checkpoint, extra=more)
        case NoticeWire():
            return NoticeEntry(id=entry_id, at=at, about=wire.about, text=wire.text, extra=more)
        case _:
            assert_never(wire)


def entry_to_json(entry: Entry, seq: int) -> dict[str, Json]:
    """Return the fields of a line in their order on disk, all but the checksum."""
    fields: dict[str, Json] = {"seq": seq, "at": instant_to_json(entry.at)}
    match entry:
        case MessageEntry(message=message):
            fields |= message_to_json(message)
            return _with_extra(fields, message.extra)
        case HeadEntry():
            fields |= {"type": "head", "id": entry.id, "target": entry.target}
        case SetEntry():
            fields |= {"type": "set", "id": entry.id, **_set_to_json(entry)}
        case CheckpointEntry():
            fields |= {
                "type": "checkpoint",
                "id": entry.id,
                "summary": entry.summary,
                "covers": entry.covers,
                "kept_from": entry.kept_from,
                "tokens_before": entry.tokens_before,
                "tokens_after": entry.tokens_after,
                "model": entry.model,
            }
            if entry.instructions is not None:
                fields["instructions"] = entry.instructions
        case CheckpointUndoneEntry():
            fields |= {"type": "checkpoint_undone", "id": entry.id, "checkpoint": entry.checkpoint}
        case NoticeEntry():
            fields |= {"type": "notice", "id": entry.id, "about": entry.about, "text": entry.text}
        case UnknownEntry():
            fields |= {"type": entry.type, "id": entry.id}
            return _with_extra(fields, entry.data)
        case _:
            assert_never(entry)
    return _with_extra(fields, entry.extra)


def message_to_json(message: Message) -> dict[str, Json]:
    """Return the fields of a message in their order on disk, without those that this version does not know."""
    fields: dict[str, Json] = {"type": "message", "id": message.id, "parent": message.parent}
    if isinstance(message, UserMessage):
        fields["role"] = "user"
    else:
        fields |= {"role": "assistant", "status": message.status, "model": message.model}
        if message.usage is not None:
            fields["usage"] = _usage_to_json(message.usage)
        if message.stop_reason is not None:
            fields["stop_reason"] = message.stop_reason
        if message.failure is not None:
            fields["failure"] = {"code": message.failure.code, "message": message.failure.message}
    if message.tokens is not None:
        fields["tokens"] = message.tokens
    fields["parts"] = parts_to_json(message.parts)
    return fields


def _usage_to_json(usage: Usage) -> dict[str, Json]:
    fields: dict[str, Json] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if usage.cache_read_tokens:
        fields["cache_read_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens:
        fields["cache_write_tokens"] = usage.cache_write_tokens
    if usage.reasoning_tokens:
        fields["reasoning_tokens"] = usage.reasoning_tokens
    return fields


def _set_to_json(entry: SetEntry) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for name in ("title", "by", "archived", "system", "model"):
        value = getattr(entry, name)
        if value is not None:
            fields[name] = value
    for name in ("add_tags", "remove_tags", "add_pins", "remove_pins"):
        value = getattr(entry, name)
        if value:
            fields[name] = list(value)
    fields |= {name: value for name, value in entry.custom.items() if name.startswith("x-")}
    return fields


def _with_extra(fields: dict[str, Json], extra: Mapping[str, Json]) -> dict[str, Json]:
    """Add unknown fields where nothing known is; see `tolerant.residue` for those inside known ones."""
    if extra:
        from shipchat.formats.tolerant import merge

        merge(fields, {name: value for name, value in extra.items() if name != "crc"})
    return fields
