"""The Messages protocol of Anthropic: the data of a reply's events as ours. Requests are `anthropic_messages`."""

from collections.abc import Iterable
from typing import Final

import msgspec

from shipchat.core.errors import ShipchatError
from shipchat.core.events import (
    ReasoningDelta,
    ReasoningSealed,
    StreamEnded,
    StreamEvent,
    TextDelta,
    ToolCalled,
)
from shipchat.core.messages import Json, Usage
from shipchat.providers.decoding import decode
from shipchat.providers.failures import Failures, Refusal


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw()


class _OutputDetails(msgspec.Struct):
    thinking_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _Message(msgspec.Struct):
    usage: _Usage | None = None


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: _Block | None = None
    message: _Message | None = None
    usage: _Usage | None = None
    error: _Error | None = None


_EVENT: Final = msgspec.json.Decoder(_Event)


class Reply:
    """Reads the events of one reply; implements `decoding.ReplyReader`."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.ended = False
        self._failures = failures
        self._model = model
        self._open: dict[int, _Block] = {}
        self._arguments: list[str] = []
        self._usage = _Usage()
        self._stop_reason: str | None = None

    def read(self, data: bytes) -> Iterable[StreamEvent]:
        """Return what the data of one event says. Raises as `decoding.ReplyReader.read`."""
        event = decode(_EVENT, data)
        match event.type:
            case "content_block_delta" if event.delta is not None:
                return self._grown(event.index, event.delta)
            case "content_block_start" if event.content_block is not None:
                self._open[event.index] = event.content_block
                self._arguments = []
                return self._begun(event.content_block)
            case "content_block_stop":
                return self._closed(self._open.pop(event.index, None))
            case "message_start" if event.message is not None and event.message.usage is not None:
                self._count(event.message.usage)
                return (self._usage_so_far(),)
            case "message_delta":
                if event.delta is not None and event.delta.stop_reason is not None:
                    self._stop_reason = event.delta.stop_reason
                if event.usage is not None:
                    self._count(event.usage)
                return ()
            case "message_stop":
                if self._stop_reason is None:
                    raise self._failures.broken_off("it was said to be done without a reason to stop")
                self.ended = True
                return (StreamEnded(self._stop_reason, self._usage_so_far()),)
            case "error":
                raise self._error(event.error or _Error())
            case _:
                return ()  # a ping, or what a later version of the protocol adds

    def finish(self) -> Iterable[StreamEvent]:
        """Return nothing: only its own last event ends a reply."""
        return ()

    def _begun(self, block: _Block) -> Iterable[StreamEvent]:
        if block.type == "text" and block.text:
            return (TextDelta(block.text),)
        if block.type == "thinking" and block.thinking:
            return (ReasoningDelta(block.thinking),)
        return ()

    def _grown(self, index: int, delta: _Delta) -> Iterable[StreamEvent]:
        match delta.type:
            case "text_delta":
                return (TextDelta(delta.text),) if delta.text else ()
            case "thinking_delta":
                return (ReasoningDelta(delta.thinking),) if delta.thinking else ()
            case "signature_delta":
                if index in self._open:
                    self._open[index].signature += delta.signature
            case "input_json_delta":
                self._arguments.append(delta.partial_json)
        return ()

    def _closed(self, block: _Block | None) -> Iterable[StreamEvent]:
        if block is None:
            return ()
        provider = self._failures.server.name
        match block.type:
            case "thinking" if block.signature:
                return (ReasoningSealed(provider, {"signature": block.signature}),)
            case "redacted_thinking":
                sealed: Json = {"data": block.data}
                return (ReasoningSealed(provider, sealed),)
            case "tool_use":
                given = bytes(block.input).decode() if bytes(block.input) else "{}"
                return (ToolCalled(block.id, block.name, "".join(self._arguments).strip() or given),)
        return ()

    def _count(self, usage: _Usage) -> None:
        # Later figures are totals, not additions; one that is left out stays as it was.
        mine = self._usage
        for name in usage.__struct_fields__:
            value = getattr(usage, name)
            if value is not None:
                setattr(mine, name, value)

    def _usage_so_far(self) -> Usage:
        mine = self._usage
        read, written = mine.cache_read_input_tokens or 0, mine.cache_creation_input_tokens or 0
        details = mine.output_tokens_details
        return Usage(
            input_tokens=(mine.input_tokens or 0) + read + written,
            output_tokens=mine.output_tokens or 0,
            cache_read_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=(details.thinking_tokens or 0) if details else 0,
        )

    def _error(self, error: _Error) -> ShipchatError:
        return self._failures.of(Refusal(200, error.type, error.message), self._model)
