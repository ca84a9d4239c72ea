"""The events of one turn on their way from the background loop to whoever reads them, in any thread or loop.

Kept until the turn after it, so that a reader who was cut off can go on where it was. Callbacks are told each event
by the reader that gets to it first, so they run in the user's own thread or loop.
"""

import asyncio
import contextlib
import inspect
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Final

from shipchat.core.events import SessionEvent
from shipchat.sdk.background import BackgroundLoop
from shipchat.sdk.callbacks import Callbacks

_WAIT: Final = object()


class Feed:
    """One turn's events, in order. `stopping` says that the user wants the turn interrupted."""

    def __init__(self, prompt: str, callbacks: Callbacks, background: BackgroundLoop) -> None:
        self.prompt = prompt
        self.stopping = False
        self._callbacks = callbacks
        self._background = background
        self._changed = threading.Condition()
        self._told: list[SessionEvent] = []
        self._fresh: deque[SessionEvent] = deque()
        self._telling = False
        self._failed: set[int] = set()
        self._ended = False
        self._error: BaseException | None = None
        self._wakers: set[Callable[[], None]] = set()

    @property
    def count(self) -> int:
        """How many events there are so far, those included that nobody has read."""
        return len(self._told) + len(self._fresh)

    @property
    def ended(self) -> bool:
        """Whether nothing will be added any more."""
        return self._ended

    # --- the background loop's side ---

    def put(self, event: SessionEvent) -> None:
        """Add an event."""
        with self._changed:
            self._fresh.append(event)
            self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """Add nothing any more; readers that have read all are raised `error`."""
        with self._changed:
            self._ended, self._error = True, error
            self._wake()

    # --- the readers' side ---

    def read(self, after: int = 0) -> Generator[SessionEvent]:
        """Yield the events beyond the first `after`, waiting for more until the turn ends."""
        while True:
            with self._changed:
                while (step := self._step(after)) is _WAIT:
                    self._changed.wait()
            match step:
                case None:
                    return
                case (event, True):
                    self._tell(event)
                case (event, False):
                    after += 1
                    yield event

    async def aread(self, after: int = 0) -> AsyncGenerator[SessionEvent]:
        """Yield as `read` does, in a coroutine."""
        more = asyncio.Event()
        loop = asyncio.get_running_loop()

        def waker() -> None:
            loop.call_soon_threadsafe(more.set)

        try:
            while True:
                with self._changed:
                    step = self._step(after)
                    if step is _WAIT:
                        more.clear()
                        self._wakers.add(waker)
                match step:
                    case None:
                        return
                    case (event, True):
                        await self._atell(event)
                    case (event, False):
                        after += 1
                        yield event
                    case _:
                        await more.wait()
        finally:
            with self._changed:
                self._wakers.discard(waker)

    def wait(self) -> None:
        """Wait until the turn has ended; not in the background thread, which would wait for itself."""
        if self._background.here():
            return
        with self._changed:
            self._changed.wait_for(lambda: self._ended)

    async def await_end(self) -> None:
        """Wait until the turn has ended."""
        more = asyncio.Event()
        loop = asyncio.get_running_loop()

        def waker() -> None:
            loop.call_soon_threadsafe(more.set)

        with self._changed:
            self._wakers.add(waker)
        try:
            while not self._ended:
                await more.wait()
                more.clear()
        finally:
            with self._changed:
                self._wakers.discard(waker)

    # --- inside ---

    def _step(self, at: int) -> Any:
        """Return what a reader at `at` does next: an event (and whether to tell it first), None to end, or _WAIT."""
        if at < len(self._told):
            return self._told[at], False
        if self._telling:
            return _WAIT
        if self._fresh:
            self._telling = True
            return self._fresh.popleft(), True
        if not self._ended:
            return _WAIT
        if self._error is not None:
            raise self._error
        return None

    def _tell(self, event: SessionEvent) -> None:
        telling = self._callbacks.tell(event, len(self._told), self._failed)
        became = [event]
        try:
            error: Exception | None = None
            while True:
                callback, argument = telling.send(error)
                error = None
                try:
                    result = callback(argument)
                    if inspect.isawaitable(result):
                        self._background.run(_awaited(result))
                except Exception as raised:  # noqa: BLE001 -- a callback may raise anything; it becomes a notice
                    error = raised
        except StopIteration as stop:
            became = stop.value
        finally:
            self._have_told(became)

    async def _atell(self, event: SessionEvent) -> None:
        telling = self._callbacks.tell(event, len(self._told), self._failed)
        became = [event]
        try:
            error: Exception | None = None
            while True:
                try:
                    callback, argument = telling.send(error)
                except StopIteration as stop:
                    became = stop.value
                    break
                error = None
                try:
                    result = callback(argument)
                    if inspect.isawaitable(result):
                        await result
                except Exception as raised:  # noqa: BLE001 -- as above
                    error = raised
        finally:
            self._have_told(became)

    def _have_told(self, became: list[SessionEvent]) -> None:
        with self._changed:
            self._told += became
            self._telling = False
            self._wake()

    def _wake(self) -> None:
        self._changed.notify_all()
        for waker in tuple(self._wakers):
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits there any more
                waker()


async def _awaited(result: Any) -> None:
    await result
