"""The chat completions protocol, which nearly every server speaks: a request as JSON bytes, the data of events as ours.

Opens no connection. What differs between servers is met with tolerance: where they put what a model thinks, whether
they number the calls of tools, whether `[DONE]` comes.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from shipchat.core.events import ReasoningDelta, StreamEnded, StreamEvent, TextDelta, ToolCalled
from shipchat.core.messages import AttachmentPart, TextPart, ToolCallPart, Usage
from shipchat.core.protocols import ModelRequest
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.attachments import attachment
from shipchat.providers.data_urls import data_url
from shipchat.providers.decoding import decode, nothing_to_send
from shipchat.providers.failures import Failures, Refusal
from shipchat.providers.limits import Limits
from shipchat.providers.sending import SentMessage, for_provider
from shipchat.providers.tool_calls import CallIds, arguments_of, name_of, result_of

PATH: Final = "/chat/completions"


def request_body(request: ModelRequest, limits: Limits) -> bytes:
    """Return the JSON of a streaming request. Blocks (attachments). Raises ProviderRejected when nothing is left to send."""
    messages: list[dict[str, Any]] = []
    ids = CallIds()
    for sent in for_provider(request.messages, limits.server.name, reasoning=False):
        messages += [_user(sent, limits)] if sent.role == "user" else _assistant(sent, ids)
    if not messages:
        raise nothing_to_send()
    if request.system.strip():
        messages.insert(0, {"role": "system", "content": without_surrogates(request.system)})
    body: dict[str, Any] = {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_tokens is not None:
        body["max_tokens"] = max(1, request.max_tokens)
    if limits.server.effort is not None:
        body["reasoning_effort"] = limits.server.effort
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": spec.name, "description": spec.description, "parameters": spec.schema},
            }
            for spec in request.tools
        ]
    body["messages"] = messages
    return msgspec.json.encode(body)


def _user(sent: SentMessage, limits: Limits) -> dict[str, Any]:
    if all(isinstance(part, TextPart) for part in sent.parts):
        return {"role": "user", "content": sent.text}
    content: list[dict[str, Any]] = []
    for part in sent.parts:
        match part:
            case TextPart(text=text):
                content.append({"type": "text", "text": text})
            case AttachmentPart():
                content.append(_attached(part, limits))
            case _:
                pass
    return {"role": "user", "content": content}


def _attached(part: AttachmentPart, limits: Limits) -> dict[str, Any]:
    sent = attachment(part, limits.server.blobs, images=limits.images)
    match sent.sort:
        case "text":
            return {"type": "text", "text": sent.text}
        case "image":
            return {"type": "image_url", "image_url": {"url": data_url(sent)}}
        case "pdf":
            return {"type": "file", "file": {"filename": sent.name, "file_data": data_url(sent)}}


def _assistant(sent: SentMessage, ids: CallIds) -> list[dict[str, Any]]:
    calls = [(part, ids.take(part)) for part in sent.parts if isinstance(part, ToolCallPart)]
    message: dict[str, Any] = {"role": "assistant", "content": sent.text}
    if not calls:
        return [message]
    message["tool_calls"] = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name_of(call), "arguments": arguments_of(call).decode()},
        }
        for call, call_id in calls
    ]
    results = [
        {"role": "tool", "tool_call_id": call_id, "content": result_of(call)} for call, call_id in calls
    ]
    return [message, *results]


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _InputDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Error(msgspec.Struct):
    message: Any = None
    type: Any = None
    code: Any = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: _Error | str | None = None


_CHUNK: Final = msgspec.json.Decoder(_Chunk)


class _OpenCall:
    """A call of a tool whose arguments are still coming."""

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.name = ""
        self.arguments: list[str] = []


class Reply:
    """Reads the events of one reply; implements `decoding.ReplyReader`."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.ended = False
        self._failures = failures
        self._model = model
        self._stop_reason: str | None = None
        self._usage: Usage | None = None
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}

    def read(self, data: bytes) -> Iterable[StreamEvent]:
        """Return what the data of one event says. Raises as `decoding.ReplyReader.read`."""
        if data == b"[DONE]":
            ended = self.finish()
            if not ended:
                raise self._failures.broken_off("it was said to be done without a reason to stop")
            return ended
        chunk = decode(_CHUNK, data)
        if chunk.error is not None:
            raise self._failures.of(_refusal(chunk.error), self._model)
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        for choice in chunk.choices[:1] if chunk.choices else ():
            if choice.finish_reason:
                self._stop_reason = choice.finish_reason
            if choice.delta is not None:
                return self._grown(choice.delta)
        return ()

    def finish(self) -> Iterable[StreamEvent]:
        """Return the end of a reply whose reason to stop has come: not every server says `[DONE]`."""
        if self._stop_reason is None:
            return ()
        self.ended = True
        calls = [
            ToolCalled(call.id, call.name, "".join(call.arguments).strip() or "{}") for call in self._calls
        ]
        return (*calls, StreamEnded(self._stop_reason, self._usage))

    def _grown(self, delta: _Delta) -> Iterable[StreamEvent]:
        thought = delta.reasoning_content or delta.reasoning
        text = delta.content or delta.refusal
        if delta.tool_calls:
            for call in delta.tool_calls:
                self._call(call)
        if thought:
            return (ReasoningDelta(thought), TextDelta(text)) if text else (ReasoningDelta(thought),)
        return (TextDelta(text),) if text else ()

    def _call(self, piece: _Call) -> None:
        index = (
            piece.index
            if piece.index is not None
            else (len(self._calls) if piece.id else len(self._calls) - 1)
        )
        call = self._by_index.get(index)
        if call is None or (piece.id and call.id and piece.id != call.id):
            # Some servers give every call the number 0; a new identifier tells that it is another one.
            call = self._by_index[index] = _OpenCall(piece.id or f"call_{len(self._calls)}")
            self._calls.append(call)
        if piece.function is not None:
            call.name += piece.function.name or ""
            call.arguments.append(piece.function.arguments or "")


def _usage(usage: _Usage) -> Usage:
    into, out = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cache_read_tokens=(into.cached_tokens or 0) if into else 0,
        reasoning_tokens=(out.reasoning_tokens or 0) if out else 0,
    )


def _refusal(error: _Error | str) -> Refusal:
    if isinstance(error, str):
        return Refusal(200, "", error)
    # Some gateways pass on the status they met as the code.
    status = error.code if isinstance(error.code, int) and 400 <= error.code < 600 else 200
    return Refusal(status, f"{error.type or ''} {error.code or ''}".strip(), str(error.message or ""))
