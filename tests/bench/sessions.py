"""Makes many session files quickly, as shipchat would have written them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from shipchat.core.entries import Entry, MessageEntry, SessionHeader
from shipchat.core.messages import AssistantMessage, TextPart, UserMessage
from shipchat.formats.document import encode_session

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "The nightly export fails with a timeout; find out why, and say what to change. " * 4


def conversation(count: int, begins: datetime = START) -> list[Entry]:
    """Return so many messages, prompts (320 characters) and replies (640) in turn, a minute apart."""
    entries: list[Entry] = []
    for n in range(count):
        parent, at = (entries[-1].id if entries else None), begins + timedelta(minutes=n)
        message_id, parts = f"{n:016x}", (TextPart(TEXT * (1 + n % 2)),)
        entries.append(
            MessageEntry(
                message=AssistantMessage(
                    id=message_id,
                    parent=parent,
                    at=at,
                    parts=parts,
                    model="local/smollm2",
                    stop_reason="stop",
                )
                if n % 2
                else UserMessage(id=message_id, parent=parent, at=at, parts=parts)
            )
        )
    return entries


def make_sessions(root: Path, count: int, *, messages: int = 6) -> None:
    """Write `count` sessions of `messages` messages into `root`, an hour apart."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for n in range(count):
        begins = START + timedelta(hours=n % 8000)
        header = SessionHeader(key=f"s{n:05}", created=begins)
        path = root / f"s{n:05}.json"
        path.write_bytes(encode_session(header, conversation(messages, begins)))
        path.chmod(0o600)
