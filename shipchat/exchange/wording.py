"""What exports of every kind say in the same words: who speaks, how a reply ended, what a part is. No layout."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from shipchat.core.safe_text import safe_line, safe_text
from shipchat.core.session import Session


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a message of one kind; `name` is a tool's or a file's."""

    kind: Literal["text", "reasoning", "call", "result", "error", "attachment", "unknown"]
    text: str
    name: str = ""


def clean(text: str) -> str:
    """Return text fit for a file that somebody may print on a terminal: control characters are visible, tabs stay."""
    return "\t".join([safe_text(piece) for piece in text.split("\t")])


def pieces_of(message: Message) -> list[Piece]:
    """Return what a message is made of, in order, neighbouring texts joined."""
    found: list[Piece] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                if found and found[-1].kind == "text":
                    found[-1] = Piece("text", found[-1].text + text)
                else:
                    found.append(Piece("text", text))
            case ReasoningPart(text=text):
                if text.strip():
                    found.append(Piece("reasoning", text))
            case ToolCallPart(name=name, arguments=arguments, result=result):
                found.append(Piece("call", arguments, name))
                if result is not None:
                    found.append(Piece("error" if result.is_error else "result", result.output, name))
            case AttachmentPart(name=name, media_type=kind, size=size):
                found.append(Piece("attachment", f"{kind}, {size:,} bytes", name))
            case _:
                found.append(Piece("unknown", "something a newer shipchat can show"))
    return [piece for piece in found if piece.text.strip() or piece.kind != "text"]


def speaker(message: Message) -> str:
    """Return who says it: `You`, or the model."""
    return safe_line(message.model) or "Assistant" if isinstance(message, AssistantMessage) else "You"


def ending(message: Message) -> str:
    """Return what there is to say about a reply that is not complete, else nothing."""
    if not isinstance(message, AssistantMessage) or message.status == "complete":
        return ""
    if message.failure is not None:
        return safe_line(f"failed: {message.failure.message} ({message.failure.code})")
    return f"{message.status}: the reply is not complete"


def time_of(at: datetime) -> str:
    """Return a time in UTC, so that an export is the same wherever it is made: `2026-11-29 15:09 UTC`."""
    from datetime import UTC

    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def facts_of(session: Session) -> list[str]:
    """Return what stands below the title: key, messages, model, tags, where it was forked from."""
    count = len(session.path)
    facts = [session.key, "1 message" if count == 1 else f"{count:,} messages"]
    if session.model:
        facts.append(session.model)
    facts += [f"#{tag}" for tag in session.tags]
    if session.forked_from is not None:
        facts.append(f"fork of {session.forked_from.key} after message {session.forked_from.position}")
    others = len(session.tree) - count
    if others > 0:
        facts.append(f"{others:,} more on other branches")
    return [safe_line(fact) for fact in facts]
