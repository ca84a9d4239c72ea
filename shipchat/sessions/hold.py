"""The hold of one session as its window has it: for a turn and the queue behind it, or for the instant of a change."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from shipchat.core.protocols import FullStore, Hold


class WindowHold:
    """Takes and frees the hold; having it already is no error."""

    def __init__(self, store: FullStore, key: str, program: str) -> None:
        self._store = store
        self._key = key
        self._program = program
        self._hold: Hold | None = None

    async def take(self) -> None:
        """Have the hold. Raises SessionHeld."""
        if self._hold is None:
            self._hold = await asyncio.to_thread(self._store.hold, self._key, self._program)

    def release(self) -> None:
        """Free it, if it is had."""
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.release()

    @contextlib.asynccontextmanager
    async def for_a_moment(self) -> AsyncGenerator[None]:
        """Have the hold for the instant of a change; a running turn's own is left as it is. Raises SessionHeld."""
        had = self._hold is not None
        await self.take()
        try:
            yield
        finally:
            if not had:
                self.release()
