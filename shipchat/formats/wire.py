"""The strict shapes of version 1's lines: what the fast decoder accepts. Anything else goes to `tolerant`."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from shipchat.core.messages import ReplyStatus

Instant: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class TextWire(msgspec.Struct, tag="text", forbid_unknown_fields=True, gc=False):
    """A text part."""

    text: str


class ReasoningWire(msgspec.Struct, tag="reasoning", forbid_unknown_fields=True, gc=False):
    """A reasoning part."""

    text: str
    provider: str | None = None
    sealed: Any = None


class ResultWire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A tool's result."""

    output: str
    is_error: bool = False


class ToolCallWire(msgspec.Struct, tag="tool_call", forbid_unknown_fields=True, gc=False):
    """A tool call with its result."""

    call_id: str
    name: str
    arguments: str
    result: ResultWire | None = None


class AttachmentWire(msgspec.Struct, tag="attachment", forbid_unknown_fields=True, gc=False):
    """A reference to a blob."""

    sha256: str
    name: str
    media_type: str
    size: int


PartWire: TypeAlias = TextWire | ReasoningWire | ToolCallWire | AttachmentWire


class UsageWire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Tokens of a call."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class FailureWire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Why a reply failed."""

    code: str
    message: str


class LineWire(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """What every line has."""

    seq: int
    at: Instant
    id: str | None = None
    crc: str = ""


class MessageWire(LineWire, tag="message", forbid_unknown_fields=True, gc=False, kw_only=True):
    """A message of either role."""

    role: Literal["user", "assistant"]
    parts: list[PartWire]
    parent: str | None = None
    status: ReplyStatus | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: UsageWire | None = None
    failure: FailureWire | None = None
    tokens: int | None = None


class HeadWire(LineWire, tag="head", forbid_unknown_fields=True, gc=False, kw_only=True):
    """A move of the head."""

    target: str | None


class SetWire(LineWire, tag="set", forbid_unknown_fields=True, gc=False, kw_only=True):
    """New values of fields."""

    title: str | None = None
    by: Literal["user", "auto"] | None = None
    archived: bool | None = None
    system: str | None = None
    model: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    add_pins: tuple[str, ...] = ()
    remove_pins: tuple[str, ...] = ()


class CheckpointWire(LineWire, tag="checkpoint", forbid_unknown_fields=True, gc=False, kw_only=True):
    """A compaction."""

    summary: str
    covers: str
    kept_from: str | None
    tokens_before: int
    tokens_after: int
    model: str
    instructions: str | None = None


class CheckpointUndoneWire(
    LineWire, tag="checkpoint_undone", forbid_unknown_fields=True, gc=False, kw_only=True
):
    """A compaction taken back."""

    checkpoint: str


class NoticeWire(LineWire, tag="notice", forbid_unknown_fields=True, gc=False, kw_only=True):
    """Something to show."""

    about: str
    text: str


EntryWire: TypeAlias = MessageWire | HeadWire | SetWire | CheckpointWire | CheckpointUndoneWire | NoticeWire

WIRES: Final[dict[str, type[LineWire]]] = {
    "message": MessageWire,
    "head": HeadWire,
    "set": SetWire,
    "checkpoint": CheckpointWire,
    "checkpoint_undone": CheckpointUndoneWire,
    "notice": NoticeWire,
}
"""The shape of each type of entry."""


class HeaderWire(msgspec.Struct, gc=False, kw_only=True):
    """The first line; `entries` and unknown fields are looked at elsewhere."""

    format: str
    version: int
    key: str
    created: Instant
    forked_from: "OriginWire | None" = None
    copied: int = 0


class ExactHeaderWire(HeaderWire, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The first line as this version writes it: the quick way, since a list reads thousands."""

    crc: str


class OriginWire(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Where a fork parted."""

    key: str
    position: int
    message: str | None = None
