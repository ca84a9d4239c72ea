"""Compaction by itself, before a model call of a turn: whether it is time, one attempt a turn, and when to give up."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shipchat.core.compaction import Mode
from shipchat.core.entries import NoticeEntry
from shipchat.core.errors import ShipchatError, StoreUnavailable
from shipchat.core.events import CompactionFinished, CompactionStarted, Notice, SessionEvent
from shipchat.core.ids import new_id
from shipchat.core.messages import Failure
from shipchat.core.session import Session
from shipchat.sessions.clock import Clock
from shipchat.sessions.compactor import Compactor, Proposal
from shipchat.sessions.ledger import Ledger
from shipchat.sessions.requests import Frame, Scales, Standing

FAILURES: Final = 2
"""Attempts in a row that bring nothing, after which a window does not try any more."""

DUE: Final = "compaction_due"
STOPPED: Final = "compaction_stopped"


@dataclass(slots=True)
class Breaker:
    """How many attempts in a row brought nothing in this window, and for which model that was."""

    failures: int = 0
    model: str = ""

    def open_for(self, model: str) -> bool:
        """Return whether no further attempt is made; another model begins anew."""
        if model != self.model:
            self.model, self.failures = model, 0
        return self.failures >= FAILURES


class AutoCompaction:
    """One turn's: `prepare` may be cancelled at any time and writes nothing; `settle` writes what it brought."""

    def __init__(
        self,
        frame: Frame,
        *,
        ledger: Ledger,
        scales: Scales,
        compactor: Compactor,
        breaker: Breaker,
        clock: Clock,
        emit: Callable[[SessionEvent], None],
    ) -> None:
        self._frame = frame
        self._ledger = ledger
        self._scales = scales
        self._compactor = compactor
        self._breaker = breaker
        self._clock = clock
        self._emit = emit
        self._attempted = False
        self._started: CompactionStarted | None = None
        self._proposal: Proposal | None = None
        self._failure: Failure | None = None
        self._notice: NoticeEntry | None = None

    async def prepare(self, end: str | None, *, forced: bool = False) -> None:
        """Look whether the path to `end` is to be compacted, and get the summary.

        `forced`: the provider said that the request was too long, whatever we count.
        """
        mode: Mode = self._frame.rules.mode
        if mode == "off" or end is None:
            return
        session = self._ledger.session
        standing = await asyncio.to_thread(self._scales.standing, session, self._frame, until=end)
        if not standing.due and not forced:
            return
        if mode == "remind":
            self._remind(session, standing)
            return
        if self._attempted or self._breaker.open_for(str(self._frame.ref)):
            return
        self._attempted = True
        try:
            self._proposal = await self._compactor.propose(
                session,
                self._frame,
                until=end,
                by_hand=False,
                forced=forced,
                progress=self._progress(standing),
            )
        except ShipchatError as error:
            self._failure = Failure(error.code, str(error))

    async def settle(self) -> None:
        """Write what `prepare` brought and tell how it ended; an attempt that was cancelled is told as one."""
        started, proposal, failure = self._started, self._proposal, self._failure
        self._started = self._proposal = self._failure = None
        if self._notice is not None:
            await self._store_notice(self._notice)
        if proposal is not None:
            entry = proposal.entry(new_id(), self._clock)
            try:
                await asyncio.to_thread(self._ledger.append, (entry,), exclusive=True)
            except ShipchatError as error:
                failure = Failure(error.code, str(error))
            else:
                self._breaker.failures = 0
                self._emit(CompactionFinished(entry.id, entry.tokens_before, entry.tokens_after))
                return
        if failure is None and started is None:
            return
        before = started.tokens_before if started is not None else 0
        if failure is None:
            failure = Failure("interrupted", "it was interrupted")
        else:
            self._breaker.failures += 1
        self._emit(CompactionFinished(None, before, before, failure))
        if self._breaker.failures == FAILURES:
            self._emit(
                Notice(
                    STOPPED,
                    f"compacting brought nothing {FAILURES} times in a row and is not tried again here: "
                    f"{failure.message}. /compact tries it by hand",
                    {"attempts": FAILURES, "code": failure.code},
                )
            )

    def _progress(self, standing: Standing) -> Callable[[int, int], None]:
        def progress(piece: int, pieces: int) -> None:
            started = CompactionStarted(standing.tokens + standing.fixed, pieces, piece)
            if self._started is None:
                self._started = started
            self._emit(started)

        return progress

    def _remind(self, session: Session, standing: Standing) -> None:
        """Have it said that the share is passed, once for as long as the same messages are sent."""
        for placed in reversed(session.notices):
            if placed.notice.about == DUE and placed.after is not None:
                position = session.position_of(placed.after)
                if position is not None and position >= standing.first:
                    return
        share = round(100 * standing.tokens / max(1, standing.budget))
        text = f"{share} % of what the model can be sent is used; /compact makes room"
        self._notice = NoticeEntry(id=new_id(), at=self._clock(), about=DUE, text=text)

    async def _store_notice(self, notice: NoticeEntry) -> None:
        self._notice = None
        self._emit(Notice(DUE, notice.text))
        try:
            await asyncio.to_thread(self._ledger.append, (notice,), exclusive=False)
        except StoreUnavailable:
            self._ledger.keep((notice,))
