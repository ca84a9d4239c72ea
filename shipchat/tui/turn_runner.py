"""Runs a turn's stream of events and posts each as a message; texts that come fast are joined before they are posted.

It touches no widget and knows no session beyond handing it on.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final

from shipchat.core.errors import ShipchatError
from shipchat.core.events import ReasoningDelta, SessionEvent, TextDelta
from shipchat.tui.messages import OwnMessage
from shipchat.tui.open_session import OpenSession

JOIN_SECONDS: Final = 0.03
"""How long a text may wait for more: well below the time between two paints."""


@dataclass
class TurnEvent(OwnMessage):
    """Something happened in a turn of `opened`."""

    opened: OpenSession
    event: SessionEvent


@dataclass
class TurnRefused(OwnMessage):
    """A turn of `opened` did not begin: nothing was sent. `prompt` is what was to be, empty if it was no new prompt."""

    opened: OpenSession
    error: ShipchatError
    prompt: str


@dataclass
class TurnOver(OwnMessage):
    """The stream of a turn of `opened` is closed: whatever comes next may begin."""

    opened: OpenSession


class TurnRunner:
    """Consumes one stream; `post` takes the messages."""

    def __init__(self, post: Callable[[OwnMessage], object], opened: OpenSession) -> None:
        self._post = post
        self._opened = opened
        self._kind: type[TextDelta | ReasoningDelta] = TextDelta
        self._texts: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._quiet_until = 0.0

    async def run(self, stream: AsyncGenerator[SessionEvent], prompt: str = "") -> None:
        """Post every event of `stream`, then TurnOver; a ShipchatError before the first event posts TurnRefused."""
        loop = asyncio.get_running_loop()
        try:
            async for event in stream:
                if isinstance(event, TextDelta | ReasoningDelta):
                    self._join(event, loop)
                else:
                    self._flush()
                    self._post(TurnEvent(self._opened, event))
        except ShipchatError as error:
            self._post(TurnRefused(self._opened, error, prompt))
        finally:
            self._flush()
            await stream.aclose()
            self._post(TurnOver(self._opened))

    def _join(self, event: TextDelta | ReasoningDelta, loop: asyncio.AbstractEventLoop) -> None:
        if self._texts and type(event) is not self._kind:
            self._flush()
        self._kind = type(event)
        self._texts.append(event.text)
        if self._timer is None:
            # The first text after a pause goes on at once, the next ones at most JOIN_SECONDS apart.
            wait = max(0.0, self._quiet_until - loop.time())
            self._timer = loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._texts:
            text, self._texts = "".join(self._texts), []
            self._quiet_until = asyncio.get_running_loop().time() + JOIN_SECONDS
            self._post(TurnEvent(self._opened, self._kind(text)))
