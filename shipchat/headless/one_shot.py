"""Runs turns for callers without an event loop: signals interrupt, every event goes to an output, out comes a code."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Final, Protocol, TypeAlias, assert_never

from shipchat.core.errors import StoreUnavailable
from shipchat.core.events import LastEvent, SessionEvent, TurnCompleted, TurnFailed, TurnInterrupted
from shipchat.sessions.chat_session import ChatSession

PATIENCE: Final = 5.0
"""Seconds after the first Ctrl-C in which a further one is taken for impatience: the reply is still being saved."""


Close: TypeAlias = Callable[[], Awaitable[None]]
"""Frees what models run: `services.models.close`."""


class Output(Protocol):
    """Where a turn is told."""

    def event(self, event: SessionEvent) -> None:
        """Take the next event."""
        ...

    def end(self, code: int) -> None:
        """The turn is over and the program will end (or go on to the next line) with this code."""
        ...


class Stopping:
    """What SIGINT and SIGTERM do while a turn runs: the first interrupts it, a late further one ends the program."""

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._first_at: float | None = None
        self.signal: int | None = None

    def __call__(self, number: int) -> None:
        """Take a signal."""
        now = asyncio.get_running_loop().time()
        if self._first_at is None:
            self._first_at, self.signal = now, number
        elif now - self._first_at > PATIENCE:
            os._exit(128 + number)  # saving hangs; what had arrived is in the draft on disk
        self._interrupt()


def run_turn(
    chat: ChatSession,
    turn: Callable[[], AsyncGenerator[SessionEvent]],
    output: Output,
    *,
    close: Close,
) -> int:
    """Run one turn of `chat`, close it and what its model needed (`close`), and return the exit code.

    `turn` makes the stream: `lambda: chat.send(prompt)`. Raises what `ChatSession.send` raises before the first
    event, and BrokenPipeError when nobody reads the output any more (the turn is interrupted and saved then).
    """
    with asyncio.Runner() as runner:
        try:
            return runner.run(tell(chat, turn, output))
        finally:
            runner.run(closed(chat, close))


async def closed(chat: ChatSession, close: Close) -> None:
    """Close the chat, then what its model needed."""
    try:
        await chat.close()
    finally:
        await close()


async def tell(chat: ChatSession, turn: Callable[[], AsyncGenerator[SessionEvent]], output: Output) -> int:
    """Tell `output` one turn of `chat` and return the exit code; both signals interrupt it meanwhile."""
    stopping = Stopping(chat.interrupt)
    last: LastEvent | None = None
    with _signals(stopping):
        async with contextlib.aclosing(turn()) as events:
            async for event in events:
                if stopping.signal is not None:
                    chat.interrupt()  # a signal that came before there was a turn to interrupt
                output.event(event)
                if isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed):
                    last = event
    code = exit_code(last, saved=chat.saved, by_signal=stopping.signal)
    output.end(code)
    return code


def exit_code(last: LastEvent | None, *, saved: bool, by_signal: int | None = None) -> int:
    """Return what a command ends with after a turn whose last event was `last`.

    0 complete and on disk; a failure's own code; 128 and the signal's number when one interrupted (130 for an
    interrupt of another kind); 6 when a reply is complete but could not be saved.
    """
    match last:
        case TurnCompleted():
            return 0 if saved else StoreUnavailable.exit_code
        case TurnInterrupted():
            return 128 + (by_signal or signal.SIGINT)
        case TurnFailed():
            return last.exit_code
        case None:
            return 1
        case _:
            assert_never(last)


@contextlib.contextmanager
def _signals(stopping: Stopping) -> Iterator[None]:
    """Let `stopping` have SIGINT and SIGTERM; what handled them before comes back afterwards."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        if sys.platform == "win32":  # its event loop has no signal handlers
            signal.signal(number, lambda got, _frame: loop.call_soon_threadsafe(stopping, got))
        else:
            loop.add_signal_handler(number, stopping, int(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            if sys.platform != "win32":
                loop.remove_signal_handler(number)
            signal.signal(number, handler)
