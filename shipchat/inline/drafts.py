"""Keeps unsent text on disk, a moment after each pause in typing; whose text it is, the front end says."""

import asyncio
import contextlib
from typing import Final

from shipchat.core.errors import ShipchatError, StoreUnavailable
from shipchat.core.protocols import FullStore, WindowDraft

PAUSE_SECONDS: Final = 0.25
"""How long a text waits to be written: what a kill may cost of it, beside the write itself."""

FRESH: Final = "unsent-of-a-new-session"
"""Where text for a session that is not stored yet is kept, in every front end: its key would be lost with a crash."""


class Drafts:
    """The draft of one session at a time. A disk that refuses is told in `failure`, never raised.

    While `paused` (a prompt is on its way to the disk) nothing is written: its text must not go before it is there.
    """

    def __init__(self) -> None:
        self.text = ""
        self.key = ""
        self.paused = False
        self.failure: StoreUnavailable | None = None
        self._draft: WindowDraft | None = None
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def open(self, store: FullStore, key: str) -> str:
        """Follow the session `key` from now on and return the text that is kept for it."""
        await self.close()
        self.key, self.text = key, ""
        async with self._lock:
            with contextlib.suppress(ShipchatError):  # a draft that can't be read is no reason not to go on
                self._draft = await asyncio.to_thread(store.open_window, key)
                self.text = self._draft.text
        return self.text

    async def move(self, store: FullStore, key: str) -> None:
        """Keep the text for the session `key` instead: the fresh one has its file now."""
        text, self.text = self.text, ""
        await self.open(store, key)
        if text:
            self.keep(text)

    def keep(self, text: str) -> None:
        """Keep `text`, soon."""
        if text == self.text:
            return
        self.text = text
        if self._draft is not None and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._soon())

    async def close(self) -> None:
        """Write what is not written yet and leave it for the next window."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self.paused = False
        await self._write()
        async with self._lock:
            draft, self._draft = self._draft, None
            if draft is not None:
                await asyncio.to_thread(draft.close)

    async def _soon(self) -> None:
        written = None
        while written != self.text:
            await asyncio.sleep(PAUSE_SECONDS)
            written = self.text
            await asyncio.shield(asyncio.ensure_future(self._write()))

    async def _write(self) -> None:
        async with self._lock:
            draft, text = self._draft, self.text
            if draft is None or self.paused or draft.text == text:
                return
            try:
                await asyncio.to_thread(draft.write, text)
                self.failure = None
            except StoreUnavailable as error:
                self.failure = error
