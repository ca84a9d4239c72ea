"""The Messages protocol of Anthropic: a request as JSON bytes. The reply is read by `anthropic_reply`.

Other servers speak it too (llama.cpp, gateways). Each request is the one before with something added at its end, so
that its prefix is read from the vendor's cache.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from shipchat.core.context import CONTINUE
from shipchat.core.messages import AttachmentPart, Part, ReasoningPart, TextPart, ToolCallPart
from shipchat.core.protocols import ModelRequest, ToolSpec
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.attachments import attachment
from shipchat.providers.decoding import nothing_to_send
from shipchat.providers.limits import Limits
from shipchat.providers.sending import for_provider
from shipchat.providers.tool_calls import CallIds, arguments_of, failed, name_of, result_of

PATH: Final = "/v1/messages"

OPENING: Final = "(The conversation so far begins with your own words.)"
"""Sent first when the oldest message is the assistant's: the first one has to be a user's."""

_GONE: Final = "No longer available."


def request_body(request: ModelRequest, limits: Limits) -> bytes:
    """Return the JSON of a streaming request. Blocks (attachments). Raises ProviderRejected when nothing is left to send."""
    messages = _messages(request, limits)
    if not messages:
        raise nothing_to_send()
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": max(1, request.max_tokens or limits.max_output),
        "stream": True,
        "cache_control": {"type": "ephemeral"},
    }
    if request.system.strip():
        body["system"] = without_surrogates(request.system)
    called = dict.fromkeys(
        name_of(part)
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolCallPart)
    )
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    elif called:
        # Calls in the history are refused unless the request has tools.
        body["tools"] = [_tool(ToolSpec(name, _GONE, {"type": "object"})) for name in called]
        body["tool_choice"] = {"type": "none"}
    if limits.known is not None and limits.known.thinking == "adaptive":
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if limits.server.effort is not None:
        body["output_config"] = {"effort": limits.server.effort}
    body["messages"] = messages
    return msgspec.json.encode(body)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.schema}


def _messages(request: ModelRequest, limits: Limits) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    ids = CallIds()
    for sent in for_provider(request.messages, limits.server.name, reasoning=limits.reasoning):
        if sent.role == "user":
            _add_user(messages, _user_blocks(sent.parts, limits))
            continue
        if not messages:
            _add_user(messages, [_text(OPENING)])
        calls = [(part, ids.take(part)) for part in sent.parts if isinstance(part, ToolCallPart)]
        names = iter(calls)
        blocks = [
            _call(*next(names)) if isinstance(part, ToolCallPart) else _said(part) for part in sent.parts
        ]
        messages.append({"role": "assistant", "content": blocks})
        if calls:
            _add_user(messages, [_result(call, call_id) for call, call_id in calls])
    if messages and messages[-1]["role"] == "assistant":
        _add_user(messages, [_text(CONTINUE)])  # the last word has to be a user's
    return messages


def _add_user(messages: list[dict[str, Any]], blocks: list[dict[str, Any]]) -> None:
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": "user", "content": blocks})


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _said(part: Part) -> dict[str, Any]:
    match part:
        case ReasoningPart(text=text, sealed={"signature": str() as signature}):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ReasoningPart(sealed=sealed):
            return {
                "type": "redacted_thinking",
                "data": sealed["data"] if isinstance(sealed, dict) else sealed,
            }
        case TextPart(text=text):
            return _text(text)
        case _:
            raise TypeError(f"{type(part).__name__} is not sent in a reply")


def _call(call: ToolCallPart, call_id: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name_of(call),
        "input": msgspec.Raw(arguments_of(call)),
    }


def _result(call: ToolCallPart, call_id: str) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": result_of(call)}
    if failed(call):
        block["is_error"] = True
    return block


def _user_blocks(parts: Iterable[Part], limits: Limits) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case TextPart(text=text):
                blocks.append(_text(text))
            case AttachmentPart():
                blocks.append(_attached(part, limits))
            case _:
                pass
    return blocks


def _attached(part: AttachmentPart, limits: Limits) -> dict[str, Any]:
    sent = attachment(part, limits.server.blobs, images=limits.images)
    match sent.sort:
        case "text":
            return _text(sent.text)
        case "image":
            # msgspec writes bytes as base64.
            source = {"type": "base64", "media_type": sent.media_type, "data": sent.data}
            return {"type": "image", "source": source}
        case "pdf":
            source = {"type": "base64", "media_type": sent.media_type, "data": sent.data}
            return {"type": "document", "source": source, "title": sent.name}
