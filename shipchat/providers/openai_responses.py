"""The Responses protocol of OpenAI: a request as JSON bytes, the data of events as ours. Opens no connection.

Nothing is kept at the vendor (`store` is false), so each request holds the whole conversation, the model's sealed
reasoning included.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from shipchat.core.events import (
    ReasoningDelta,
    ReasoningSealed,
    StreamEnded,
    StreamEvent,
    TextDelta,
    ToolCalled,
)
from shipchat.core.messages import AttachmentPart, Json, Part, ReasoningPart, TextPart, ToolCallPart, Usage
from shipchat.core.protocols import ModelRequest
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.attachments import attachment
from shipchat.providers.data_urls import data_url
from shipchat.providers.decoding import decode, nothing_to_send
from shipchat.providers.failures import Failures, Refusal
from shipchat.providers.limits import Limits
from shipchat.providers.sending import SentMessage, for_provider
from shipchat.providers.tool_calls import CallIds, arguments_of, name_of, result_of

PATH: Final = "/responses"

LEAST_OUTPUT: Final = 16
"""The smallest `max_output_tokens` that the vendor takes."""


def request_body(request: ModelRequest, limits: Limits) -> bytes:
    """Return the JSON of a streaming request. Blocks (attachments). Raises ProviderRejected when nothing is left to send."""
    items: list[dict[str, Any]] = []
    ids = CallIds()
    for sent in for_provider(request.messages, limits.server.name, reasoning=limits.reasoning):
        items += _user(sent, limits) if sent.role == "user" else _assistant(sent, ids)
    if not items:
        raise nothing_to_send()
    body: dict[str, Any] = {"model": request.model, "stream": True, "store": False}
    if request.system.strip():
        body["instructions"] = without_surrogates(request.system)
    if request.max_tokens is not None:
        body["max_output_tokens"] = max(LEAST_OUTPUT, request.max_tokens)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.schema,
                "strict": False,
            }
            for spec in request.tools
        ]
    if limits.known is None or limits.known.thinking:
        body["include"] = ["reasoning.encrypted_content"]
    if limits.server.effort is not None:
        body["reasoning"] = {"effort": limits.server.effort}
    body["input"] = items
    return msgspec.json.encode(body)


def _user(sent: SentMessage, limits: Limits) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in sent.parts:
        match part:
            case TextPart(text=text):
                content.append({"type": "input_text", "text": text})
            case AttachmentPart():
                content.append(_attached(part, limits))
            case _:
                pass
    return [{"role": "user", "content": content}] if content else []


def _attached(part: AttachmentPart, limits: Limits) -> dict[str, Any]:
    sent = attachment(part, limits.server.blobs, images=limits.images)
    match sent.sort:
        case "text":
            return {"type": "input_text", "text": sent.text}
        case "image":
            return {"type": "input_image", "image_url": data_url(sent)}
        case "pdf":
            return {"type": "input_file", "filename": sent.name, "file_data": data_url(sent)}


def _assistant(sent: SentMessage, ids: CallIds) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for part in sent.parts:
        item = _item(part, ids, results)
        if item is not None:
            items.append(item)
    return items + results


def _item(part: Part, ids: CallIds, results: list[dict[str, Any]]) -> dict[str, Any] | None:
    match part:
        case ReasoningPart(sealed=dict() as sealed):
            return {"type": "reasoning", "summary": [], **sealed}
        case TextPart(text=text):
            return {"role": "assistant", "content": text}
        case ToolCallPart():
            call_id = ids.take(part)
            results.append({"type": "function_call_output", "call_id": call_id, "output": result_of(part)})
            return {
                "type": "function_call",
                "call_id": call_id,
                "name": name_of(part),
                "arguments": arguments_of(part).decode(),
            }
        case _:
            return None


class _Item(msgspec.Struct):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    encrypted_content: str | None = None
    summary: Any = None


class _InputDetails(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Error(msgspec.Struct):
    code: Any = None
    message: Any = None


class _Incomplete(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    usage: _Usage | None = None
    error: _Error | None = None
    incomplete_details: _Incomplete | None = None


class _Event(msgspec.Struct):
    type: str = ""
    delta: Any = None
    item: _Item | None = None
    response: _Response | None = None
    summary_index: int = 0
    code: Any = None
    message: Any = None


_EVENT: Final = msgspec.json.Decoder(_Event)


class Reply:
    """Reads the events of one reply; implements `decoding.ReplyReader`."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.ended = False
        self._failures = failures
        self._model = model
        self._called = False
        self._refused = False

    def read(self, data: bytes) -> Iterable[StreamEvent]:
        """Return what the data of one event says. Raises as `decoding.ReplyReader.read`."""
        event = decode(_EVENT, data)
        match event.type:
            case "response.output_text.delta":
                return (TextDelta(event.delta),) if event.delta else ()
            case "response.refusal.delta":
                self._refused = True
                return (TextDelta(event.delta),) if event.delta else ()
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (ReasoningDelta(event.delta),) if event.delta else ()
            case "response.reasoning_summary_part.added" if event.summary_index > 0:
                return (ReasoningDelta("\n\n"),)
            case "response.output_item.done" if event.item is not None:
                return self._done(event.item)
            case "response.completed":
                reason = "tool_calls" if self._called else "refusal" if self._refused else "stop"
                return self._end(reason, event.response)
            case "response.incomplete":
                details = event.response.incomplete_details if event.response else None
                return self._end((details and details.reason) or "incomplete", event.response)
            case "response.failed":
                error = (event.response and event.response.error) or _Error()
                raise self._failures.of(_refusal(error.code, error.message), self._model)
            case "error":
                raise self._failures.of(_refusal(event.code, event.message), self._model)
            case "response.cancelled":
                raise self._failures.broken_off("the provider cancelled it")
            case _:
                return ()  # what has no meaning for us, or what a later version of the protocol adds

    def finish(self) -> Iterable[StreamEvent]:
        """Return nothing: only its own last event ends a reply."""
        return ()

    def _done(self, item: _Item) -> Iterable[StreamEvent]:
        match item.type:
            case "reasoning" if item.encrypted_content:
                sealed: Json = {
                    "id": item.id,
                    "summary": item.summary if isinstance(item.summary, list) else [],
                    "encrypted_content": item.encrypted_content,
                }
                return (ReasoningSealed(self._failures.server.name, sealed),)
            case "function_call":
                self._called = True
                return (ToolCalled(item.call_id or item.id or "", item.name or "", item.arguments or "{}"),)
            case _:
                return ()

    def _end(self, reason: str, response: _Response | None) -> Iterable[StreamEvent]:
        self.ended = True
        usage = response.usage if response else None
        return (StreamEnded(reason, None if usage is None else _usage(usage)),)


def _usage(usage: _Usage) -> Usage:
    into, out = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=(into.cached_tokens or 0) if into else 0,
        cache_write_tokens=(into.cache_write_tokens or 0) if into else 0,
        reasoning_tokens=(out.reasoning_tokens or 0) if out else 0,
    )


def _refusal(code: object, message: object) -> Refusal:
    return Refusal(200, str(code or ""), str(message or ""))
