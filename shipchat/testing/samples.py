"""Sessions to test with: headers, messages and one entry of every kind, the same each time."""
# ruff: noqa: S101 -- `raises` is an assertion

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

from shipchat.core.entries import (
    CheckpointEntry,
    CheckpointUndoneEntry,
    Entry,
    HeadEntry,
    MessageEntry,
    NoticeEntry,
    SessionHeader,
    SetEntry,
    UnknownEntry,
)
from shipchat.core.errors import (
    ShipchatError,
)
from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Failure,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
    Usage,
    UserMessage,
)

START = datetime(2026, 11, 29, 15, 9, 0, 123456, tzinfo=UTC)


def header(key: str) -> SessionHeader:
    """Return the header of a new session."""
    return SessionHeader(key=key, created=START)


def prompt(entry_id: str, parent: str | None = None, text: str = "Why?", minute: int = 0) -> MessageEntry:
    """Return a prompt."""
    at = START + timedelta(minutes=minute)
    return MessageEntry(message=UserMessage(id=entry_id, parent=parent, at=at, parts=(TextPart(text),)))


def reply(entry_id: str, parent: str, text: str = "Because.", minute: int = 0) -> MessageEntry:
    """Return a reply."""
    at = START + timedelta(minutes=minute)
    message = AssistantMessage(
        id=entry_id, parent=parent, at=at, parts=(TextPart(text),), model="local/smollm2", stop_reason="stop"
    )
    return MessageEntry(message=message)


def title(entry_id: str, text: str) -> SetEntry:
    """Return a title that a user gave."""
    return SetEntry(id=entry_id, at=START, title=text, by="user")


def every_kind() -> tuple[Entry, ...]:
    """Return one entry or more of every kind, with every field set somewhere."""
    east = timezone(timedelta(hours=2))
    asked = UserMessage(
        id="m1",
        parent=None,
        at=START,
        parts=(
            TextPart("Why\n“so” \N{GRINNING FACE} \x00\x1b[2J?"),
            AttachmentPart("ab" * 32, "log ü.txt", "text/plain", 12),
        ),
        tokens=7,
        extra={"colour": {"deep": [1, None, "x"]}},
    )
    answered = AssistantMessage(
        id="m2",
        parent="m1",
        at=START.astimezone(east),
        parts=(
            ReasoningPart("hm", "anthropic", {"signature": "c2ln"}),
            ToolCallPart("c1", "read", '{"path": "x"}', ToolResult("no such file", is_error=True)),
            ToolCallPart("c2", "wait", "{}"),
            UnknownPart({"type": "hologram", "depth": 3}),
            TextPart("Because."),
        ),
        model="local/smollm2",
        status="failed",
        stop_reason="tool_use",
        usage=Usage(10, 20, 3, 4, 5),
        failure=Failure("provider_unavailable", "it broke off"),
        tokens=9,
    )
    return (
        MessageEntry(message=asked),
        MessageEntry(message=answered),
        SetEntry(
            id="s1",
            at=START,
            title="Nightly export",
            by="user",
            archived=True,
            system="Be brief.",
            model="local/smollm2",
            add_tags=("ops", "näch ste"),
            remove_tags=("old",),
            add_pins=("m1",),
            remove_pins=("m2",),
            custom={"x-ticket": 812},
        ),
        HeadEntry(id="h1", at=START, target="m1"),
        HeadEntry(id="h2", at=START, target=None),
        CheckpointEntry(
            id="c1",
            at=START,
            summary="They asked why.",
            covers="m1",
            kept_from="m2",
            tokens_before=100,
            tokens_after=20,
            model="local/smollm2",
            instructions="short",
        ),
        CheckpointUndoneEntry(id="u1", at=START, checkpoint="c1"),
        NoticeEntry(id="n1", at=START, about="recovered", text="A reply was recovered."),
        UnknownEntry(id="z1", at=START, type="vote", data={"for": "m2", "weight": 1.5}),
    )


@contextlib.contextmanager
def raises(kind: type[ShipchatError]) -> Iterator[None]:
    """Expect an error of exactly this kind."""
    raised: ShipchatError | None = None
    try:
        yield
    except ShipchatError as error:
        raised = error
    assert type(raised) is kind, f"{kind.__name__} expected, not {raised!r}"


def ids(entries: tuple[Entry, ...]) -> list[str]:
    """Return the ids, for comparing orders."""
    return [entry.id for entry in entries]
