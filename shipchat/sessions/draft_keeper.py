"""Keeps the turn draft on disk: the reply in flight about twice a second, the queue at once."""

import asyncio
import contextlib
import time
from typing import Final

from shipchat.core.drafts import QueuedPrompt, TurnDraft
from shipchat.core.errors import StoreUnavailable
from shipchat.core.protocols import FullStore
from shipchat.sessions.reply import Reply

WRITE_EVERY: Final = 0.5
"""Seconds between writes of a growing reply: how far another window may lag behind."""

SYNC_EVERY: Final = 2.0
"""Seconds between waits for the disk: how much of a reply a power cut may cost."""


class DraftKeeper:
    """Writes the draft of one session; only its holder has one. Failures of writing a
    reply are kept in `failure`, never raised: the turn goes on.
    """

    def __init__(self, store: FullStore, key: str) -> None:
        self._store = store
        self._key = key
        self._reply: Reply | None = None
        self._written = 0
        self._synced_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self.queue: tuple[QueuedPrompt, ...] = ()
        self.failure: StoreUnavailable | None = None

    def begin(self, reply: Reply) -> None:
        """Start to keep this reply; the draft names its id from now on."""
        self._reply = reply
        self._written = -1
        self._synced_at = time.monotonic()
        self._task = asyncio.create_task(self._keep())

    async def end(self) -> None:
        """Stop: the reply is a message on disk now, and only the queue (if any) stays in the draft."""
        await self._stop()
        await self.write(durable=False)

    async def pause(self) -> None:
        """Stop writing but leave the draft as it is: what had arrived could not be stored as a message."""
        if self._reply is not None:
            await self.write(durable=True)
        await self._stop()

    async def set_queue(self, queue: tuple[QueuedPrompt, ...]) -> None:
        """Replace the queue, on disk as well. Raises StoreUnavailable when it could not be: it is as before then."""
        before, self.queue = self.queue, queue
        await self.write(durable=True)
        if self.failure is not None:
            self.queue = before
            raise self.failure

    async def write(self, *, durable: bool) -> None:
        """Write the draft as it is now; nothing in it removes the file."""
        # Shielded: a thread can't be stopped, so a write that began is always waited for under the lock.
        await asyncio.shield(asyncio.ensure_future(self._write(durable=durable)))

    async def _write(self, *, durable: bool) -> None:
        async with self._lock:
            reply = self._reply
            self._written = reply.changes if reply else 0
            draft = TurnDraft(reply.draft() if reply else None, self.queue)
            kept = draft if draft.reply is not None or draft.queue else None
            try:
                await asyncio.to_thread(self._store.write_turn_draft, self._key, kept, durable=durable)
            except StoreUnavailable as error:
                self.failure = error
            else:
                self.failure = None

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._reply = None

    async def _keep(self) -> None:
        await self.write(durable=False)  # names the reply's id before the first token
        while True:
            await asyncio.sleep(WRITE_EVERY)
            if self._reply is None or self._reply.changes == self._written:
                continue
            durable = time.monotonic() - self._synced_at >= SYNC_EVERY - WRITE_EVERY / 2
            if durable:
                self._synced_at = time.monotonic()
            await self.write(durable=durable)
