"""Messages and events as JSON values with stable names: the ones of the session file, and `type` and `message`."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from shipchat.core.events import SessionEvent
from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Failure,
    Json,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
    Usage,
    UserMessage,
)


def time_text(moment: datetime) -> str:
    """Return a moment as in session files: UTC, milliseconds, `2026-11-29T15:09:00.123Z`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def part_value(part: Part) -> dict[str, Json]:
    """Return a part; a provider's sealed reasoning is left out, it says nothing to anyone else."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            return {"type": "reasoning", "text": part.text, "provider": part.provider}
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


def usage_value(usage: Usage | None) -> Json:
    """Return the tokens of a call, null when the provider told none."""
    return None if usage is None else {one.name: getattr(usage, one.name) for one in fields(usage)}


def failure_value(failure: Failure | None) -> Json:
    """Return why a reply failed, null when it didn't."""
    return None if failure is None else {"code": failure.code, "message": failure.message}


def message_value(message: Message, position: int | None = None) -> dict[str, Json]:
    """Return a message; `position` (1-based, on the current path) is put in when it is known."""
    value: dict[str, Json] = {} if position is None else {"position": position}
    value |= {
        "id": message.id,
        "parent": message.parent,
        "role": "assistant" if isinstance(message, AssistantMessage) else "user",
        "at": time_text(message.at),
    }
    if isinstance(message, AssistantMessage):
        value |= {
            "model": message.model,
            "status": message.status,
            "stop_reason": message.stop_reason,
            "usage": usage_value(message.usage),
            "failure": failure_value(message.failure),
        }
    value["text"] = message.text
    value["parts"] = [part_value(part) for part in message.parts]
    return value


def event_value(event: SessionEvent) -> dict[str, Json]:
    """Return an event: `type`, `message` (a sentence, or the text itself of a delta), then all of its fields."""
    value: dict[str, Json] = {"type": event.type, "message": event.message}
    for one in fields(event):
        if one.name != "message":
            value[one.name] = _value(getattr(event, one.name))
    return value


def _value(value: Any) -> Json:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return time_text(value)
        case tuple() | list():
            return [_value(one) for one in value]
        case Mapping():
            return {str(name): _value(one) for name, one in value.items()}
        case TextPart() | ReasoningPart() | ToolCallPart() | AttachmentPart() | UnknownPart():
            return part_value(value)
        case UserMessage() | AssistantMessage():
            return message_value(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {one.name: _value(getattr(value, one.name)) for one in fields(value)}
        case _:
            raise TypeError(f"no JSON form of {type(value).__name__}")
