import json
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import Entry, MessageEntry, SetEntry, UnknownEntry
from shipchat.core.messages import AssistantMessage, TextPart, UnknownPart, Usage, UserMessage
from shipchat.formats.entries import decode_entry, encode_entry
from shipchat.formats.lines import BadJson, encode_json, parse_strictly, seal
from tests.formats.strategies import entries, json_values

AT = datetime(2026, 11, 29, 15, 9, 0, 123000, tzinfo=UTC)


@given(entries, st.integers(1, 10**9))
def test_every_entry_comes_back_as_it_was(entry: Entry, seq: int) -> None:
    line = encode_entry(entry, seq)
    assert decode_entry(line) == (seq, entry)
    assert b"\n" not in line


@given(entries)
def test_the_checksum_is_the_last_field_and_covers_all_before_it(entry: Entry) -> None:
    line = encode_entry(entry, 1)
    body, _, rest = line.rpartition(b',"crc":"')
    assert rest == b'%08x"}' % zlib.crc32(body)
    assert json.loads(line)["crc"] == f"{zlib.crc32(body):08x}"


def test_a_prompt_looks_as_the_specification_says() -> None:
    entry = MessageEntry(message=UserMessage(id="m1", parent=None, at=AT, parts=(TextPart("Why “é”?"),)))
    body = (
        '{"seq":1,"at":"2026-11-29T15:09:00.123000Z","type":"message","id":"m1","parent":null,"role":"user",'
        '"parts":[{"type":"text","text":"Why “é”?"}]'
    ).encode()
    assert encode_entry(entry, 1) == b'%b,"crc":"%08x"}' % (body, zlib.crc32(body))


def test_a_reply_looks_as_the_specification_says() -> None:
    reply = AssistantMessage(
        id="m2",
        parent="m1",
        at=AT,
        parts=(),
        model="local/x",
        stop_reason="end_turn",
        usage=Usage(1, 2, 0, 0, 5),
    )
    body = (
        b'{"seq":3,"at":"2026-11-29T15:09:00.123000Z","type":"message","id":"m2","parent":"m1","role":"assistant",'
        b'"status":"complete","model":"local/x","usage":{"input_tokens":1,"output_tokens":2,"reasoning_tokens":5},'
        b'"stop_reason":"end_turn","parts":[]'
    )
    assert encode_entry(MessageEntry(message=reply), 3) == b'%b,"crc":"%08x"}' % (body, zlib.crc32(body))


def line_of(**fields: Any) -> bytes:
    return seal({"seq": 5, "at": "2026-11-29T17:09:00.123+02:00", **fields})


def test_times_with_an_offset_are_instants() -> None:
    _, entry = decode_entry(line_of(type="notice", id="n", about="x", text="y"))
    assert entry.at == AT
    assert b'"at":"2026-11-29T15:09:00.123000Z"' in encode_entry(entry, 5)


def test_an_entry_without_an_id_is_named_by_its_number() -> None:
    assert decode_entry(line_of(type="set", title="T"))[1] == SetEntry(id="seq-5", at=AT, title="T")
    assert decode_entry(line_of(type="vote", weight=2))[1] == UnknownEntry(
        id="seq-5", at=AT, type="vote", data={"weight": 2}
    )


def test_unknown_fields_at_any_depth_are_kept_and_written_again() -> None:
    stored: dict[str, Any] = {
        "type": "message",
        "id": "m",
        "parent": None,
        "role": "assistant",
        "status": "complete",
        "model": "m",
        "usage": {"input_tokens": 1, "output_tokens": 2, "audio_tokens": 3},
        "failure": {"code": "c", "message": "m", "since": "x"},
        "parts": [
            {"type": "text", "text": "hi", "cached": True},
            {"type": "hologram", "depth": 3},
            {
                "type": "tool_call",
                "call_id": "c",
                "name": "n",
                "arguments": "{}",
                "result": {"output": "o", "is_error": False, "took": 1.5},
            },
        ],
        "mood": "sunny",
    }
    line = line_of(**stored)
    seq, entry = decode_entry(line)
    assert isinstance(entry, MessageEntry)
    message = entry.message
    assert isinstance(message, AssistantMessage)
    assert message.parts[0] == TextPart("hi")
    assert message.parts[1] == UnknownPart({"type": "hologram", "depth": 3})
    assert message.usage == Usage(1, 2)
    written = json.loads(encode_entry(entry, seq))
    assert {name: written[name] for name in stored} == stored
    changed = replace(message, parts=(TextPart("other"),), extra={**message.extra, "mood": "dull"})
    written = json.loads(encode_entry(MessageEntry(message=changed), seq))
    assert written["parts"] == [{"type": "text", "text": "other", "cached": True}]
    assert (written["mood"], written["usage"]["audio_tokens"]) == ("dull", 3)


def test_a_prompt_with_a_replys_field_keeps_it() -> None:
    entry = decode_entry(line_of(type="message", id="m", role="user", parts=[], model="x"))[1]
    assert entry == MessageEntry(
        message=UserMessage(id="m", parent=None, at=AT, parts=(), extra={"model": "x"})
    )
    assert json.loads(encode_entry(entry, 5))["model"] == "x"


def test_extra_fields_never_replace_known_ones_or_the_checksum() -> None:
    message = UserMessage(
        id="m", parent=None, at=AT, parts=(), extra={"seq": 9, "crc": "x", "type": "y", "id": "z"}
    )
    seq, entry = decode_entry(encode_entry(MessageEntry(message=message), 1))
    assert (seq, entry.id) == (1, "m")


@pytest.mark.parametrize("where", ["text", "title", "name", "extra"])
def test_lone_surrogates_become_replacement_characters(where: str) -> None:
    cut = "cut \ud83d here"
    made: dict[str, Entry] = {
        "text": MessageEntry(message=UserMessage(id="m", parent=None, at=AT, parts=(TextPart(cut),))),
        "title": SetEntry(id="s", at=AT, title=cut),
        "name": SetEntry(id="s", at=AT, custom={"x-" + cut: 1}),
        "extra": UnknownEntry(id="z", at=AT, type="z", data={"deep": [{"x": cut}]}),
    }
    line = encode_entry(made[where], 1)
    assert "cut \N{REPLACEMENT CHARACTER} here" in line.decode()
    assert decode_entry(encode_entry(decode_entry(line)[1], 1)) == decode_entry(line)


def test_an_escaped_lone_surrogate_is_read_as_a_replacement_character() -> None:
    body = b'{"seq":1,"at":"2026-11-29T15:09:00Z","type":"notice","id":"n","about":"a","text":"\\ud83d"'
    _, entry = decode_entry(b'%b,"crc":"%08x"}' % (body, zlib.crc32(body)))
    assert getattr(entry, "text", None) == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"type": "message", "id": "m", "role": "system", "parts": []}, "role"),
        ({"type": "message", "id": "m", "role": "assistant", "parts": []}, "status"),
        ({"type": "message", "id": "m", "role": "user"}, "parts"),
        ({"type": "message", "id": "m", "role": "user", "parts": [{"type": "text"}]}, "text"),
        ({"type": "message", "id": "m", "role": "user", "parts": [3]}, "part"),
        ({"type": "head", "id": "h"}, "target"),
        ({"id": "h"}, "type"),
        ({"type": "set", "id": 3}, "id"),
        ({"type": "vote", "at": "yesterday"}, "RFC3339"),
        ({"type": "set", "at": "2026-11-29T15:09:00"}, "timezone"),
        ({"type": "set", "seq": True}, "number"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadJson, match=reason):
        decode_entry(line_of(**fields))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a":1,"a":2}', "'a' is there twice"),
        (b'{"a":{"b":1,"b":1}}', "'b' is there twice"),
        (b'{"a":NaN}', "NaN is not JSON"),
        (b'{"a":-Infinity}', "-Infinity is not JSON"),
        (b"{'a':1}", "not JSON"),
        (b'{"a":"\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 10_000 + b"}", "nested too deeply or too long"),
    ],
)
def test_bad_json_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(BadJson, match=reason):
        parse_strictly(text)


@given(json_values)
def test_any_json_value_comes_back_as_it_was(value: Any) -> None:
    assert parse_strictly(encode_json(value)) == value


def test_a_time_without_a_zone_is_not_stored() -> None:
    with pytest.raises(ValueError, match="time zone"):
        encode_entry(SetEntry(id="s", at=datetime(2026, 1, 1)), 1)  # noqa: DTZ001
