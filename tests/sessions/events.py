"""Reading a turn's stream in tests."""

import contextlib
from collections.abc import AsyncGenerator

from shipchat.core.events import LastEvent, SessionEvent, TurnCompleted, TurnFailed, TurnInterrupted


async def all_of(stream: AsyncGenerator[SessionEvent]) -> list[SessionEvent]:
    """Return every event of a turn, and check the contract: exactly one last event, and it is the last."""
    async with contextlib.aclosing(stream) as events:
        seen = [event async for event in events]
    last = [event for event in seen if isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed)]
    assert len(last) == 1, seen
    assert seen[-1] is last[0], seen
    return seen


def last_of(events: list[SessionEvent]) -> LastEvent:
    last = events[-1]
    assert isinstance(last, TurnCompleted | TurnInterrupted | TurnFailed)
    return last


def types(events: list[SessionEvent]) -> list[str]:
    return [event.type for event in events]
