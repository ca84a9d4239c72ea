"""What is on disk before it is a message: the turn draft (a reply in flight, queued prompts) and unsent text."""

from dataclasses import dataclass
from datetime import datetime

from shipchat.core.messages import Part


@dataclass(frozen=True, slots=True)
class ReplyDraft:
    """A reply in flight: its id was allocated beforehand, so that it can be stored only once."""

    id: str
    parent: str | None
    model: str
    at: datetime
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits its turn, with the id its message will have."""

    id: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """What the holder of a session keeps beside it: the reply in flight and the prompts queued behind it."""

    reply: ReplyDraft | None = None
    queue: tuple[QueuedPrompt, ...] = ()
