"""Makes transcript items of a session's messages; pure. Showing them is the transcript's, choosing which the screen's."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from shipchat.core.attachments import size_text
from shipchat.core.compaction import active_checkpoint, sees_from
from shipchat.core.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    ToolCallPart,
    UserMessage,
    text_of,
)
from shipchat.core.session import Session
from shipchat.tui.ages import message_time
from shipchat.tui.widgets.transcript_item import FoldedDetails, Sibling, ToolRow, TranscriptItem

QUIET: Final = frozenset({"model"})
"""Notices in the session that the transcript need not repeat: the header of the next reply says it."""

_TOOL_CELLS: Final = 60


@dataclass(frozen=True, slots=True)
class GrowingReply:
    """A reply that is being written, here or elsewhere: what has come, and the monotonic second it began at."""

    id: str
    position: int
    model: str
    parent: str | None = None
    parts: tuple[Part, ...] = ()
    since: float = 0.0
    word: str = "writing"


def items_of(
    session: Session, now: datetime, *, first: int = 1, starts_at: int = 1, live: GrowingReply | None = None
) -> list[TranscriptItem]:
    """Return the items from position `first` to the end, with notices and the divider where the model's view starts.

    `starts_at` is the first position that the model was last sent (1: all of them); `live` is shown after the end
    unless it has become a message meanwhile.
    """
    notices: dict[str | None, list[TranscriptItem]] = {}
    for placed in session.notices:
        if placed.notice.about not in QUIET:
            item = TranscriptItem(placed.notice.id, placed.notice.text, kind="notice")
            notices.setdefault(placed.after, []).append(item)
    items = list(notices.get(None, ())) if first == 1 else []
    growing = live if live is not None and live.id not in session.tree else None
    # A reply made anew stands beside the one on the path, which gives way to it.
    last = None if growing is None or not _on_path(session, growing) else growing.position - 1
    for position, message in enumerate(session.messages(first, last), first):
        if position == starts_at and starts_at > 1:
            items.append(TranscriptItem("divider", _divider(session, starts_at), kind="divider"))
        items.append(item_of(session, message, position, now))
        items.extend(notices.get(message.id, ()))
    if growing is not None:
        items.append(live_item(growing))
    return items


def _divider(session: Session, starts_at: int) -> str:
    """Return what the divider says: where the model's view starts, and what a compaction made of what is above."""
    checkpoint = active_checkpoint(session)
    if checkpoint is None or sees_from(session) != starts_at:
        return "the model sees from here"
    return f"the model sees from here · {checkpoint.tokens_before:,} → {checkpoint.tokens_after:,} tokens"


def _on_path(session: Session, live: GrowingReply) -> bool:
    return live.parent is None or session.position_of(live.parent) == live.position - 1


def item_of(session: Session, message: Message, position: int, now: datetime) -> TranscriptItem:
    """Return the item of one message."""
    siblings = session.tree.siblings(message.id)
    sibling = Sibling(siblings.index(message.id) + 1, len(siblings)) if len(siblings) > 1 else None
    when = message_time(message.at, now)
    common = TranscriptItem(
        message.id,
        message.text,
        position=position,
        time_text=when,
        sibling=sibling,
        pinned=message.id in session.pins,
        attachments=tuple(
            f"{part.name} {size_text(part.size)}"
            for part in message.parts
            if isinstance(part, AttachmentPart)
        ),
    )
    if isinstance(message, UserMessage):
        return replace(common, role="user")
    return replace(
        common,
        model=message.model.partition("/")[2] or message.model,
        status=message.status,
        fold=fold_of(message.parts),
        error_text=message.failure.message if message.failure is not None else None,
        # Only the end of the path can be taken up again.
        can_continue=message.id == session.head,
    )


def live_item(live: GrowingReply) -> TranscriptItem:
    """Return the item of a reply being written."""
    return TranscriptItem(
        live.id,
        text_of(live.parts),
        position=live.position,
        model=live.model.partition("/")[2] or live.model,
        status="streaming",
        activity=live.word,
        fold=fold_of(live.parts),
    )


def fold_of(parts: tuple[Part, ...]) -> FoldedDetails | None:
    """Return what is folded away of a reply: reasoning and tool calls; None without any."""
    reasoning = "\n\n".join(part.text for part in parts if isinstance(part, ReasoningPart) and part.text)
    tools = tuple(_tools(parts))
    return FoldedDetails(reasoning, None, tools) if reasoning or tools else None


def _tools(parts: tuple[Part, ...]) -> Iterator[ToolRow]:
    for part in parts:
        if isinstance(part, ToolCallPart):
            words = " ".join(part.arguments.split())
            shown = words if len(words) <= _TOOL_CELLS else words[: _TOOL_CELLS - 1] + "…"
            result = part.result
            yield ToolRow(
                f"{part.name} {shown}",
                result.output if result else "",
                failed=bool(result and result.is_error),
            )
