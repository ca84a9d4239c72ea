"""What a session file holds: a header and a list of entries, append-only. Their JSON form lives in `formats`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from shipchat.core.messages import Json, Message


@dataclass(frozen=True, slots=True)
class ForkOrigin:
    """Where a fork parted from its parent: the parent's key, the last shared message and its position (1-based)."""

    key: str
    message: str | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """The first line of a session. `copied` counts the entries that a fork took over byte for byte."""

    key: str
    created: datetime
    forked_from: ForkOrigin | None = None
    copied: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntry:
    """A finished, interrupted or failed message joined the tree and became the head. Its id is the message's."""

    message: Message

    @property
    def id(self) -> str:
        """The message's id."""
        return self.message.id

    @property
    def at(self) -> datetime:
        """The message's time."""
        return self.message.at


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadEntry:
    """The current path now ends at `target` (None: before the first message): a rewind or a flip to a sibling."""

    id: str
    at: datetime
    target: str | None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEntry:
    """New values of a session's fields; a None field is left as it was. Tags and pins are deltas.

    `by` says who set the title: a user's title is never replaced by an automatic one. `custom` holds `x-…` fields.
    """

    id: str
    at: datetime
    title: str | None = None
    by: Literal["user", "auto"] | None = None
    archived: bool | None = None
    system: str | None = None
    model: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    add_pins: tuple[str, ...] = ()
    remove_pins: tuple[str, ...] = ()
    custom: Mapping[str, Json] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def needs_hold(self) -> bool:
        """Whether this changes what a model is sent, and so needs the hold: system prompt, model, pins."""
        return bool(self.system is not None or self.model is not None or self.add_pins or self.remove_pins)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEntry:
    """A compaction: `summary` stands for the messages up to `covers`; those from `kept_from` on are sent verbatim."""

    id: str
    at: datetime
    summary: str
    covers: str
    kept_from: str | None
    tokens_before: int
    tokens_after: int
    model: str
    instructions: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointUndoneEntry:
    """The checkpoint with this id no longer counts."""

    id: str
    at: datetime
    checkpoint: str
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeEntry:
    """Something to show at this place that the model is not sent; `about` is a stable word such as `recovered`."""

    id: str
    at: datetime
    about: str
    text: str
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEntry:
    """An entry of a type that a newer shipchat wrote: kept whole, otherwise passed over."""

    id: str
    at: datetime
    type: str
    data: Mapping[str, Json]


Entry: TypeAlias = (
    MessageEntry | HeadEntry | SetEntry | CheckpointEntry | CheckpointUndoneEntry | NoticeEntry | UnknownEntry
)


def is_structural(entry: Entry) -> bool:
    """Return whether `entry` moves the path or what the model sees, so that a writer must not have missed it."""
    return isinstance(entry, MessageEntry | HeadEntry | CheckpointEntry | CheckpointUndoneEntry)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A whole session as stored: what a store loads and saves."""

    header: SessionHeader
    entries: tuple[Entry, ...] = ()

    @property
    def key(self) -> str:
        """The session's unique name."""
        return self.header.key
