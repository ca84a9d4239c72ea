"""The turns of one window on the background loop, each into a feed; one at a time, the last one's feed kept."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from shipchat.core.attachments import NewAttachment
from shipchat.core.errors import SessionHeld, ShipchatError, UsageError
from shipchat.core.events import LastEvent, TurnCompleted, TurnFailed, TurnInterrupted
from shipchat.core.messages import Failure
from shipchat.core.protocols import FullStore
from shipchat.sdk.background import CALLER, BackgroundLoop
from shipchat.sdk.callbacks import Callbacks
from shipchat.sdk.feed import Feed
from shipchat.sessions.chat_session import ChatSession as Engine

logger = logging.getLogger("shipchat.sdk")


class Turns:
    """Begins and stops turns; may be used from any thread."""

    def __init__(self, engine: Engine, store: FullStore, background: BackgroundLoop) -> None:
        self.callbacks = Callbacks()
        self._engine = engine
        self._store = store
        self._background = background
        self._feed: Feed | None = None  # the running turn's, else the last one's
        self._busy = False  # touched on the background loop only

    def begin(
        self,
        prompt: str,
        caller: asyncio.AbstractEventLoop | None,
        *,
        files: Sequence[NewAttachment] = (),
        failures_as_events: bool = False,
    ) -> Feed:
        """Begin a turn and return its feed; `caller` is the user's own loop, if there is one, `files` go with the prompt.

        What goes wrong before the turn's first event is raised to readers of the feed, or with `failures_as_events`
        is its last event.
        """
        feed = Feed(prompt, self.callbacks, self._background)
        if self._feed is None or self._feed.ended:
            self._feed = feed
        self._background.start(self._turn(feed, caller, files, failures_as_events=failures_as_events))
        return feed

    def stop(self, feed: Feed | None = None) -> None:
        """Interrupt the turn of `feed` (None: the running one), if it still runs; returns at once."""
        feed = self._feed if feed is None else feed
        if feed is None or feed.ended:
            return
        feed.stopping = True
        if feed is self._feed:
            self._background.loop.call_soon_threadsafe(self._engine.interrupt)

    def resumed(self, prompt: str | None, after: int) -> Feed:
        """Return the last turn's feed, to be read beyond `after`. Raises UsageError when it is none or another."""
        feed = self._feed
        if feed is None or (prompt is not None and prompt != feed.prompt):
            raise UsageError(
                "there is no such turn to go on in: the ChatSession's last turn is another, or it had none",
                advice=("Leave after= out to send the prompt; history() has the messages.",),
            )
        if type(after) is not int or not 0 <= after <= feed.count:
            raise UsageError(f"after={after!r}: the turn has packets 1 to {feed.count}")
        return feed

    async def _turn(
        self,
        feed: Feed,
        caller: asyncio.AbstractEventLoop | None,
        files: Sequence[NewAttachment],
        *,
        failures_as_events: bool,
    ) -> None:
        """Run the turn and put its events into `feed`; the last one when the session is free for the next turn."""
        CALLER.set(caller)
        error: BaseException | None = None
        try:
            feed.put(await self._run(feed, files))
        except ShipchatError as raised:
            error = raised
            if failures_as_events:
                failure = Failure(raised.code, str(raised))
                feed.put(TurnFailed(failure, None, raised.advice, raised.exit_code, saved=False))
        except BaseException as raised:
            error = raised
            if failures_as_events:
                logger.exception("a turn was ended by a bug")
                failure = Failure("bug", f"a bug ended this turn: {type(raised).__name__}")
                feed.put(TurnFailed(failure, None, exit_code=1, saved=False))
        finally:
            feed.end(None if failures_as_events else error)

    async def _run(self, feed: Feed, files: Sequence[NewAttachment]) -> LastEvent:
        if self._busy:
            holder = await asyncio.to_thread(self._store.holder, self._engine.key)
            raise SessionHeld(self._engine.key, holder)
        self._busy = True
        self._feed = feed
        try:
            async with contextlib.aclosing(self._engine.send(feed.prompt, attachments=files)) as events:
                async for event in events:
                    if isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed):
                        return event
                    feed.put(event)
                    if feed.stopping:  # asked for before there was a turn to interrupt
                        self._engine.interrupt()
            raise RuntimeError("a turn ended without a last event")
        finally:
            if self._engine.queue:  # prompts that another window left behind stay its own; the hold is freed
                await self._engine.close()
            self._busy = False
