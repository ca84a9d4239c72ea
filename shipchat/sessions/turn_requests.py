"""The requests of one turn, made from the session as it is at each call; says when older turns are left out."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from shipchat.core.context import CONTINUE
from shipchat.core.events import Notice, SessionEvent
from shipchat.core.messages import AssistantMessage, TextPart, UserMessage
from shipchat.core.protocols import Blobs, ModelRequest
from shipchat.sessions.attaching import with_texts
from shipchat.sessions.clock import Clock
from shipchat.sessions.ledger import Ledger
from shipchat.sessions.requests import Frame, Scales
from shipchat.sessions.turn_start import TurnStart


class TurnRequests:
    """Implements `requests.RequestMaker`. Made on the event loop, called in a thread."""

    def __init__(
        self,
        begun: TurnStart,
        frame: Frame,
        *,
        ledger: Ledger,
        scales: Scales,
        clock: Clock,
        emit: Callable[[SessionEvent], None],
        blobs: Blobs | None = None,
    ) -> None:
        self._begun = begun
        self._frame = frame
        self._ledger = ledger
        self._scales = scales
        self._emit = emit
        self._blobs = blobs
        self._loop = asyncio.get_running_loop()
        self._go_on: tuple[UserMessage, ...] = ()
        if begun.continuing:
            text = (TextPart(CONTINUE),)
            self._go_on = (UserMessage(id="continue", parent=begun.parent, at=clock(), parts=text),)

    def __call__(self, calls: Sequence[AssistantMessage], share: float) -> ModelRequest:
        """Return the next request within `share` of the budget; a compaction may have come in since the last one."""
        request, projection = self._scales.make(
            self._ledger.session,
            self._frame,
            until=self._begun.parent,
            share=share,
            after=self._go_on,
            calls=calls,
        )
        if projection.dropped:
            notice = Notice(
                "older_turns_left_out",
                f"the model sees from message {projection.starts_at} on; the whole session stays here",
                {"starts_at": projection.starts_at, "left_out": projection.left_out},
            )
            self._loop.call_soon_threadsafe(self._emit, notice)
        messages = with_texts(request.messages, self._blobs, self._frame.info.accepts)
        return replace(request, messages=messages, blobs=self._blobs)
