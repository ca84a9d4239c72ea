"""One prompt, answered as a stream of events: the shortest way for a coroutine."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from shipchat.core.events import SessionEvent
from shipchat.sdk.options import AgentOptions, agent_for


async def query(prompt: str, options: AgentOptions | None = None) -> AsyncGenerator[SessionEvent]:
    """Send `prompt` and yield each event; the first of type `turn_started` has the session's `key`.

    Failures of the turn are its last event. Before the first event it raises what `Agent.run` raises, and
    SessionNotFound for an unknown `resume`. Closing it early interrupts the turn.

    >>> import asyncio
    >>> from shipchat import InMemorySessionStore
    >>> from shipchat.sdk import AgentOptions, query
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> options = AgentOptions(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
    >>> async def main():
    ...     async for event in query(prompt="Hi", options=options):
    ...         if event.type == "turn_completed":
    ...             print(event.reply.text)
    >>> asyncio.run(main())
    Hello.
    """
    agent = await asyncio.to_thread(agent_for, options or AgentOptions())
    async with contextlib.aclosing(agent.chat_session().astream(prompt)) as events:
        async for event in events:
            yield event
