"""Messages and the parts they are made of: what was said, apart from how it is stored, sent or drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""Any JSON value."""

NOTHING: Final[Mapping[str, Json]] = {}
"""The usual value of `extra`: no fields that this version does not know."""

ReplyStatus: TypeAlias = Literal["complete", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain or Markdown text."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model thought before it answered.

    `sealed` is the provider's own opaque form (a signature, an encrypted item), replayed to the same provider only.
    """

    text: str
    provider: str | None = None
    sealed: Json = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back; `is_error` when it failed or its outcome is unknown."""

    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call of a tool and its result together, so that no cut can separate them.

    `arguments` is the JSON text as the model wrote it. `result` is None only while the tool runs.
    """

    call_id: str
    name: str
    arguments: str
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """A reference to a blob by the SHA-256 (hex) of its bytes; `size` in bytes."""

    sha256: str
    name: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A kind of part that a newer shipchat wrote: kept whole, never shown as text, never sent."""

    data: Mapping[str, Json]


Part: TypeAlias = TextPart | ReasoningPart | ToolCallPart | AttachmentPart | UnknownPart


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider counted them. `input_tokens` includes cache reads and writes."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a reply failed: a stable code (see `core.errors`) and a sentence for a human."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A prompt. `parent` is the message it answers to, None for the first; `extra` holds unknown stored fields."""

    id: str
    parent: str | None
    at: datetime
    parts: tuple[Part, ...]
    tokens: int | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return text_of(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One model call's reply. Only `status == "complete"` ended by the provider's own word."""

    id: str
    parent: str | None
    at: datetime
    parts: tuple[Part, ...]
    model: str
    status: ReplyStatus = "complete"
    stop_reason: str | None = None
    usage: Usage | None = None
    failure: Failure | None = None
    tokens: int | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return text_of(self.parts)


Message: TypeAlias = UserMessage | AssistantMessage


def text_of(parts: tuple[Part, ...]) -> str:
    """Return the text parts joined, without reasoning, tools and attachments."""
    return "".join(part.text for part in parts if isinstance(part, TextPart))
