"""The wire of the local model: a request as JSON bytes, reply bytes as stream events. Opens no connection itself."""

import re
from typing import Final

import msgspec

from shipchat.core.errors import (
    ContextOverflow,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    ShipchatError,
)
from shipchat.core.events import ReasoningDelta, StreamEnded, StreamEvent, TextDelta
from shipchat.core.messages import Usage
from shipchat.core.protocols import ModelRequest
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.sending import normalised
from shipchat.providers.sse import SseSplitter, SseTooLarge

DEFAULT_MAX_TOKENS: Final = 1024
"""Longest reply when the request sets no limit: small models fall into loops and would fill their window."""

# Figures that suit small models: measured with SmolLM2-135M; a repeat penalty made its code worse.
_TEMPERATURE: Final = 0.2
_TOP_P: Final = 0.9

# What chat templates put between messages. llama.cpp reads them inside a message as if the template had put them
# there, so a text could end its own message and speak as the system. A space in them makes them text again.
_TEMPLATE_MARK: Final = re.compile(r"<(?=\|\w+\|>|(?:start|end)_of_turn>)")


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _CachedTokens(msgspec.Struct):
    cached_tokens: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _CachedTokens | None = None


class _Error(msgspec.Struct):
    message: str = ""
    type: str = ""
    n_prompt_tokens: int | None = None
    n_ctx: int | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: _Error | None = None


_CHUNK: Final = msgspec.json.Decoder(_Chunk)


def request_body(request: ModelRequest, *, window: int) -> bytes:
    """Return the JSON of a streaming chat completion for `request`; `window` is the server's context in tokens.

    Only text is sent, and no tools: models of this size can't use them. Raises ProviderRejected when nothing is
    left to send.
    """
    messages = [
        {"role": message.role, "content": _as_text(message.text)} for message in normalised(request.messages)
    ]
    if not messages:
        raise ProviderRejected("there is nothing to send: no message has any text")
    if request.system.strip():
        messages.insert(0, {"role": "system", "content": _as_text(without_surrogates(request.system))})
    limit = DEFAULT_MAX_TOKENS if request.max_tokens is None else request.max_tokens
    return msgspec.json.encode(
        {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": max(1, min(limit, window)),
            "temperature": _TEMPERATURE,
            "top_p": _TOP_P,
            "cache_prompt": True,
        }
    )


def _as_text(text: str) -> str:
    return _TEMPLATE_MARK.sub("< ", text)


class ReplyDecoder:
    """Turns the bytes of one reply into events: StreamEnded comes only after a finish reason and `[DONE]`."""

    def __init__(self) -> None:
        self._splitter = SseSplitter()
        self._stop_reason: str | None = None
        self._usage: Usage | None = None
        self.ended = False

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """Return the events that `chunk` completed; nothing after StreamEnded.

        Raises ProviderUnavailable for what is no such stream, and what an error inside the stream stands for.
        """
        if self.ended:
            return []
        try:
            data = self._splitter.feed(chunk)
        except SseTooLarge:
            raise broken_off("an event without an end") from None
        events: list[StreamEvent] = []
        for item in data:
            if item == b"[DONE]":
                if self._stop_reason is None:
                    raise broken_off("it was said to be done without a reason to stop")
                self.ended = True
                events.append(StreamEnded(self._stop_reason, self._usage))
                break
            self._take(item, events)
        return events

    def finish(self) -> None:
        """Raise ProviderUnavailable unless the reply has ended by the server's own word."""
        if not self.ended:
            raise broken_off("the server closed it before the reply was whole")

    def _take(self, data: bytes, events: list[StreamEvent]) -> None:
        try:
            chunk = _CHUNK.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise broken_off("a piece of it can't be read") from None
        if chunk.error is not None:
            raise _meaning(chunk.error)
        for choice in chunk.choices[:1]:
            if choice.delta.reasoning_content:
                events.append(ReasoningDelta(choice.delta.reasoning_content))
            if choice.delta.content:
                events.append(TextDelta(choice.delta.content))
            if choice.finish_reason is not None:
                self._stop_reason = choice.finish_reason
        if chunk.usage is not None:
            cached = chunk.usage.prompt_tokens_details
            self._usage = Usage(
                input_tokens=chunk.usage.prompt_tokens,
                output_tokens=chunk.usage.completion_tokens,
                cache_read_tokens=0 if cached is None else cached.cached_tokens,
            )


def broken_off(how: str) -> ProviderUnavailable:
    """Return the error of a reply that stopped before its end; `how` completes the sentence."""
    return ProviderUnavailable(f"the stream broke off: {how}", retryable=True)


def refusal(status: int, body: bytes) -> ShipchatError:
    """Return the error that an HTTP answer other than 200 stands for."""
    try:
        error = _CHUNK.decode(body).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        error = None
    if error is None:
        return ProviderUnavailable(f"the local model's server answered with HTTP status {status}")
    if status >= 500 and error.type != "exceed_context_size_error":
        return ProviderUnavailable(f"the local model failed: {error.message}", retryable=True)
    return _meaning(error)


def _meaning(error: _Error) -> ShipchatError:
    match error.type:
        case "exceed_context_size_error":
            return ContextOverflow(
                f"the request has {error.n_prompt_tokens} tokens, more than the local model's window of {error.n_ctx}",
                advice=("Compact the session, start a new one, or choose a model with a larger window.",),
                details={"tokens": error.n_prompt_tokens, "window": error.n_ctx},
            )
        case "invalid_request_error" | "not_supported_error":
            return ProviderRejected(f"the local model refuses the request: {error.message}")
        case "unavailable_error":
            return ProviderUnavailable(f"the local model is not ready: {error.message}", retryable=True)
        case _:
            return ProviderError(f"the local model failed: {error.message}")
