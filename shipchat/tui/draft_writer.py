"""Keeps the unsent text of this window on disk, a moment after each pause in typing; what it says is the composer's."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from shipchat.core.errors import ShipchatError, StoreUnavailable
from shipchat.core.protocols import FullStore, WindowDraft

PAUSE_SECONDS: Final = 0.25
"""How long a text waits to be written: what a kill may cost of it, beside the write itself."""

FRESH: Final = "unsent-of-a-new-session"
"""Where the text of a session that is not stored yet is kept: its own key would be known to nobody after a crash."""


class DraftWriter:
    """Writes the draft of one session at a time. Failures are told to `failed` (None: it works again), never raised."""

    def __init__(self, failed: Callable[[StoreUnavailable | None], None]) -> None:
        self._failed = failed
        self._draft: WindowDraft | None = None
        self.text = ""
        self.key = ""
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._troubled = False
        self.paused = (
            False  # while a prompt is on its way to the disk, its text must not go before it is there
        )

    async def open(self, store: FullStore, key: str) -> str:
        """Follow the session `key` from now on and return the text that is kept for it."""
        await self.close()
        self.key, self.text = key, ""
        async with self._lock:
            try:
                self._draft = await asyncio.to_thread(store.open_window, key)
            except ShipchatError:
                self._draft = None  # a draft that can't be read is no reason not to open the session
                return ""
            self.text = self._draft.text
            return self.text

    def keep(self, text: str) -> None:
        """Keep `text`, soon."""
        self.text = text
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._soon())

    async def flush(self) -> None:
        """Write now what is not written yet."""
        async with self._lock:
            draft, text = self._draft, self.text
            if draft is None or self.paused or (draft.text == text and not self._troubled):
                return
            try:
                await asyncio.to_thread(draft.write, text)
            except StoreUnavailable as error:
                self._troubled = True
                self._failed(error)
            else:
                if self._troubled:
                    self._troubled = False
                    self._failed(None)

    async def prove(self, text: str) -> bool:
        """Return whether `text` can be kept on disk just now."""
        async with self._lock:
            if self._draft is None:
                return True
            try:
                await asyncio.to_thread(self._draft.write, text)
            except StoreUnavailable:
                return False
            self._troubled = False
            return True

    async def close(self) -> None:
        """Write what is not written yet, and leave the text for the next window."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self.paused = False
        await self.flush()
        async with self._lock:
            draft, self._draft = self._draft, None
            if draft is not None:
                await asyncio.to_thread(draft.close)

    async def _soon(self) -> None:
        written = None
        while written != self.text:
            await asyncio.sleep(PAUSE_SECONDS)
            written = self.text
            await asyncio.shield(asyncio.ensure_future(self.flush()))
