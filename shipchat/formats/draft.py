"""Drafts to and from JSON: the turn draft (a reply in flight, queued prompts) and the unsent text of a window."""

from datetime import datetime
from typing import cast

import msgspec

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.core.messages import Json
from shipchat.formats.entries import instant_to_json
from shipchat.formats.lines import BadJson, parse_strictly, seal, seal_holds
from shipchat.formats.parts import part_from_json, parts_to_json
from shipchat.formats.wire import Instant


class _ReplyWire(msgspec.Struct, gc=False):
    id: str
    parent: str | None
    model: str
    at: Instant


class _PromptWire(msgspec.Struct, gc=False):
    id: str
    at: Instant
    text: str


def encode_turn_draft(draft: TurnDraft, number: int) -> bytes:
    """Return the draft as a sealed line; of two drafts of one session the one with the higher `number` is newer."""
    reply = draft.reply
    return (
        seal(
            {
                "format": "shipchat.turn-draft",
                "version": 1,
                "number": number,
                "reply": None
                if reply is None
                else {
                    "id": reply.id,
                    "parent": reply.parent,
                    "model": reply.model,
                    "at": instant_to_json(reply.at),
                    "parts": parts_to_json(reply.parts),
                },
                "queue": [
                    {"id": prompt.id, "at": instant_to_json(prompt.at), "text": prompt.text}
                    for prompt in draft.queue
                ],
            }
        )
        + b"\n"
    )


def decode_turn_draft(data: bytes) -> tuple[int, TurnDraft]:
    """Return the number and the draft. Raises BadJson for bytes that are not a whole turn draft."""
    value = _sealed(data, "shipchat.turn-draft")
    try:
        number = value["number"]
        reply, queue = value["reply"], value["queue"]
        if not isinstance(number, int) or not isinstance(queue, list):
            raise BadJson("not a turn draft")
        return number, TurnDraft(
            reply=None if reply is None else _reply(reply),
            queue=tuple(_prompt(prompt) for prompt in queue),
        )
    except (KeyError, msgspec.ValidationError) as error:
        raise BadJson(f"not a turn draft ({error})") from error


def _reply(value: Json) -> ReplyDraft:
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list):
        raise BadJson("not a reply draft")
    parts = cast("list[Json]", value["parts"])
    wire = msgspec.convert(value, _ReplyWire)
    return ReplyDraft(
        wire.id, wire.parent, wire.model, wire.at, tuple(part_from_json(part) for part in parts)
    )


def _prompt(value: Json) -> QueuedPrompt:
    wire = msgspec.convert(value, _PromptWire)
    return QueuedPrompt(wire.id, wire.at, wire.text)


def encode_unsent(text: str, at: datetime) -> bytes:
    """Return a window's unsent text as a sealed line; `at` is when it was written."""
    fields: dict[str, Json] = {
        "format": "shipchat.unsent",
        "version": 1,
        "at": instant_to_json(at),
        "text": text,
    }
    return seal(fields) + b"\n"


def decode_unsent(data: bytes) -> tuple[datetime, str]:
    """Return when the text was written, and the text. Raises BadJson for anything else."""
    value = _sealed(data, "shipchat.unsent")
    try:
        return msgspec.convert(value.get("at"), Instant), msgspec.convert(value.get("text"), str)
    except msgspec.ValidationError as error:
        raise BadJson(f"not unsent text ({error})") from error


def _sealed(data: bytes, name: str) -> dict[str, Json]:
    line = data.strip()
    if not seal_holds(line, 0, len(line)):
        raise BadJson("incomplete")
    value = parse_strictly(line)
    if not isinstance(value, dict) or value.get("format") != name or value.get("version") != 1:
        raise BadJson(f"not {name}")
    return value
