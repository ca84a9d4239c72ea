"""Callbacks on the events of a turn: each is told every event once, and one that raises harms nothing."""

import logging
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from shipchat.core.events import Notice, SessionEvent, TurnCompleted, TurnFailed, TurnInterrupted
from shipchat.sdk.packets import Packet, packet

logger = logging.getLogger("shipchat.sdk")

EventCallback: TypeAlias = Callable[[SessionEvent], Any]
"""Called with each event; what an `async def` returns is awaited."""

PacketCallback: TypeAlias = Callable[[Packet], Any]
"""Called with each packet; what an `async def` returns is awaited."""

Call: TypeAlias = tuple[Callable[[Any], Any], Any]
"""A callback and what to call it with; whoever makes the call sends back what it raised, or None."""

Telling: TypeAlias = Generator[Call, Exception | None, list[SessionEvent]]


class Callbacks:
    """The callbacks of one session's window."""

    def __init__(self) -> None:
        self.on_event: list[EventCallback] = []
        self.on_packet: list[PacketCallback] = []

    def tell(self, event: SessionEvent, told: int, failed: set[int]) -> Telling:
        """Yield each call to make for `event`, `told` events of the turn having been told before.

        Returns the events that it has become: itself and, for a callback that raised for the first time in this turn
        (`failed` knows the others), a notice; after it, or before the last event, which stays the last.
        """
        last = isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed)
        notices = yield from self._call(self.on_event, event, failed)
        out: list[SessionEvent] = []
        if last:
            for notice in notices:
                yield from self._deliver(notice, told, out, failed)
            notices = []
        out.append(event)
        notices += yield from self._call(self.on_packet, packet(told + len(out), event), failed)
        if not last:
            for notice in notices:
                yield from self._deliver(notice, told, out, failed)
        return out

    def _deliver(
        self, notice: Notice, told: int, out: list[SessionEvent], failed: set[int]
    ) -> Generator[Call, Exception | None, None]:
        out.append(notice)
        yield from self._call(self.on_event, notice, failed)
        yield from self._call(self.on_packet, packet(told + len(out), notice), failed)

    def _call(
        self, callbacks: list[Any], argument: Any, failed: set[int]
    ) -> Generator[Call, Exception | None, list[Notice]]:
        notices: list[Notice] = []
        for callback in tuple(callbacks):
            error = yield callback, argument
            if error is None:
                continue
            name = getattr(callback, "__name__", type(callback).__name__)
            logger.warning("the callback %s raised %s", name, type(error).__name__)
            if id(callback) not in failed:
                failed.add(id(callback))
                text = f"the callback {name} raised {type(error).__name__}: {error}".removesuffix(": ")
                notices.append(Notice("callback_failed", text, {"callback": name}))
        return notices
