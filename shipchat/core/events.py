"""What happens, as values: what a provider's stream yields, and what a turn tells every front end.

A turn's events are one stream with exactly one last event (`TurnCompleted`, `TurnInterrupted` or `TurnFailed`),
which holds the whole message. Once `TurnStarted` was sent, failures travel in the stream, not as exceptions.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from shipchat.core.messages import (
    AssistantMessage,
    Failure,
    Json,
    Message,
    ToolCallPart,
    Usage,
    UserMessage,
)

# --- Both in a provider's stream and in a turn's ---


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the reply in flight."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    text: str

    @property
    def message(self) -> str:
        """The text itself."""
        return self.text


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks before it answers."""

    type: ClassVar[Literal["reasoning_delta"]] = "reasoning_delta"
    text: str

    @property
    def message(self) -> str:
        """The text itself."""
        return self.text


# --- A provider's stream only ---


@dataclass(frozen=True, slots=True)
class ReasoningSealed:
    """The provider's opaque form of the reasoning that has just streamed, to be replayed to it."""

    provider: str
    sealed: Json


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model wants a tool run; the arguments are complete JSON text."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class StreamEnded:
    """The provider's own word that the reply is whole: always the last. A stream that merely stops is a failure."""

    stop_reason: str
    usage: Usage | None = None


StreamEvent: TypeAlias = TextDelta | ReasoningDelta | ReasoningSealed | ToolCalled | Usage | StreamEnded


# --- A turn's stream only ---


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The prompt is on disk; `prompt` is None when an interrupted reply is continued or a reply is made anew."""

    type: ClassVar[Literal["turn_started"]] = "turn_started"
    key: str
    model: str
    prompt: UserMessage | None
    position: int

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"{self.model} is asked"


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """A model call began; the reply will have this id and position. A turn with tools has several."""

    type: ClassVar[Literal["reply_started"]] = "reply_started"
    reply_id: str
    position: int
    model: str
    parent: str | None = None

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"{self.model} is replying"


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool runs."""

    type: ClassVar[Literal["tool_call_started"]] = "tool_call_started"
    call: ToolCallPart

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"{self.call.name} is running"


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """A tool is done; its result is on disk."""

    type: ClassVar[Literal["tool_call_finished"]] = "tool_call_finished"
    call: ToolCallPart

    @property
    def message(self) -> str:
        """A sentence for a human."""
        failed = self.call.result is not None and self.call.result.is_error
        return f"{self.call.name} failed" if failed else f"{self.call.name} is done"


@dataclass(frozen=True, slots=True)
class UsageUpdated:
    """The provider reported tokens."""

    type: ClassVar[Literal["usage_updated"]] = "usage_updated"
    usage: Usage

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"{self.usage.input_tokens:,} tokens in, {self.usage.output_tokens:,} out"


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The call failed before any text came and will be made again in `delay` seconds, as try number `attempt`."""

    type: ClassVar[Literal["retry_scheduled"]] = "retry_scheduled"
    attempt: int
    delay: float
    failure: Failure

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"{self.failure.message}; trying again in {self.delay:.0f} s"


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """Older turns are being summarised; `pieces` calls at most, of which number `piece` begins: each is told."""

    type: ClassVar[Literal["compaction_started"]] = "compaction_started"
    tokens_before: int
    pieces: int = 1
    piece: int = 1

    @property
    def message(self) -> str:
        """A sentence for a human."""
        part = f" (part {self.piece} of {self.pieces})" if self.pieces > 1 else ""
        return f"summarising {self.tokens_before:,} tokens of older turns{part}"


@dataclass(frozen=True, slots=True)
class CompactionFinished:
    """Summarising ended; `checkpoint` is None when it changed nothing, and `failure` says why."""

    type: ClassVar[Literal["compaction_finished"]] = "compaction_finished"
    checkpoint: str | None
    tokens_before: int
    tokens_after: int
    failure: Failure | None = None

    @property
    def message(self) -> str:
        """A sentence for a human."""
        if self.failure is not None:
            return f"older turns were not summarised: {self.failure.message}"
        return f"older turns summarised: {self.tokens_before:,} to {self.tokens_after:,} tokens"


@dataclass(frozen=True, slots=True)
class MessageSaved:
    """This message is on disk."""

    type: ClassVar[Literal["message_saved"]] = "message_saved"
    saved: Message
    position: int

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return f"message {self.position} is saved"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; `about` is a stable word such as `not_saved`, `older_turns_left_out`."""

    type: ClassVar[Literal["notice"]] = "notice"
    about: str
    message: str
    details: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnCompleted:
    """The reply is whole and on disk."""

    type: ClassVar[Literal["turn_completed"]] = "turn_completed"
    reply: AssistantMessage

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return "the reply is complete"


@dataclass(frozen=True, slots=True)
class TurnInterrupted:
    """The user stopped the reply; what had arrived is on disk (None: nothing had)."""

    type: ClassVar[Literal["turn_interrupted"]] = "turn_interrupted"
    reply: AssistantMessage | None

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return "interrupted; what had arrived is saved"


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn failed; `reply` holds what had arrived, if anything; `saved` says whether that is on disk."""

    type: ClassVar[Literal["turn_failed"]] = "turn_failed"
    failure: Failure
    reply: AssistantMessage | None
    advice: tuple[str, ...] = ()
    exit_code: int = 7
    saved: bool = True

    @property
    def message(self) -> str:
        """A sentence for a human."""
        return self.failure.message


LastEvent: TypeAlias = TurnCompleted | TurnInterrupted | TurnFailed

SessionEvent: TypeAlias = (
    TurnStarted
    | ReplyStarted
    | TextDelta
    | ReasoningDelta
    | ToolCallStarted
    | ToolCallFinished
    | UsageUpdated
    | RetryScheduled
    | CompactionStarted
    | CompactionFinished
    | MessageSaved
    | Notice
    | LastEvent
)


# --- What happens to sessions as a whole: what a sidebar follows ---


@dataclass(frozen=True, slots=True)
class SessionCreated:
    """A session appeared, here or in another process."""

    type: ClassVar[Literal["session_created"]] = "session_created"
    key: str


@dataclass(frozen=True, slots=True)
class SessionUpdated:
    """A session changed: messages, title, tags, hold."""

    type: ClassVar[Literal["session_updated"]] = "session_updated"
    key: str


@dataclass(frozen=True, slots=True)
class SessionRemoved:
    """A session went to the trash."""

    type: ClassVar[Literal["session_removed"]] = "session_removed"
    key: str


SessionChange: TypeAlias = SessionCreated | SessionUpdated | SessionRemoved
