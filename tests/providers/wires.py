"""The three protocols as a server speaks them: the events of a whole reply, for tests that cut and spoil them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from shipchat.core.events import StreamEnded, StreamEvent, TextDelta
from shipchat.core.messages import AssistantMessage, Message, Part, TextPart, Usage, UserMessage
from shipchat.core.protocols import ModelRequest
from shipchat.providers import anthropic, openai
from shipchat.providers.remote import ChatProtocol, RemoteProvider
from shipchat.providers.server import Server

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = "some-model"
KEY = "sk-CANARY-0123456789abcdef"


def event(value: dict[str, Any], *, named: bool = True) -> bytes:
    name = f"event: {value['type']}\n" if named else ""
    return f"{name}data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def user(*parts: Part | str, name: str = "u") -> UserMessage:
    return UserMessage(id=name, parent=None, at=NOW, parts=_parts(parts))


def assistant(*parts: Part | str, **more: Any) -> AssistantMessage:
    return AssistantMessage(id="a", parent=None, at=NOW, parts=_parts(parts), model="x/y", **more)


def _parts(parts: Sequence[Part | str]) -> tuple[Part, ...]:
    return tuple(TextPart(part) if isinstance(part, str) else part for part in parts)


def request(*messages: Message, **more: Any) -> ModelRequest:
    return ModelRequest(
        model=MODEL, system=more.pop("system", ""), messages=messages or (user("Hi"),), **more
    )


@dataclass(frozen=True)
class Wire:
    """One protocol: `head`, then a `token` each, then `tail`; `overload` is an error inside the stream."""

    name: str
    kind: str
    protocol: ChatProtocol
    client: Callable[..., Any]
    head: tuple[bytes, ...]
    token: Callable[[str], bytes]
    tail: tuple[bytes, ...]
    overload: bytes
    ended: StreamEnded
    base: str = ""

    def reply(self, *tokens: str) -> list[bytes]:
        return [*self.head, *(self.token(one) for one in tokens), *self.tail]

    def server(self, url: str, **more: Any) -> Server:
        given = {"name": "vendor", "key": lambda: KEY, "key_variable": "VENDOR_KEY", "stall": 5.0, **more}
        return Server(kind=self.kind, base_url=url + self.base, **given)  # type: ignore[arg-type]

    def provider(self, url: str, **more: Any) -> RemoteProvider:
        return RemoteProvider(self.server(url, **more), self.protocol, self.client)


ANTHROPIC = Wire(
    "anthropic",
    "anthropic",
    anthropic._MESSAGES,
    anthropic._client,
    (
        event(
            {
                "type": "message_start",
                "message": {"id": "m", "usage": {"input_tokens": 5, "cache_read_input_tokens": 20}},
            }
        ),
        event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        event({"type": "ping"}),
    ),
    lambda text: event(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    ),
    (
        event({"type": "content_block_stop", "index": 0}),
        event(
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": 7},
            }
        ),
        event({"type": "message_stop"}),
    ),
    event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    StreamEnded("end_turn", Usage(input_tokens=25, output_tokens=7, cache_read_tokens=20)),
)

_RESPONSE_USAGE = {
    "input_tokens": 25,
    "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 0},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 32,
}

RESPONSES = Wire(
    "responses",
    "openai",
    openai._RESPONSES,
    openai._client,
    (
        event({"type": "response.created", "response": {"id": "r", "usage": None, "error": None}}),
        event(
            {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i"}}
        ),
    ),
    lambda text: event({"type": "response.output_text.delta", "item_id": "i", "delta": text, "logprobs": []}),
    (
        event({"type": "response.output_text.done", "item_id": "i", "text": "…"}),
        event({"type": "response.output_item.done", "item": {"type": "message", "id": "i", "content": []}}),
        event({"type": "response.completed", "response": {"id": "r", "usage": _RESPONSE_USAGE}}),
    ),
    event({"type": "error", "code": "server_error", "message": "Overloaded"}),
    StreamEnded("stop", Usage(input_tokens=25, output_tokens=7, cache_read_tokens=20, reasoning_tokens=2)),
    "/v1",
)


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice], "usage": None}, named=False)


_CHAT_USAGE = {
    "prompt_tokens": 25,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 2},
}

CHAT = Wire(
    "chat",
    "openai",
    openai._CHAT,
    openai._client,
    (chunk({"role": "assistant", "content": ""}),),
    lambda text: chunk({"content": text}),
    (
        chunk({}, "stop"),
        event({"choices": [], "usage": _CHAT_USAGE}, named=False),
        b"data: [DONE]\n\n",
    ),
    event({"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}}, named=False),
    StreamEnded("stop", Usage(input_tokens=25, output_tokens=7, cache_read_tokens=20, reasoning_tokens=2)),
    "/v1",
)

WIRES = (ANTHROPIC, RESPONSES, CHAT)


async def collect(
    provider: RemoteProvider, asked: ModelRequest
) -> tuple[list[StreamEvent], Exception | None]:
    """Return all events of a reply, and the error that ended it if one did."""
    events: list[StreamEvent] = []
    try:
        async for one in provider.stream(asked):
            events.append(one)  # noqa: PERF401 -- what came before an error counts
    except Exception as error:  # noqa: BLE001 -- which one it is is what tests look at
        return events, error
    return events, None


def text_of(events: Sequence[StreamEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextDelta))


def ended(events: Sequence[StreamEvent]) -> list[StreamEnded]:
    return [one for one in events if isinstance(one, StreamEnded)]


def complete(message: AssistantMessage) -> AssistantMessage:
    return replace(message, status="complete")
