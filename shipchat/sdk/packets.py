"""Events of a turn as numbered packets for a browser: the text of server-sent events, or dicts for a websocket."""

import json
from typing import Literal, TypeAlias, TypedDict

from shipchat.core.errors import UsageError
from shipchat.core.events import SessionEvent
from shipchat.core.messages import Json
from shipchat.headless.json_values import event_value

Transport: TypeAlias = Literal["sse", "websocket"]
"""How packets are carried."""


class Packet(TypedDict):
    """One event of a turn. `id` counts from 1 in each turn, `event` is the event's type, `data` all its fields.

    >>> from shipchat.core.events import TextDelta
    >>> packet(3, TextDelta("Hi"))
    {'id': 3, 'event': 'text_delta', 'data': {'type': 'text_delta', 'message': 'Hi', 'text': 'Hi'}}
    """

    id: int
    event: str
    data: dict[str, Json]


def packet(number: int, event: SessionEvent) -> Packet:
    """Return the packet of the event that is number `number` of its turn."""
    return {"id": number, "event": event.type, "data": event_value(event)}


def sse_text(one: Packet) -> str:
    r"""Return a packet as the text of one server-sent event; what a browser sends back as Last-Event-ID is its `id`.

    >>> from shipchat.core.events import TextDelta
    >>> sse_text(packet(3, TextDelta("Hi")))
    'id: 3\nevent: text_delta\ndata: {"type": "text_delta", "message": "Hi", "text": "Hi"}\n\n'
    """
    # ASCII only, so no line separator of any kind can end the data early.
    return f"id: {one['id']}\nevent: {one['event']}\ndata: {json.dumps(one['data'], ensure_ascii=True)}\n\n"


def check_transport(transport: str) -> None:
    """Raise UsageError for a transport there is not."""
    if transport not in ("sse", "websocket"):
        raise UsageError(f"{transport!r} is no transport: there are 'sse' and 'websocket'")
