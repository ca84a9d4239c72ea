import json
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest

from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    MessageSaved,
    Notice,
    ReasoningDelta,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UsageUpdated,
)
from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Failure,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
    Usage,
    UserMessage,
)
from shipchat.headless.json_values import event_value, message_value, time_text

AT = datetime(2026, 11, 29, 15, 9, 0, 123999, tzinfo=UTC)
FAILURE = Failure("provider_unavailable", "gone")
CALL = ToolCallPart("c1", "clock", "{}", ToolResult("15:09"))
PROMPT = UserMessage(id="p", parent=None, at=AT, parts=(TextPart("hi"),))
REPLY = AssistantMessage(
    id="r",
    parent="p",
    at=AT,
    model="a/b",
    status="failed",
    failure=FAILURE,
    usage=Usage(3, 2),
    parts=(
        ReasoningPart("hm", "a", {"secret": 1}),
        TextPart("one "),
        CALL,
        AttachmentPart("ab", "x.png", "image/png", 7),
        UnknownPart({"type": "later", "x": [1]}),
        TextPart("two"),
    ),
)

EVENTS: list[SessionEvent] = [
    TurnStarted("k", "a/b", PROMPT, 1),
    TurnStarted("k", "a/b", None, 1),
    ReplyStarted("r", 2, "a/b", "p"),
    TextDelta("x\n"),
    ReasoningDelta("y"),
    ToolCallStarted(ToolCallPart("c1", "clock", "{}")),
    ToolCallFinished(CALL),
    UsageUpdated(Usage(1, 2, 3, 4, 5)),
    RetryScheduled(2, 1.5, FAILURE),
    CompactionStarted(900, 2),
    CompactionFinished("cp", 900, 90),
    CompactionFinished(None, 900, 900, FAILURE),
    MessageSaved(REPLY, 2),
    Notice("model", "changed", {"from": "a", "list": [1, None]}),
    TurnCompleted(REPLY),
    TurnInterrupted(None),
    TurnFailed(FAILURE, REPLY, ("Try again.",), 7, saved=False),
]


def test_a_message_has_the_names_of_the_session_file() -> None:
    assert message_value(REPLY, 2) == {
        "position": 2,
        "id": "r",
        "parent": "p",
        "role": "assistant",
        "at": "2026-11-29T15:09:00.123Z",
        "model": "a/b",
        "status": "failed",
        "stop_reason": None,
        "usage": {
            "input_tokens": 3,
            "output_tokens": 2,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "reasoning_tokens": 0,
        },
        "failure": {"code": "provider_unavailable", "message": "gone"},
        "text": "one two",
        "parts": [
            {"type": "reasoning", "text": "hm", "provider": "a"},
            {"type": "text", "text": "one "},
            {
                "type": "tool_call",
                "call_id": "c1",
                "name": "clock",
                "arguments": "{}",
                "result": {"output": "15:09", "is_error": False},
            },
            {"type": "attachment", "sha256": "ab", "name": "x.png", "media_type": "image/png", "size": 7},
            {"type": "later", "x": [1]},
            {"type": "text", "text": "two"},
        ],
    }


def test_every_kind_of_event_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(SessionEvent))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: str(event.type))
def test_an_event_is_json_with_its_type_its_sentence_and_all_its_fields(event: SessionEvent) -> None:
    value = event_value(event)
    assert json.loads(json.dumps(value)) == value
    assert (value["type"], value["message"]) == (event.type, event.message)
    assert set(value) == {"type", "message", *event.__dataclass_fields__}


def test_a_failure_in_full() -> None:
    assert event_value(EVENTS[-1]) == {
        "type": "turn_failed",
        "message": "gone",
        "failure": {"code": "provider_unavailable", "message": "gone"},
        "reply": message_value(REPLY),
        "advice": ["Try again."],
        "exit_code": 7,
        "saved": False,
    }


def test_times_are_utc() -> None:
    there = AT.astimezone(timezone(timedelta(hours=-5)))
    assert time_text(there) == time_text(AT) == "2026-11-29T15:09:00.123Z"
