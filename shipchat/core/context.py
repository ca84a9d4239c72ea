"""What a model is sent of a session: a projection, made anew for each call and never stored.

The whole current path; or, where a checkpoint counts, the pinned messages, its summary and what came after. When that
doesn't fit, whole oldest turns are left out (or it is an error) and `starts_at` says from which position the model
sees messages. What is sent is append-only from turn to turn until a compaction or until something is left out.
Which checkpoint counts is `core.compaction`'s.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from shipchat.core.entries import CheckpointEntry
from shipchat.core.errors import ContextOverflow
from shipchat.core.messages import Message, TextPart, ToolCallPart, UserMessage
from shipchat.core.paths import Path
from shipchat.core.session import Session

DEFAULT_SYSTEM: Final = "You are a helpful assistant. Answer plainly and briefly, in the user's language."
"""The system prompt of a session that has none of its own, unless the config says otherwise."""

CONTINUE: Final = "Continue exactly where you stopped. Do not repeat anything."
"""Sent, never stored, to have an interrupted reply continued."""

MESSAGE_OVERHEAD: Final = 8
"""Tokens that a chat template adds to each message, rounded up (4 to 7 measured for common templates)."""

PINNED: Final = "The user pinned these messages from earlier in this session, to be kept in view:"
"""Sent before pinned messages that begin with a reply, since providers want a user's message first."""

SUMMARY_BEGINS: Final = (
    "<session-summary>\nNotes on the earlier messages of this session (1 to {last}), written when it was compacted. "
    "They stand for those messages and are not the user's words."
)
SUMMARY_ENDS: Final = "</session-summary>\nThe session goes on from here."

_OWN_MARK: Final = re.compile(r"<(?=/?session-summary)", re.IGNORECASE)

CountMessage = Callable[[Message], int]

Overflow: TypeAlias = Literal["drop-oldest", "error"]
"""What is done when not all fits: whole oldest turns are left out of the request, or it fails before the call."""


@dataclass(frozen=True, slots=True)
class Projection:
    """What is sent: the pinned messages and the summary of `checkpoint`, then those from position `starts_at` on.

    `tokens` is their sum; `dropped` how many the model neither sees nor has a summary of.
    """

    system: str
    messages: tuple[Message, ...]
    starts_at: int
    tokens: int
    checkpoint: CheckpointEntry | None = None
    dropped: int = 0

    @property
    def left_out(self) -> int:
        """How many messages at the beginning of the path are not sent word for word (unless pinned)."""
        return self.starts_at - 1


def path_to(session: Session, until: str | None) -> Path:
    """Return the path that ends at the message `until`; None gives the current one."""
    if until is None or until not in session.tree:
        return session.path
    depth = session.position_of(until)
    if depth is None:
        return Path(session.tree.path_to(until))
    return session.path if depth == len(session.path) else Path(session.path[:depth])


def pinned_before(session: Session, path: Path, position: int) -> list[Message]:
    """Return the pinned messages on `path` before `position`, first to last."""
    if not session.pins:
        return []
    tree = session.tree
    depths = [(tree.depth(one), one) for one in session.pins if one in tree]
    return [
        message
        for depth, one in sorted(depths)
        if depth < position and depth <= len(path) and path[depth - 1] == one
        if (message := tree.get(one)) is not None
    ]


def summary_message(checkpoint: CheckpointEntry, last: int) -> UserMessage:
    """Return the message that stands for positions 1 to `last`: the summary, marked as none of the user's words.

    Nothing in the summary can end the mark.
    """
    begins = SUMMARY_BEGINS.format(last=last)
    text = _OWN_MARK.sub("< ", checkpoint.summary)
    return UserMessage(
        id=f"summary-{checkpoint.id}",
        parent=None,
        at=checkpoint.at,
        parts=(TextPart(f"{begins}\n\n{text}\n{SUMMARY_ENDS}"),),
    )


def preface(session: Session, path: Path, position: int, checkpoint: CheckpointEntry | None) -> list[Message]:
    """Return what is sent before the messages from `position` on: pinned ones, then the summary."""
    first: list[Message] = list(pinned_before(session, path, position))
    if first and not isinstance(first[0], UserMessage):
        first.insert(0, UserMessage(id="pinned", parent=None, at=first[0].at, parts=(TextPart(PINNED),)))
    if checkpoint is not None:
        first.append(summary_message(checkpoint, session.tree.depth(checkpoint.covers)))
    return first


def project(
    session: Session,
    *,
    system: str,
    budget: int,
    count: CountMessage,
    until: str | None = None,
    checkpoint: CheckpointEntry | None = None,
    overflow: Overflow = "drop-oldest",
) -> Projection:
    """Return what to send of `session` within `budget` tokens (the system prompt already taken off).

    `until` ends the path at this message instead of at the head; `checkpoint`, which must count on it, stands for
    what it covers. Costs in proportion to what is sent. Raises ContextOverflow when it doesn't fit (with `overflow`
    of "drop-oldest": when not even the last turn does): by how much, and what to do.
    """
    path = path_to(session, until)
    first = 1 if checkpoint is None else session.tree.depth(checkpoint.covers) + 1
    # What is sent in any case. A pinned message costs nothing more in the turn it belongs to.
    always = preface(session, path, len(path) + 1, checkpoint)
    pinned = {message.id for message in always}
    tokens = fixed = sum(count(message) + MESSAGE_OVERHEAD for message in always)
    chosen: list[Message] = []  # newest first
    turn: list[Message] = []  # the turn being gathered, newest first
    turn_tokens = 0
    starts_at = len(path) + 1
    for position in range(len(path), first - 1, -1):
        message = session.tree.get(path[position - 1])
        if message is None:
            continue
        turn.append(message)
        turn_tokens += 0 if message.id in pinned else count(message) + MESSAGE_OVERHEAD
        if not isinstance(message, UserMessage) and position > first:
            continue
        if tokens + turn_tokens > budget and (overflow == "drop-oldest" or position == first):
            break
        chosen += turn
        tokens += turn_tokens
        starts_at = position
        turn, turn_tokens = [], 0
    if turn and (overflow == "error" or not chosen):
        raise _overflow(session, tokens + turn_tokens, budget, pinned=fixed, whole=bool(chosen))
    chosen.reverse()
    before = preface(session, path, starts_at, checkpoint)
    return Projection(system, (*before, *chosen), starts_at, tokens, checkpoint, starts_at - first)


def _overflow(session: Session, needed: int, budget: int, *, pinned: int, whole: bool) -> ContextOverflow:
    key, larger = session.key, "choose a model with a larger window (--model)."
    advice: tuple[str, ...]
    if whole:
        what = f"session {key}"
        advice = (
            f"Compact it (/compact, or shipchat compact {key}), or {larger}",
            'Or let oldest turns be left out: overflow = "drop-oldest" in the config.',
        )
    else:
        what = f"the last turn of session {key}"
        advice = (f"Send a shorter message, or {larger}",)
    if pinned > budget // 2:
        advice = (*advice[:1], f"Pinned messages and summary alone need {pinned:,}: unpin some.")
    return ContextOverflow(
        f"{what} needs about {needed:,} tokens, {needed - budget:,} more than the model can be sent",
        advice=advice,
        details={"key": key, "needed": needed, "budget": budget},
    )


def countable(message: Message) -> str:
    """Return all text of a message that a model would be sent: what a token counter counts."""
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                pieces.append(text)
            case ToolCallPart():
                pieces += [part.name, part.arguments, part.result.output if part.result else ""]
            case _:
                pass
    return "".join(pieces)
