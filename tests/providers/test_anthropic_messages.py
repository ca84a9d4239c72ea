"""The Messages protocol: what is sent is valid whatever was stored, grows at its end, and every part comes back."""

import itertools
import json
from typing import Any

import pytest

from shipchat.core.context import CONTINUE
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
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
    Usage,
)
from shipchat.core.protocols import ToolSpec
from shipchat.providers.anthropic_messages import OPENING, request_body
from shipchat.providers.anthropic_reply import Reply
from shipchat.providers.catalog import known
from shipchat.providers.failures import Failures
from shipchat.providers.limits import Limits
from shipchat.providers.server import Server
from tests.providers.wires import assistant, event, request, user

SERVER = Server(name="anthropic", kind="anthropic", base_url="https://api.anthropic.com")
LIMITS = Limits(SERVER, 1000)
SEALED = ReasoningPart("hm", "anthropic", {"signature": "sig"})
CALL = ToolCallPart("toolu_1", "weather", '{"city": "Bern"}', ToolResult("sunny"))


def sent(*messages: Message, limits: Limits = LIMITS, **more: Any) -> Any:
    return json.loads(request_body(request(*messages, **more), limits))


def blocks(*messages: Message, limits: Limits = LIMITS) -> Any:
    return sent(*messages, limits=limits)["messages"]


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_plain_request() -> None:
    assert sent(user("Hi"), assistant("Hello"), user("How are you?"), system="Be brief.") == {
        "model": "some-model",
        "max_tokens": 1000,
        "stream": True,
        "cache_control": {"type": "ephemeral"},
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [text("Hi")]},
            {"role": "assistant", "content": [text("Hello")]},
            {"role": "user", "content": [text("How are you?")]},
        ],
    }


def test_reasoning_goes_back_whole_to_the_provider_that_sealed_it_and_to_no_other() -> None:
    other = ReasoningPart("secret", "openai", {"encrypted_content": "x"})
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    redacted = ReasoningPart("", "anthropic", {"data": "blob"})
    assert blocks(user("a"), assistant(SEALED, redacted, other, "b"), user("c"))[1]["content"] == [
        thinking,
        {"type": "redacted_thinking", "data": "blob"},
        text("b"),
    ]
    # Without what it led to, and in a reply that broke off, it would be refused for ever.
    assert blocks(user("a"), assistant(SEALED), user("c")) == [{"role": "user", "content": [text("a\n\nc")]}]
    assert blocks(user("a"), assistant(SEALED, "b", status="interrupted"), user("c"))[1]["content"] == [
        text("b")
    ]
    assert blocks(user("a"), assistant(SEALED, "b"), user("c"), limits=Limits(SERVER, 9, reasoning=False))[1][
        "content"
    ] == [text("b")]


def test_calls_are_followed_by_their_results_and_calls_in_turn_stay_apart() -> None:
    second = ToolCallPart("toolu_2", "weather", "{}", ToolResult("rain", is_error=True))
    third = ToolCallPart("toolu_3", "weather", "", None)
    made = sent(
        user("a"),
        assistant(SEALED, "Looking.", CALL, second),
        assistant(third),
        assistant("Sunny."),
        user("b"),
        tools=(ToolSpec("weather", "Tells it.", {"type": "object"}),),
    )

    def use(call_id: str, given: dict[str, str]) -> dict[str, Any]:
        return {"type": "tool_use", "id": call_id, "name": "weather", "input": given}

    def result(call_id: str, output: str, **more: bool) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call_id, "content": output, **more}

    assert made["tools"] == [
        {"name": "weather", "description": "Tells it.", "input_schema": {"type": "object"}}
    ]
    assert "tool_choice" not in made
    assert made["messages"] == [
        {"role": "user", "content": [text("a")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                text("Looking."),
                use("toolu_1", {"city": "Bern"}),
                use("toolu_2", {}),
            ],
        },
        {"role": "user", "content": [result("toolu_1", "sunny"), result("toolu_2", "rain", is_error=True)]},
        {"role": "assistant", "content": [use("toolu_3", {})]},
        {"role": "user", "content": [result("toolu_3", "outcome unknown (interrupted)", is_error=True)]},
        {"role": "assistant", "content": [text("Sunny.")]},
        {"role": "user", "content": [text("b")]},
    ]


def test_calls_without_tools_are_still_allowed_in_the_history() -> None:
    made = sent(user("a"), assistant(CALL), assistant("b"), user("c"))
    assert [one["name"] for one in made["tools"]] == ["weather"]
    assert made["tool_choice"] == {"type": "none"}


def test_calls_of_other_origin_are_made_valid() -> None:
    odd = ToolCallPart("call.1:é", "my tool!", "[1]", ToolResult(" "))
    made = blocks(user("a"), assistant(odd, odd), user("b"))
    ids = [one["id"] for one in made[1]["content"]]
    assert ids == ["call_1__", "call_1___2"]
    assert [one["tool_use_id"] for one in made[2]["content"][:2]] == ids
    assert made[1]["content"][0]["name"] == "my_tool_"
    assert made[1]["content"][0]["input"] == {"arguments": "[1]"}
    assert made[2]["content"][0]["content"] == "(no output)"


POISON: list[tuple[Message, ...]] = [
    (user(" "), user("Hi")),
    (user("Hi"), assistant(""), user("there")),
    (user("Hi"), assistant(), user("there")),
    (user("Hi"), assistant("\u00a0"), user("there")),
    (user("Hi"), assistant("x \ud83d y"), user("there")),
    (assistant("Welcome"), user("Hi")),
    (user("Hi"), assistant("Hello")),
    (user("Hi"), assistant(UnknownPart({"type": "new"})), user("there")),
    (user("Hi"), assistant(ToolCallPart("", "", "", None), status="interrupted"), user("there")),
    (user("Hi"), assistant(ToolCallPart("1", "f", "{", ToolResult("")), "after"), user("there")),
]


@pytest.mark.parametrize("messages", POISON)
def test_whatever_was_stored_the_request_is_valid(messages: tuple[Message, ...]) -> None:
    made = blocks(*messages)
    assert [one["role"] for one in made] == ["user", "assistant"] * (len(made) // 2) + ["user"]
    open_calls: list[str] = []
    for message in made:
        assert message["content"]
        results = [one["tool_use_id"] for one in message["content"] if one["type"] == "tool_result"]
        assert results == open_calls
        open_calls = [one["id"] for one in message["content"] if one["type"] == "tool_use"]
        assert all(one["text"].strip() for one in message["content"] if one["type"] == "text")
    assert open_calls == []
    if not isinstance(messages[0], type(user())):
        assert made[0]["content"] == [text(OPENING)]
    if messages[-1].text == "Hello":
        assert made[-1]["content"] == [text(CONTINUE)]


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
    bodies = [sent(*talk[:length], system="s") for length in (1, 2, 3, 5, 7)]
    for before, after in itertools.pairwise(bodies):
        length = len(before["messages"])
        assert after["messages"][:length] == before["messages"]
        assert length < len(after["messages"])
    whole = request_body(request(*talk), LIMITS)
    assert whole == request_body(request(*talk), LIMITS)


def test_thinking_and_effort() -> None:
    row = known("anthropic", "claude-opus-5-5-20261001")
    assert row is not None
    server = Server(name="anthropic", kind="anthropic", base_url="http://x", effort="low")
    made = sent(user("a"), limits=Limits(server, 10, row))
    assert made["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert made["output_config"] == {"effort": "low"}


def test_attachments() -> None:
    blobs = {"1": b"\x89PNG", "2": b"%PDF", "3": b"print(1)\xff"}

    def read(name: str) -> bytes:
        if name not in blobs:
            raise FileNotFoundError(name)
        return blobs[name]

    server = Server(name="anthropic", kind="anthropic", base_url="http://x", blobs=read)
    parts = (
        AttachmentPart("1", "a.png", "image/png", 4),
        AttachmentPart("2", "b.pdf", "application/pdf", 4),
        AttachmentPart("3", "c.py", "text/x-python", 9),
        AttachmentPart("4", "d.png", "image/png", 4),
        AttachmentPart("5", "e.zip", "application/zip", 1234),
        TextPart("Look."),
    )
    assert blocks(user(*parts), limits=Limits(server, 9))[0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
            "title": "b.pdf",
        },
        text("Contents of the file c.py:\n\nprint(1)\N{REPLACEMENT CHARACTER}"),
        text("[The file d.png (image/png, 4 bytes): it is missing.]"),
        text(
            "[The file e.zip (application/zip, 1,234 bytes): this kind of file can't be sent to the model.]"
        ),
        text("Look."),
    ]


def read(*events: dict[str, Any]) -> list[StreamEvent]:
    reply = Reply(Failures(SERVER, ()), "m")
    found: list[StreamEvent] = []
    for one in events:
        found += reply.read(event(one).partition(b"data: ")[2].strip())
    return found


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **more: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_a_reply_with_thinking_text_and_calls() -> None:
    assert read(
        {
            "type": "message_start",
            "message": {"usage": {"input_tokens": 3, "cache_creation_input_tokens": 4}},
        },
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="si"),
        delta(0, "signature_delta", signature="g"),
        stop(0),
        start(1, type="redacted_thinking", data="blob"),
        stop(1),
        start(2, type="text", text=""),
        delta(2, "text_delta", text="Looking"),
        delta(2, "citations_delta"),
        stop(2),
        start(3, type="tool_use", id="t1", name="f", input={}),
        delta(3, "input_json_delta", partial_json='{"a"'),
        delta(3, "input_json_delta", partial_json=": 1}"),
        stop(3),
        start(4, type="tool_use", id="t2", name="g", input={}),
        stop(4),
        start(5, type="something_new", content=[1]),
        stop(5),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 2}},
        },
        {"type": "something_new"},
        {"type": "message_stop"},
    ) == [
        Usage(input_tokens=7, cache_write_tokens=4),
        ReasoningDelta("hm"),
        ReasoningSealed("anthropic", {"signature": "sig"}),
        ReasoningSealed("anthropic", {"data": "blob"}),
        TextDelta("Looking"),
        ToolCalled("t1", "f", '{"a": 1}'),
        ToolCalled("t2", "g", "{}"),
        StreamEnded(
            "tool_use", Usage(input_tokens=7, output_tokens=9, cache_write_tokens=4, reasoning_tokens=2)
        ),
    ]


@pytest.mark.parametrize(
    "reason",
    ["end_turn", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded"],
)
def test_every_reason_to_stop_is_kept(reason: str) -> None:
    events = read(
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    )
    assert events == [StreamEnded(reason, Usage(output_tokens=1))]
