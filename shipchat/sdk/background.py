"""The one event loop on which everything asynchronous of the Python API runs, in a thread of its own.

Providers and sessions belong to the loop they were first used on. Running them here, always, lets plain scripts,
several threads, notebooks and any number of event loops use one agent.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final, TypeVar

from shipchat.core.errors import UsageError

T = TypeVar("T")

CALLER: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("shipchat_caller", default=None)
"""The user's own loop, when an asynchronous form was called: their coroutines are run there."""


class BackgroundLoop:
    """A loop in a daemon thread, started by its first use and closed when the program ends."""

    def __init__(self) -> None:
        self._begin_anew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)  # a child has no threads but its own

    def _begin_anew(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ended = False
        self._running: set[Future[Any]] = set()
        self._endings: list[Callable[[], Awaitable[None]]] = []

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, running. Raises UsageError when the program is ending."""
        with self._guard:
            if self._ended:
                raise UsageError("the program is ending: no turn can begin any more")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name="shipchat", daemon=True
                )
                self._thread.start()
                # Closing comes before the threads of asyncio.to_thread are shut down, as providers need them. What is
                # registered last comes first, so theirs must be by now; atexit itself would come too late.
                import_module("concurrent.futures.thread")
                getattr(threading, "_register_atexit", atexit.register)(self._close)
            return self._loop

    def here(self) -> bool:
        """Return whether the caller runs in the loop's own thread, where waiting for it would never end."""
        return threading.current_thread() is self._thread

    def refuse_here(self) -> None:
        """Raise UsageError in the loop's own thread: for calls that wait for the loop."""
        if self.here():
            raise UsageError(
                "a synchronous call inside a coroutine of a tool or callback would wait for itself",
                advice=("Await the asynchronous form instead: arun, asend, astream.",),
            )

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin `work` on the loop and return at once."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self.loop)
        except BaseException:
            work.close()
            raise
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` on the loop and wait for it. Raises UsageError in a coroutine that runs there itself."""
        try:
            self.refuse_here()
        except UsageError:
            work.close()
            raise
        return self.start(work).result()

    async def await_(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` on the loop and await it on the caller's; cancelling cancels it."""
        return await asyncio.wrap_future(self.start(work))

    def at_exit(self, ending: Callable[[], Awaitable[None]]) -> None:
        """Have `ending` awaited on the loop when the program ends, the last one first; twice is once."""
        if ending not in self._endings:
            self._endings.append(ending)

    def _close(self) -> None:
        """Wait for what still runs, close what was opened, stop the loop."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None or self._ended:
            return
        wait(list(self._running))
        with self._guard:
            self._ended = True
        asyncio.run_coroutine_threadsafe(self._end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    async def _end(self) -> None:
        for ending in reversed(self._endings):
            try:
                await ending()
            except Exception:  # noqa: BLE001, S112 -- one that fails must not keep the others open
                continue
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
