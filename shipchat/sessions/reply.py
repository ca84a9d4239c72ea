"""The reply in flight: folds what a provider streams into the parts of one assistant message."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from shipchat.core.drafts import ReplyDraft
from shipchat.core.events import (
    ReasoningDelta,
    ReasoningSealed,
    StreamEnded,
    StreamEvent,
    TextDelta,
    ToolCalled,
)
from shipchat.core.messages import (
    AssistantMessage,
    Failure,
    Part,
    ReasoningPart,
    ReplyStatus,
    TextPart,
    ToolCallPart,
    ToolResult,
    Usage,
)
from shipchat.core.safe_text import without_surrogates

UNKNOWN_OUTCOME: Final = ToolResult("outcome unknown (interrupted)", is_error=True)
"""The result of a call that was open when its turn ended: it may or may not have done its work."""


class Reply:
    """Collects deltas; costs the same a delta however long the reply is."""

    def __init__(self, reply_id: str, parent: str | None, model: str, at: datetime) -> None:
        self.id = reply_id
        self.parent = parent
        self.model = model
        self.at = at
        self.usage: Usage | None = None
        self.ended: StreamEnded | None = None
        self.has_text = False
        self.changes = 0  # grows with each delta: how a draft keeper sees that there is something new
        self._parts: list[Part] = []  # finished ones
        self._open: list[str] = []  # the pieces of the text or reasoning that grows
        self._open_is_reasoning = False

    def add(self, event: StreamEvent) -> None:
        """Take in one event of the provider's stream."""
        self.changes += 1
        match event:
            case TextDelta(text=text):
                self._grow(text, reasoning=False)
                self.has_text = self.has_text or bool(text)
            case ReasoningDelta(text=text):
                self._grow(text, reasoning=True)
            case ReasoningSealed(provider=provider, sealed=sealed):
                text = "".join(self._open) if self._open_is_reasoning else ""
                if self._open_is_reasoning:
                    self._open = []
                self._close()
                self._parts.append(ReasoningPart(without_surrogates(text), provider, sealed))
            case ToolCalled(call_id=call_id, name=name, arguments=arguments):
                self._close()
                self._parts.append(ToolCallPart(call_id, name, arguments))
            case Usage():
                self.usage = event
            case StreamEnded(usage=usage):
                self.usage = usage or self.usage
                self.ended = event

    def parts(self) -> tuple[Part, ...]:
        """Return what has arrived so far."""
        growing = self._growing()
        return (*self._parts, growing) if growing else tuple(self._parts)

    @property
    def has_calls(self) -> bool:
        """Whether the model wants tools run, or has had them run."""
        return any(isinstance(part, ToolCallPart) for part in self._parts)

    def open_calls(self) -> dict[int, ToolCallPart]:
        """Return the calls without a result by their place, which `finish_call` takes."""
        return {
            place: part
            for place, part in enumerate(self._parts)
            if isinstance(part, ToolCallPart) and part.result is None
        }

    def finish_call(self, place: int, result: ToolResult) -> ToolCallPart:
        """Put a result to the call at `place` and return both together."""
        part = self._parts[place]
        if not isinstance(part, ToolCallPart):
            raise TypeError(f"part {place} is no call of a tool")
        finished = replace(part, result=result)
        self._parts[place] = finished
        self.changes += 1
        return finished

    def draft(self) -> ReplyDraft:
        """Return what to keep on disk while the reply grows and its tools run."""
        return ReplyDraft(self.id, self.parent, self.model, self.at, self.parts())

    def message(self, status: ReplyStatus, failure: Failure | None = None) -> AssistantMessage:
        """Return the reply as a message; no call in it stays open."""
        return AssistantMessage(
            id=self.id,
            parent=self.parent,
            at=self.at,
            parts=_closed(self.parts()),
            model=self.model,
            status=status,
            stop_reason=self.ended.stop_reason if self.ended else None,
            usage=self.usage,
            failure=failure,
        )

    def _grow(self, text: str, *, reasoning: bool) -> None:
        if reasoning != self._open_is_reasoning:
            self._close()
            self._open_is_reasoning = reasoning
        self._open.append(text)

    def _growing(self) -> TextPart | ReasoningPart | None:
        text = without_surrogates("".join(self._open))
        if not text:
            return None
        return ReasoningPart(text) if self._open_is_reasoning else TextPart(text)

    def _close(self) -> None:
        growing = self._growing()
        if growing is not None:
            self._parts.append(growing)
        self._open = []


def interrupted_message(draft: ReplyDraft) -> AssistantMessage:
    """Return the message that a reply becomes whose process is gone: what had arrived, marked interrupted."""
    return AssistantMessage(
        id=draft.id,
        parent=draft.parent,
        at=draft.at,
        parts=_closed(draft.parts),
        model=draft.model,
        status="interrupted",
    )


def _closed(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(
        replace(part, result=UNKNOWN_OUTCOME)
        if isinstance(part, ToolCallPart) and part.result is None
        else part
        for part in parts
    )
