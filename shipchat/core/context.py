"""What a model is sent of a session: a projection, made anew for each call and never stored.

The whole current path when it fits; else whole oldest turns are left out and `starts_at` says from which position
the model sees messages. What is sent is append-only from turn to turn as long as nothing needs to be left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shipchat.core.errors import ContextOverflow
from shipchat.core.messages import Message, TextPart, ToolCallPart, UserMessage
from shipchat.core.session import Session

DEFAULT_SYSTEM: Final = "You are a helpful assistant. Answer plainly and briefly, in the user's language."
"""The system prompt of a session that has none of its own, unless the config says otherwise."""

CONTINUE: Final = "Continue exactly where you stopped. Do not repeat anything."
"""Sent, never stored, to have an interrupted reply continued."""

MESSAGE_OVERHEAD: Final = 8
"""Tokens that a chat template adds to each message, rounded up (4 to 7 measured for common templates)."""

CountMessage = Callable[[Message], int]


@dataclass(frozen=True, slots=True)
class Projection:
    """What is sent: `messages` are those of the current path from position `starts_at` on; `tokens` is their sum."""

    system: str
    messages: tuple[Message, ...]
    starts_at: int
    tokens: int

    @property
    def left_out(self) -> int:
        """How many messages at the beginning of the path are not sent."""
        return self.starts_at - 1


def project(
    session: Session, *, system: str, budget: int, count: CountMessage, until: str | None = None
) -> Projection:
    """Return what to send of `session` within `budget` tokens (the system prompt already taken off).

    `until` ends the path at this message instead of at the head. Costs in proportion to what is sent. Raises
    ContextOverflow when not even the last turn fits: by how much, and what to do.
    """
    last = len(session.path) if until is None else session.position_of(until) or len(session.path)
    chosen: list[Message] = []  # newest first
    tokens = 0
    starts_at = last + 1
    turn: list[Message] = []  # the turn being gathered, newest first
    turn_tokens = 0
    for position in range(last, 0, -1):
        message = session.tree.get(session.path[position - 1])
        if message is None:
            continue
        turn.append(message)
        turn_tokens += count(message) + MESSAGE_OVERHEAD
        if not isinstance(message, UserMessage) and position > 1:
            if tokens + turn_tokens <= budget or not chosen:
                continue
            break
        if tokens + turn_tokens > budget:
            if not chosen:
                raise _overflow(session, turn_tokens, budget)
            break
        chosen += turn
        tokens += turn_tokens
        starts_at = position
        turn, turn_tokens = [], 0
    chosen.reverse()
    return Projection(system, tuple(chosen), starts_at, tokens)


def _overflow(session: Session, needed: int, budget: int) -> ContextOverflow:
    return ContextOverflow(
        f"the last turn of session {session.key} needs about {needed:,} tokens, "
        f"{needed - budget:,} more than the model can be sent",
        advice=("Send a shorter message, or choose a model with a larger window (--model).",),
        details={"key": session.key, "needed": needed, "budget": budget},
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
