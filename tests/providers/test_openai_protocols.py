"""Both protocols of OpenAI: what is sent is valid whatever was stored and grows at its end; every part comes back."""

import itertools
import json
from typing import Any

import pytest

from shipchat.core.errors import ProviderRateLimited, ProviderUnavailable
from shipchat.core.events import (
    ReasoningDelta,
    ReasoningSealed,
    StreamEnded,
    StreamEvent,
    TextDelta,
    ToolCalled,
)
from shipchat.core.messages import (
    AttachmentPart,
    Json,
    Message,
    ReasoningPart,
    ToolCallPart,
    ToolResult,
    Usage,
)
from shipchat.core.protocols import ToolSpec
from shipchat.providers import openai_chat, openai_responses
from shipchat.providers.catalog import known
from shipchat.providers.failures import Failures
from shipchat.providers.limits import Limits
from shipchat.providers.server import Server
from tests.providers.test_anthropic_messages import POISON
from tests.providers.wires import assistant, request, user

SERVER = Server(name="openai", kind="openai", base_url="https://api.openai.com/v1")
LIMITS = Limits(SERVER, 1000)
ITEM: dict[str, Json] = {"id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
SEALED = ReasoningPart("", "openai", dict(ITEM))
CALL = ToolCallPart("call_1", "weather", '{"city":"Bern"}', ToolResult("sunny"))
TOOL = ToolSpec("weather", "Tells it.", {"type": "object"})


def responses(*messages: Message, limits: Limits = LIMITS, **more: Any) -> Any:
    return json.loads(openai_responses.request_body(request(*messages, **more), limits))


def chat(*messages: Message, limits: Limits = LIMITS, **more: Any) -> Any:
    return json.loads(openai_chat.request_body(request(*messages, **more), limits))


def test_a_responses_request_keeps_nothing_at_the_vendor_and_sends_reasoning_back() -> None:
    talk = (user("a"), assistant(SEALED, "Looking.", CALL), assistant(SEALED, "Sunny."), user("b"))
    assert responses(*talk, system="Be brief.", max_tokens=5, tools=(TOOL,)) == {
        "model": "some-model",
        "stream": True,
        "store": False,
        "instructions": "Be brief.",
        "max_output_tokens": 16,
        "tools": [
            {
                "type": "function",
                "name": "weather",
                "description": "Tells it.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "include": ["reasoning.encrypted_content"],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
            {"type": "reasoning", **ITEM},
            {"role": "assistant", "content": "Looking."},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "weather",
                "arguments": '{"city":"Bern"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
            {"type": "reasoning", **ITEM},
            {"role": "assistant", "content": "Sunny."},
            {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
        ],
    }


def test_reasoning_of_others_and_reasoning_that_led_nowhere_is_not_sent() -> None:
    foreign = ReasoningPart("hm", "anthropic", {"signature": "sig"})
    made = responses(user("a"), assistant(foreign, "b"), user("c"), assistant("d", SEALED), user("e"))
    assert all(one.get("type") != "reasoning" for one in made["input"])


def test_a_chat_request() -> None:
    talk = (user("a"), assistant(SEALED, "Looking.", CALL), assistant("Sunny."), user("b"))
    assert chat(*talk, system="Be brief.", max_tokens=5, tools=(TOOL,)) == {
        "model": "some-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 5,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "Tells it.",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"city":"Bern"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
            {"role": "assistant", "content": "Sunny."},
            {"role": "user", "content": "b"},
        ],
    }


@pytest.mark.parametrize("messages", POISON)
def test_whatever_was_stored_the_request_is_valid(messages: tuple[Message, ...]) -> None:
    open_calls: list[str] = []
    for message in chat(*messages)["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            assert message["content"].strip()
            continue
        assert open_calls == []
        open_calls = [one["id"] for one in message.get("tool_calls", ())]
        assert message["content"].strip() or open_calls
        assert all(
            json.loads(one["function"]["arguments"]) is not None for one in message.get("tool_calls", ())
        )
    assert open_calls == []
    items = responses(*messages)["input"]
    calls = [one["call_id"] for one in items if one.get("type") == "function_call"]
    results = [one["call_id"] for one in items if one.get("type") == "function_call_output"]
    assert calls == results


def test_a_request_is_the_beginning_of_the_next_one() -> None:
    talk: list[Message] = [
        user("a"),
        assistant(SEALED, "Looking.", CALL),
        assistant("b", CALL),
        assistant("c"),
        user("d"),
        assistant("e"),
        user("f"),
    ]
    for make, name in ((responses, "input"), (chat, "messages")):
        made = [make(*talk[:length], system="s")[name] for length in (1, 2, 3, 5, 7)]
        for before, after in itertools.pairwise(made):
            assert after[: len(before)] == before
            assert len(before) < len(after)


def test_attachments() -> None:
    server = Server(name="x", kind="openai", base_url="http://x", blobs=lambda name: name.encode())
    limits = Limits(server, 9)
    message = user(
        AttachmentPart("png", "a.png", "image/png", 3),
        AttachmentPart("pdf", "b.pdf", "application/pdf", 3),
        "Look.",
    )
    assert responses(message, limits=limits)["input"][0]["content"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
        {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,cGRm"},
        {"type": "input_text", "text": "Look."},
    ]
    assert chat(message, limits=limits)["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
        {"type": "text", "text": "Look."},
    ]


def test_effort() -> None:
    server = Server(name="x", kind="openai", base_url="http://x", effort="high")
    limits = Limits(server, 9, known("openai", "gpt-4o"))
    assert responses(user("a"), limits=limits)["reasoning"] == {"effort": "high"}
    assert "include" not in responses(user("a"), limits=limits)  # the model does not reason
    assert chat(user("a"), limits=limits)["reasoning_effort"] == "high"


def read(reply: Any, *events: dict[str, Any] | bytes) -> list[StreamEvent]:
    found: list[StreamEvent] = []
    for one in events:
        found += reply.read(one if isinstance(one, bytes) else json.dumps(one).encode())
    return found


def responses_reply() -> openai_responses.Reply:
    return openai_responses.Reply(Failures(SERVER, ()), "m")


def chat_reply() -> openai_chat.Reply:
    return openai_chat.Reply(Failures(SERVER, ()), "m")


def test_a_responses_reply_with_reasoning_text_and_calls() -> None:
    def done(**item: Any) -> dict[str, Any]:
        return {"type": "response.output_item.done", "output_index": 0, "item": item}

    assert read(
        responses_reply(),
        {"type": "response.in_progress", "response": {"id": "r"}},
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "delta": "first"},
        {"type": "response.reasoning_summary_part.added", "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "delta": "second"},
        done(type="reasoning", id="rs_1", summary=[], encrypted_content="gAAA"),
        {"type": "response.output_text.delta", "delta": "Looking"},
        {"type": "response.function_call_arguments.delta", "delta": "{"},
        done(type="function_call", id="fc", call_id="call_1", name="f", arguments='{"a": 1}'),
        {"type": "response.brand_new", "item": {"type": "other"}, "delta": {"x": 1}},
        {"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 4}}},
    ) == [
        ReasoningDelta("first"),
        ReasoningDelta("\n\n"),
        ReasoningDelta("second"),
        ReasoningSealed("openai", {"id": "rs_1", "summary": [], "encrypted_content": "gAAA"}),
        TextDelta("Looking"),
        ToolCalled("call_1", "f", '{"a": 1}'),
        StreamEnded("tool_calls", Usage(input_tokens=3, output_tokens=4)),
    ]


def test_other_ends_of_a_responses_reply() -> None:
    cut = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    assert read(responses_reply(), cut) == [StreamEnded("max_output_tokens", None)]
    refused = {"type": "response.refusal.delta", "delta": "No."}
    assert read(responses_reply(), refused, {"type": "response.completed", "response": {}}) == [
        TextDelta("No."),
        StreamEnded("refusal", None),
    ]
    failed = {"code": "rate_limit_exceeded", "message": "slow down"}
    with pytest.raises(ProviderRateLimited, match="slow down"):
        read(responses_reply(), {"type": "response.failed", "response": {"error": failed}})
    with pytest.raises(ProviderUnavailable, match="cancelled"):
        read(responses_reply(), {"type": "response.cancelled"})


def choice(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int | None, call_id: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    piece = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [{key: value for key, value in piece.items() if value is not None}]}


@pytest.mark.parametrize(
    "pieces",
    [
        # numbered, in pieces
        [
            call(0, "c1", "f", ""),
            call(0, None, None, '{"a":'),
            call(0, None, None, " 1}"),
            call(1, "c2", "g", "{}"),
        ],
        # whole, without numbers
        [call(None, "c1", "f", '{"a": 1}'), call(None, "c2", "g", "{}")],
        # whole, all with the number 0
        [call(0, "c1", "f", '{"a": 1}'), call(0, "c2", "g", "")],
    ],
)
def test_a_chat_reply_with_calls(pieces: list[dict[str, Any]]) -> None:
    assert read(
        chat_reply(),
        choice(role="assistant", content=None),
        choice(reasoning_content="hm"),
        choice(reasoning="hm", content="Looking"),
        *(choice(**piece) for piece in pieces),
        choice("tool_calls"),
        b"[DONE]",
    ) == [
        ReasoningDelta("hm"),
        ReasoningDelta("hm"),
        TextDelta("Looking"),
        ToolCalled("c1", "f", '{"a": 1}'),
        ToolCalled("c2", "g", "{}"),
        StreamEnded("tool_calls", None),
    ]


def test_a_chat_reply_that_is_done_without_a_reason() -> None:
    with pytest.raises(ProviderUnavailable, match="without a reason to stop"):
        read(chat_reply(), choice(content="x"), b"[DONE]")


def test_errors_inside_a_chat_reply() -> None:
    with pytest.raises(ProviderRateLimited, match="busy"):
        read(chat_reply(), {"error": {"message": "busy", "code": 429}})
    with pytest.raises(ProviderUnavailable):
        read(chat_reply(), {"error": {"message": "x", "type": "server_error"}})
