"""A session to talk in from a program: synchronous and asynchronous forms of the engine's one stream of events."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Literal, TypeAlias, TypeVar, overload

from shipchat.core.entries import CheckpointEntry
from shipchat.core.errors import UsageError
from shipchat.core.events import SessionEvent
from shipchat.core.messages import Message
from shipchat.core.protocols import FullStore
from shipchat.sdk.background import BackgroundLoop
from shipchat.sdk.callbacks import EventCallback, PacketCallback
from shipchat.sdk.compaction import SessionCompaction
from shipchat.sdk.packets import Packet, Transport, check_transport, packet, sse_text
from shipchat.sdk.result import TurnResult, result_of
from shipchat.sdk.turns import Turns
from shipchat.sessions.attaching import read_attachments
from shipchat.sessions.chat_session import ChatSession as Engine
from shipchat.sessions.session_compaction import ContextUse

FilePath: TypeAlias = str | os.PathLike[str]
EventHook = TypeVar("EventHook", bound=EventCallback)
PacketHook = TypeVar("PacketHook", bound=PacketCallback)


class ChatSession:
    """One session and the turns in it; made by `Agent.chat_session`, `SessionManager.resume` and `fork`.

    May be used from any thread and any event loop; one turn runs at a time, and a second one raises SessionHeld.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> agent = Agent(provider=ScriptedProvider(["Hello.", "Bye."]), session_store=InMemorySessionStore())
    >>> chat = agent.chat_session(session_id="support-42")
    >>> chat.send("Hi").output
    'Hello.'
    >>> for event in chat.stream("See you"):
    ...     print(event.type, "|", event.message)
    turn_started | own/default is asked
    message_saved | message 3 is saved
    reply_started | own/default is replying
    text_delta | Bye.
    message_saved | message 4 is saved
    turn_completed | the reply is complete
    """

    def __init__(self, engine: Engine, store: FullStore, background: BackgroundLoop) -> None:
        self._engine = engine
        self._background = background
        self._turns = Turns(engine, store, background)
        self.compaction = SessionCompaction(engine, background)

    def __repr__(self) -> str:
        return f"ChatSession({self.session_id!r})"

    @property
    def session_id(self) -> str:
        """The session's key."""
        return self._engine.key

    # --- turns ---

    def send(self, prompt: str, *, attachments: Sequence[FilePath] = ()) -> TurnResult:
        """Send `prompt` and wait for the reply. Raises what `Agent.run` raises; Ctrl-C interrupts the turn.

        `attachments` are paths of files to go with it: text files in UTF-8 (up to 1 MB) for any model, pictures (PNG,
        JPEG, GIF, WebP) and PDF files (up to 20 MB) for models that take them; UsageError says what can't be sent.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> agent.chat_session("support-42").send("Hi").output
        'Hello.'
        """
        return result_of(list(self.stream(prompt, attachments=attachments)))

    async def asend(self, prompt: str, *, attachments: Sequence[FilePath] = ()) -> TurnResult:
        """Send `prompt` as `send` does, in a coroutine.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> asyncio.run(agent.chat_session("support-42").asend("Hi")).output
        'Hello.'
        """
        async with contextlib.aclosing(self.astream(prompt, attachments=attachments)) as events:
            return result_of([event async for event in events])

    def stream(self, prompt: str, *, attachments: Sequence[FilePath] = ()) -> Generator[SessionEvent]:
        """Send `prompt` when first iterated and yield each event; the last one holds the whole reply.

        Failures of the turn are its last event; before the first one it raises as `send` does. Leaving the loop early
        interrupts the turn; what had arrived is stored.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider([["Hel", "lo."]]), session_store=InMemorySessionStore())
        >>> for event in agent.chat_session("support-42").stream("Hi"):
        ...     if event.type == "text_delta":
        ...         print(event.text)
        Hel
        lo.
        """
        self._background.refuse_here()
        feed = self._turns.begin(prompt, None, files=read_attachments(attachments))
        try:
            yield from feed.read()
        finally:
            if not feed.ended:
                self._turns.stop(feed)
                feed.wait()

    async def astream(
        self, prompt: str, *, attachments: Sequence[FilePath] = ()
    ) -> AsyncGenerator[SessionEvent]:
        """Yield as `stream` does, in a coroutine; closing it early (`contextlib.aclosing`) interrupts the turn.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> async def main():
        ...     async for event in agent.chat_session("support-42").astream("Hi"):
        ...         if event.type == "turn_completed":
        ...             print(event.reply.text)
        >>> asyncio.run(main())
        Hello.
        """
        files = await asyncio.to_thread(read_attachments, attachments) if attachments else ()
        feed = self._turns.begin(prompt, asyncio.get_running_loop(), files=files)
        try:
            async with contextlib.aclosing(feed.aread()) as events:
                async for event in events:
                    yield event
        finally:
            if not feed.ended:
                self._turns.stop(feed)
                await feed.await_end()

    @overload
    def stream_packets(
        self, prompt: str | None = None, *, transport: Literal["sse"] = "sse", after: int | None = None
    ) -> Generator[str]: ...
    @overload
    def stream_packets(
        self, prompt: str | None = None, *, transport: Literal["websocket"], after: int | None = None
    ) -> Generator[Packet]: ...
    def stream_packets(
        self, prompt: str | None = None, *, transport: Transport = "sse", after: int | None = None
    ) -> Generator[str] | Generator[Packet]:
        """Send `prompt` when first iterated and yield each event as a packet, numbered from 1.

        With the transport "sse" packets are texts of server-sent events, with "websocket" dicts. The last packet
        always comes and says how the turn ended; errors that `send` would raise are one too (`turn_failed`). Leaving
        the loop early does not end the turn (`interrupt` does): a client whose connection broke goes on in the same
        turn with `after`, the number of the last packet it has (Last-Event-ID), without a prompt or with the same
        one. That works until the next turn begins in this ChatSession.

        Raises UsageError for an unknown transport, and for an `after` where there is no turn, or not so many packets.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> chat = agent.chat_session("support-42")
        >>> [(one["id"], one["event"]) for one in chat.stream_packets("Hi", transport="websocket")][-2:]
        [(5, 'message_saved'), (6, 'turn_completed')]
        >>> print(next(chat.stream_packets(after=3)))
        id: 4
        event: text_delta
        data: {"type": "text_delta", "message": "Hello.", "text": "Hello."}
        <BLANKLINE>
        <BLANKLINE>
        """
        check_transport(transport)
        packets = self._packets(prompt, after)
        return packets if transport == "websocket" else (sse_text(one) for one in packets)

    @overload
    def astream_packets(
        self, prompt: str | None = None, *, transport: Literal["sse"] = "sse", after: int | None = None
    ) -> AsyncGenerator[str]: ...
    @overload
    def astream_packets(
        self, prompt: str | None = None, *, transport: Literal["websocket"], after: int | None = None
    ) -> AsyncGenerator[Packet]: ...
    def astream_packets(
        self, prompt: str | None = None, *, transport: Transport = "sse", after: int | None = None
    ) -> AsyncGenerator[str] | AsyncGenerator[Packet]:
        """Yield packets as `stream_packets` does, in a coroutine.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> async def main():
        ...     chat = agent.chat_session("support-42")
        ...     return [one["id"] async for one in chat.astream_packets("Hi", transport="websocket")]
        >>> asyncio.run(main())
        [1, 2, 3, 4, 5, 6]
        """
        check_transport(transport)
        packets = self._apackets(prompt, after)
        return packets if transport == "websocket" else _asse(packets)

    def interrupt(self) -> None:
        """Stop the running turn, if any: its stream ends with `turn_interrupted`, what had arrived is stored.

        Returns at once; may be called from any thread or callback.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider([["one ", "two"]]), session_store=InMemorySessionStore())
        >>> agent.chat_session("support-42").interrupt()  # nothing runs: nothing happens
        """
        self._turns.stop()

    # --- listening and reading ---

    def on_event(self, callback: EventHook) -> EventHook:
        """Have `callback` called with each event of the turns to come; returns it, so it can be a decorator.

        It is called before the event is yielded, by whoever reads the stream: in the thread (or loop) of `send`,
        `stream` and the others. One that raises is reported as a `notice` event, once a turn, and breaks nothing.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> chat = agent.chat_session("support-42")
        >>> seen = []
        >>> _ = chat.on_event(lambda event: seen.append(event.type))
        >>> _ = chat.send("Hi")
        >>> seen[-1]
        'turn_completed'
        """
        self._turns.callbacks.on_event.append(callback)
        return callback

    def on_packet(self, callback: PacketHook) -> PacketHook:
        """Have `callback` called with each packet (the dicts of the transport "websocket"), as `on_event` does.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> chat = agent.chat_session("support-42")
        >>> _ = chat.on_packet(lambda packet: print(packet["id"], packet["event"]))
        >>> _ = chat.send("Hi")
        1 turn_started
        2 message_saved
        3 reply_started
        4 text_delta
        5 message_saved
        6 turn_completed
        """
        self._turns.callbacks.on_packet.append(callback)
        return callback

    def history(self) -> list[Message]:
        """Return the messages on the current path, first to last, with what other programs added.

        Empty for a session that was not created yet. Raises SessionDamaged, SessionNotFound (it was deleted).

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> _ = agent.run("Hi")
        >>> [(type(message).__name__, message.text) for message in agent.chat_session().history()]
        [('UserMessage', 'Hi'), ('AssistantMessage', 'Hello.')]
        """
        return self._background.run(self._history())

    async def ahistory(self) -> list[Message]:
        """Return as `history` does, in a coroutine.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> asyncio.run(Agent(session_store=InMemorySessionStore()).chat_session("support-42").ahistory())
        []
        """
        return await self._background.await_(self._history())

    # --- what the model sees ---

    def compact(self, *, instructions: str | None = None, up_to: int | str | None = None) -> CheckpointEntry:
        r"""Have older turns summarised for the model, which is sent less from now on; every message stays.

        `instructions` say what the summary should heed, `up_to` (a position or message id) is the last message that is
        summarised; by default the newest turns are kept. Raises UsageError (nothing to summarise), CompactionFailed,
        provider errors, SessionHeld; the session is as it was then. `compaction.propose` shows the summary first.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> provider = ScriptedProvider(["word " * 300, "Bye.", "## Goal\nto say hello\n## Progress\nsaid", "Hello again."])
        >>> chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("support-42")
        >>> for prompt in ("Hi", "See you"):
        ...     _ = chat.send(prompt)
        >>> chat.compact().summary.splitlines()[:2]
        ['## Goal', 'to say hello']
        >>> chat.context().starts_at, len(chat.history())
        (3, 4)
        >>> _ = chat.undo_compaction()
        >>> chat.context().starts_at
        1
        """
        return self.compaction.apply(self.compaction.propose(instructions=instructions, up_to=up_to))

    async def acompact(
        self, *, instructions: str | None = None, up_to: int | str | None = None
    ) -> CheckpointEntry:
        r"""Compact as `compact` does, in a coroutine; cancelling it leaves the session as it was.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> provider = ScriptedProvider(["word " * 300, "## Goal\nto say hello\n## Progress\nsaid"])
        >>> chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("support-42")
        >>> async def main():
        ...     await chat.asend("Hi")
        ...     return await chat.acompact()
        >>> asyncio.run(main()).model
        'own/default'
        """
        proposal = await self.compaction.apropose(instructions=instructions, up_to=up_to)
        return await self.compaction.aapply(proposal)

    def undo_compaction(self) -> CheckpointEntry:
        r"""Take the newest compaction back, also after further turns, and return it. Raises UsageError, SessionHeld.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> provider = ScriptedProvider(["word " * 300, "## Goal\nto say hello\n## Progress\nsaid"])
        >>> chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("support-42")
        >>> _ = chat.send("Hi")
        >>> chat.compact() == chat.undo_compaction()
        True
        """
        return self.compaction.undo()

    def redo_compaction(self) -> CheckpointEntry:
        r"""Bring back the compaction taken back last and return it. Raises UsageError, SessionHeld.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> provider = ScriptedProvider(["word " * 300, "## Goal\nto say hello\n## Progress\nsaid"])
        >>> chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("support-42")
        >>> _ = chat.send("Hi")
        >>> summary = chat.compact().summary
        >>> _ = chat.undo_compaction()
        >>> chat.redo_compaction().summary == summary
        True
        """
        return self.compaction.redo()

    def context(self) -> ContextUse:
        """Return how full the model's window is, and from which position it sees messages word for word.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> use = agent.chat_session("support-42").context()
        >>> use.used < use.limit < use.window, use.starts_at
        (True, 1)
        """
        return self.compaction.context()

    # --- inside ---

    async def _history(self) -> list[Message]:
        if not self._engine.replying:  # a running turn has taken in all there is
            await self._engine.refresh()
        return list(self._engine.session.messages())

    def _packets(self, prompt: str | None, after: int | None) -> Generator[Packet]:
        if after is not None:
            return _numbered(self._turns.resumed(prompt, after).read(after), after)
        return _numbered(self._whole(_needed(prompt)), 0)

    def _whole(self, prompt: str) -> Generator[SessionEvent]:
        yield from self._turns.begin(prompt, None, failures_as_events=True).read()

    def _apackets(self, prompt: str | None, after: int | None) -> AsyncGenerator[Packet]:
        if after is not None:
            return _anumbered(self._turns.resumed(prompt, after).aread(after), after)
        return _anumbered(self._awhole(_needed(prompt)), 0)

    async def _awhole(self, prompt: str) -> AsyncGenerator[SessionEvent]:
        feed = self._turns.begin(prompt, asyncio.get_running_loop(), failures_as_events=True)
        async with contextlib.aclosing(feed.aread()) as events:
            async for event in events:
                yield event


def _needed(prompt: str | None) -> str:
    if prompt is None:
        raise UsageError("there is nothing to send: give a prompt, or after= to go on in the last turn")
    return prompt


def _numbered(events: Generator[SessionEvent], number: int) -> Generator[Packet]:
    with contextlib.closing(events):
        for event in events:
            number += 1
            yield packet(number, event)


async def _anumbered(events: AsyncGenerator[SessionEvent], number: int) -> AsyncGenerator[Packet]:
    async with contextlib.aclosing(events):
        async for event in events:
            number += 1
            yield packet(number, event)


async def _asse(packets: AsyncGenerator[Packet]) -> AsyncGenerator[str]:
    async with contextlib.aclosing(packets):
        async for one in packets:
            yield sse_text(one)
