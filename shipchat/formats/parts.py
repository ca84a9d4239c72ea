"""Parts of messages to and from their JSON form; nothing about lines or files."""

from collections.abc import Sequence
from typing import Final, assert_never

import msgspec

from shipchat.core.messages import (
    AttachmentPart,
    Json,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
)
from shipchat.formats.wire import AttachmentWire, PartWire, ReasoningWire, TextWire, ToolCallWire

_PART_TYPES: Final = frozenset({"text", "reasoning", "tool_call", "attachment"})


def part_to_json(part: Part) -> dict[str, Json]:
    """Return the JSON form of one part."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            fields: dict[str, Json] = {"type": "reasoning", "text": part.text}
            if part.provider is not None:
                fields["provider"] = part.provider
            if part.sealed is not None:
                fields["sealed"] = part.sealed
            return fields
        case ToolCallPart():
            result = part.result
            return {
                "type": "tool_call",
                "call_id": part.call_id,
                "name": part.name,
                "arguments": part.arguments,
                "result": None if result is None else {"output": result.output, "is_error": result.is_error},
            }
        case AttachmentPart():
            return {
                "type": "attachment",
                "sha256": part.sha256,
                "name": part.name,
                "media_type": part.media_type,
                "size": part.size,
            }
        case UnknownPart():
            return dict(part.data)
        case _:
            assert_never(part)


def parts_to_json(parts: Sequence[Part]) -> list[Json]:
    """Return the JSON form of all parts."""
    return [part_to_json(part) for part in parts]


def part_from_wire(wire: PartWire) -> Part:
    """Return the part that was decoded strictly."""
    match wire:
        case TextWire():
            return TextPart(wire.text)
        case ReasoningWire():
            return ReasoningPart(wire.text, wire.provider, wire.sealed)
        case ToolCallWire():
            result = wire.result
            return ToolCallPart(
                wire.call_id,
                wire.name,
                wire.arguments,
                None if result is None else ToolResult(result.output, result.is_error),
            )
        case AttachmentWire():
            return AttachmentPart(wire.sha256, wire.name, wire.media_type, wire.size)
        case _:
            assert_never(wire)


def part_from_json(value: Json) -> Part:
    """Return the part of a JSON value; a kind that this version does not know becomes an UnknownPart.

    Fields that a known kind does not have are passed over here (`tolerant` keeps them beside the message).
    Raises msgspec.ValidationError for a known kind that lacks something.
    """
    if not isinstance(value, dict):
        raise msgspec.ValidationError("a part is not an object")
    if value.get("type") not in _PART_TYPES:
        return UnknownPart(value)
    return part_from_wire(msgspec.convert(_without_unknown(value), PartWire))


_FIELDS: Final[dict[str, frozenset[str]]] = {
    "text": frozenset(TextWire.__struct_fields__),
    "reasoning": frozenset(ReasoningWire.__struct_fields__),
    "tool_call": frozenset(ToolCallWire.__struct_fields__),
    "attachment": frozenset(AttachmentWire.__struct_fields__),
}
_RESULT_FIELDS: Final = frozenset({"output", "is_error"})


def _without_unknown(value: dict[str, Json]) -> dict[str, Json]:
    known = _FIELDS[str(value["type"])] | {"type"}
    kept = {name: item for name, item in value.items() if name in known}
    result = kept.get("result")
    if isinstance(result, dict):
        kept["result"] = {name: item for name, item in result.items() if name in _RESULT_FIELDS}
    return kept
