"""What a turn begins with: which prompt is stored, which message the reply answers to, what is sent.

Pure: decided from the session as it is once the hold is had.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from shipchat.core.errors import UsageError
from shipchat.core.ids import new_id
from shipchat.core.messages import AssistantMessage, Message, TextPart, ToolCallPart, UserMessage
from shipchat.core.safe_text import without_surrogates
from shipchat.core.session import Session
from shipchat.sessions.clock import Clock


@dataclass(frozen=True, slots=True)
class TurnStart:
    """`prompt` is stored first (None: none is new); the reply becomes a child of `parent`.

    `until` ends what is sent at this message; `continuing` asks for the rest of a reply that was cut off.
    """

    prompt: UserMessage | None
    parent: str | None
    until: str | None = None
    continuing: bool = False


StartOf: TypeAlias = Callable[[Session], TurnStart]
"""Decides how a turn in this session starts. Raises UsageError, MessageNotFound."""


def asking(
    text: str, clock: Clock, *, replacing: str | None = None, message_id: str | None = None
) -> StartOf:
    """Start with a new prompt at the head, or beside the message `replacing`."""

    def start(session: Session) -> TurnStart:
        parent = session.head
        if replacing is not None:
            parent = session.tree.parent(session.find_message(replacing).id)
        prompt = UserMessage(
            id=message_id or new_id(), parent=parent, at=clock(), parts=(TextPart(checked_prompt(text)),)
        )
        return TurnStart(prompt, prompt.id)

    return start


def continuing(session: Session) -> TurnStart:
    """Start where the last reply was cut off; one of which nothing came is asked for again."""
    last = session.tree.get(session.head) if session.head else None
    if not isinstance(last, AssistantMessage) or last.status == "complete":
        raise UsageError("there is no interrupted reply to continue")
    if last.text.strip() or any(isinstance(part, ToolCallPart) for part in last.parts):
        return TurnStart(None, last.id, continuing=True)
    above = session.tree.parent(last.id)
    return TurnStart(None, above, until=above)


def answering_again(reply: int | str | None = None) -> StartOf:
    """Start another reply to the prompt that `reply` (an id or position; None: the last message) answers."""

    def start(session: Session) -> TurnStart:
        target: Message | None = session.tree.get(session.head) if session.head else None
        if reply is not None:
            target = session.find_message(reply)
        while isinstance(target, AssistantMessage):
            above = session.tree.parent(target.id)
            target = session.tree.get(above) if above else None
        if target is None:
            raise UsageError("there is no prompt to answer again")
        return TurnStart(None, target.id, until=target.id)

    return start


_INVISIBLE: Final = dict.fromkeys((*range(0x200B, 0x2010), 0x2060, 0xFEFF))


def checked_prompt(prompt: str) -> str:
    """Return `prompt` fit to be stored and sent; raise UsageError when it says nothing."""
    text = without_surrogates(prompt)
    if not text.translate(_INVISIBLE).strip():
        raise UsageError("there is nothing to send: the prompt is empty")
    return text
