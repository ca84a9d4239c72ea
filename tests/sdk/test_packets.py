"""Packets: numbered from 1, resumable, and with a last one whatever happens."""

import asyncio
import json
from typing import Any

import pytest

from shipchat import Agent, InMemorySessionStore, Packet, ProviderAuth, UsageError
from shipchat.sdk.chat import ChatSession
from shipchat.testing.scripted import ScriptedProvider
from tests.sdk.test_chat import BrokenStore, Gate, agent_of

TYPES = [
    "turn_started",
    "message_saved",
    "reply_started",
    "text_delta",
    "text_delta",
    "message_saved",
    "turn_completed",
]


def chat_of(*answers: Any) -> ChatSession:
    return agent_of(*answers).chat_session("support-42")


def parsed(text: str) -> Packet:
    assert text.endswith("\n\n")
    number, event, data = text.removesuffix("\n\n").split("\n")
    return {
        "id": int(number.removeprefix("id: ")),
        "event": event.removeprefix("event: "),
        "data": json.loads(data.removeprefix("data: ")),
    }


def test_both_transports_carry_the_same_packets() -> None:
    sse = list(chat_of(["Zwei\u2028 ", "Zeilen\n\nid: 7"]).stream_packets("Hi"))
    chat = chat_of(["Zwei\u2028 ", "Zeilen\n\nid: 7"])
    sockets = list(chat.stream_packets("Hi", transport="websocket"))
    assert [packet["id"] for packet in sockets] == [1, 2, 3, 4, 5, 6, 7]
    assert [packet["event"] for packet in sockets] == TYPES
    assert [parsed(text)["event"] for text in sse] == TYPES
    assert [parsed(text)["data"] for text in sse][3:5] == [packet["data"] for packet in sockets][3:5]
    assert sockets[4]["data"]["text"] == "Zeilen\n\nid: 7"
    assert [parsed(text) for text in chat.stream_packets(after=0)] == sockets


def test_a_client_that_was_cut_off_goes_on_where_it_was_while_the_turn_runs() -> None:
    gate = Gate()
    chat = chat_of(["first ", gate.event, "second"])
    stream = chat.stream_packets("Hi", transport="websocket")
    had = [next(stream) for _ in range(4)]
    stream.close()  # the connection breaks; the turn goes on
    resumed = chat.stream_packets("Hi", transport="websocket", after=4)
    gate.open()
    had += list(resumed)
    assert [packet["event"] for packet in had] == TYPES
    assert [packet["id"] for packet in had] == [1, 2, 3, 4, 5, 6, 7]
    assert list(chat.stream_packets(after=7)) == []
    assert [packet["event"] for packet in chat.stream_packets(transport="websocket", after=5)] == TYPES[5:]


async def test_two_readers_of_one_turn_see_the_same() -> None:
    gate = Gate()
    chat = chat_of(["first ", gate.event, "second"])
    heard: list[int] = []
    chat.on_packet(lambda packet: heard.append(packet["id"]))
    stream = chat.astream_packets("Hi", transport="websocket")
    first = await anext(stream)

    async def read(packets: Any) -> list[Packet]:
        return [packet async for packet in packets]

    readers = asyncio.gather(read(stream), read(chat.astream_packets(transport="websocket", after=1)))
    gate.open()
    one, two = await readers
    assert one == two
    assert [packet["event"] for packet in [first, *one]] == TYPES
    assert heard == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("form", ["sync", "async"])
def test_errors_that_send_would_raise_are_the_last_packet(form: str) -> None:
    def packets(chat: ChatSession, prompt: str) -> list[Packet]:
        if form == "sync":
            return list(chat.stream_packets(prompt, transport="websocket"))

        async def read() -> list[Packet]:
            return [packet async for packet in chat.astream_packets(prompt, transport="websocket")]

        return asyncio.run(read())

    def failure(packet: Packet) -> tuple[int, str, Any]:
        return packet["id"], packet["event"], packet["data"]["failure"]

    empty = packets(chat_of("x"), " ")
    refused = {"code": "usage", "message": "there is nothing to send: the prompt is empty"}
    assert [failure(packet) for packet in empty] == [(1, "turn_failed", refused)]
    auth = packets(chat_of([ProviderAuth("no key")]), "Hi")
    assert failure(auth[-1]) == (5, "turn_failed", {"code": "provider_auth", "message": "no key"})
    bug = packets(agent_of("x", store=BrokenStore()).chat_session("a"), "Hi")
    assert failure(bug[-1])[1:] == (
        "turn_failed",
        {"code": "bug", "message": "a bug ended this turn: ZeroDivisionError"},
    )


def test_what_can_not_be_resumed_is_refused() -> None:
    chat = chat_of("a", "b")
    with pytest.raises(UsageError, match="no such turn"):
        chat.stream_packets(after=0)
    with pytest.raises(UsageError, match="nothing to send"):
        chat.stream_packets()
    pigeon: Any = "pigeon"
    with pytest.raises(UsageError, match="no transport"):
        chat.stream_packets("Hi", transport=pigeon)
    chat.send("Hi")
    wrong: list[Any] = [-1, 7, True, 1.0, "3"]
    for after in wrong:
        with pytest.raises(UsageError, match="packets 1 to 6"):
            chat.stream_packets(after=after)
    with pytest.raises(UsageError, match="no such turn"):
        chat.stream_packets("Another prompt", after=3)


def test_an_interrupted_turn_ends_its_packets() -> None:
    provider = ScriptedProvider([["kept", asyncio.Event()]])
    chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("a")
    seen: list[str] = []
    for packet in chat.stream_packets("Hi", transport="websocket"):
        seen.append(packet["event"])
        if packet["event"] == "text_delta":
            chat.interrupt()
    assert seen == [
        "turn_started",
        "message_saved",
        "reply_started",
        "text_delta",
        "message_saved",
        "turn_interrupted",
    ]
