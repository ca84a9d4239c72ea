"""A program as a user would write it, with types: `mypy --strict` checks it, and tests/sdk/test_typed.py runs it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from shipchat import (
    Agent,
    AgentOptions,
    AssistantMessage,
    ChatSession,
    InMemorySessionStore,
    Packet,
    Provider,
    ReplyFailed,
    SessionEvent,
    SessionInfo,
    SessionManager,
    SessionRecord,
    TextDelta,
    TurnCompleted,
    query,
    tool,
)
from shipchat.sdk import get_session_messages, list_sessions


@dataclass
class Shelf:
    """A store of one's own."""

    records: dict[str, SessionRecord] = field(default_factory=dict)

    def load(self, session_id: str) -> SessionRecord | None:
        return self.records.get(session_id)

    def save(self, record: SessionRecord) -> None:
        self.records[record.key] = record

    def list_all(self) -> Iterable[SessionRecord]:
        return self.records.values()


@tool(timeout=5)
def stock(item: str, shop: int = 1) -> int:
    """Tell how many of an item are left.

    Args:
        item: its name
    """
    return len(item) * shop


def talk(provider: Provider) -> list[str]:
    """Return what was said, in several ways."""
    store = Shelf()
    agent = Agent(provider=provider, session_store=store, session_id="ticket-812", tools=[stock])
    said = [agent.run("How many apples?").output]

    chat: ChatSession = agent.chat_session("support-42")

    @chat.on_event
    def listen(event: SessionEvent) -> None:
        if isinstance(event, TextDelta):
            said.append(event.text)

    numbers: list[int] = []
    chat.on_packet(lambda packet: numbers.append(packet["id"]))
    for event in chat.stream("Hi"):
        if isinstance(event, TurnCompleted):
            reply: AssistantMessage = event.reply
            said.append(reply.text)
    packets: list[Packet] = list(chat.stream_packets("Again", transport="websocket"))
    texts: list[str] = list(chat.stream_packets(after=len(packets) - 1))
    said += [packets[-1]["event"], texts[0].partition("\n")[0], str(numbers[-1])]

    manager = SessionManager(store)
    infos: list[SessionInfo] = manager.list_sessions()
    trial = manager.fork(agent, infos[0].session_id, from_message=1, title="A trial")
    try:
        said.append(trial.send("And now?").message.status)
    except ReplyFailed as error:
        said.append(error.code)
    said += [info.session_id for info in list_sessions(store, limit=1)]
    said += [message.text for message in get_session_messages(store, "ticket-812", limit=1)]
    return said


async def ask(provider: Provider) -> str:
    """Return the answer to one query."""
    text = ""
    options = AgentOptions(
        provider=provider, session_store=InMemorySessionStore(), continue_conversation=True
    )
    async for event in query(prompt="Hi", options=options):
        if isinstance(event, TextDelta):
            text += event.text
    return text


def main(provider: Provider) -> list[str]:
    """Do both."""
    return [*talk(provider), asyncio.run(ask(provider))]
