"""Compaction of an open session by hand: propose, apply, take back, bring back; and how full its model's window is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from shipchat.core.context import Projection
from shipchat.core.entries import CheckpointEntry, CheckpointUndoneEntry
from shipchat.core.errors import ContextOverflow
from shipchat.core.events import SessionEvent
from shipchat.core.ids import new_id
from shipchat.core.protocols import Blobs, ModelRequest
from shipchat.core.session import Session
from shipchat.sessions.attaching import with_texts
from shipchat.sessions.auto_compaction import AutoCompaction, Breaker
from shipchat.sessions.clock import Clock
from shipchat.sessions.compactor import Compactor, Proposal, redoing, still_applies, undoing
from shipchat.sessions.hold import WindowHold
from shipchat.sessions.ledger import Ledger
from shipchat.sessions.options import ModelAccess
from shipchat.sessions.requests import Frame, Scales
from shipchat.sessions.summariser import Progress

EntryT = TypeVar("EntryT", CheckpointEntry, CheckpointUndoneEntry)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUse:
    """How full the window of `model` is, in its own tokens.

    `used` is the system prompt, the tools, the summary and the messages; `window` and `reserve` (kept for the reply) are
    the model's, `limit` is what `used` may come to before it is time to compact. From position `starts_at` on the model
    sees messages word for word (1: all of them); `checkpoint` is the id of the compaction that stands for those before.
    """

    model: str
    used: int
    window: int
    reserve: int
    limit: int
    starts_at: int
    checkpoint: str | None

    @property
    def share(self) -> float:
        """How much of the window is used, 0 to 1 (more: it doesn't fit)."""
        return self.used / self.window if self.window > 0 else 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to compact."""
        return self.used > self.limit


class SessionCompaction:
    """What can be done about the length of one session."""

    def __init__(
        self,
        ledger: Ledger,
        hold: WindowHold,
        lock: asyncio.Lock,
        *,
        models: ModelAccess,
        scales: Scales,
        frame: Callable[[], Awaitable[Frame]],
        clock: Clock,
        blobs: Blobs | None = None,
    ) -> None:
        self._ledger = ledger
        self._blobs = blobs
        self._hold = hold
        self._lock = lock
        self._scales = scales
        self._frame = frame
        self._clock = clock
        self._compactor = Compactor(models, scales, clock, blobs)
        self._breaker = Breaker()

    def before_calls(self, frame: Frame, emit: Callable[[SessionEvent], None]) -> AutoCompaction:
        """Return what makes room by itself in one turn."""
        return AutoCompaction(
            frame,
            ledger=self._ledger,
            scales=self._scales,
            compactor=self._compactor,
            breaker=self._breaker,
            clock=self._clock,
            emit=emit,
        )

    async def context(self) -> ContextUse:
        """Return how full the window is. Raises ModelMissing, ProviderAuth, UsageError."""
        frame, session = await self._frame(), self._ledger.session
        standing = await asyncio.to_thread(self._scales.standing, session, frame, exactly=True)
        return ContextUse(
            model=str(frame.ref),
            used=standing.tokens + standing.fixed,
            window=standing.window,
            reserve=frame.reserve,
            limit=standing.limit + standing.fixed,
            starts_at=await asyncio.to_thread(self._starts_at, session, frame, standing.first),
            checkpoint=None if standing.checkpoint is None else standing.checkpoint.id,
        )

    async def sent(self) -> tuple[ModelRequest, Projection]:
        """Return what the model would be sent now, without a new prompt, and how that was made.

        Raises ContextOverflow, and as `context` does.
        """
        frame = await self._frame()
        request, projection = await asyncio.to_thread(self._scales.make, self._ledger.session, frame)
        accepts = frame.info.accepts
        messages = await asyncio.to_thread(with_texts, request.messages, self._blobs, accepts)
        return replace(request, messages=messages), projection

    async def propose(
        self,
        *,
        instructions: str | None = None,
        up_to: int | str | None = None,
        progress: Progress = lambda _piece, _pieces: None,
    ) -> Proposal:
        """Return a compaction to look at; nothing is written. Cancelling it leaves no trace.

        `instructions` are told to the summarising model; `up_to` (a position or id) is the last message that is
        summarised, by default all but the newest turns; `progress` is told the number of each piece and how many there
        are. Raises UsageError (nothing to compact), MessageNotFound, CompactionFailed, provider errors.
        """
        async with self._lock:
            await asyncio.to_thread(self._ledger.refresh)
        frame = await self._frame()
        proposal = await self._compactor.propose(
            self._ledger.session, frame, instructions=instructions, up_to=up_to, progress=progress
        )
        if proposal is None:
            raise AssertionError("by hand there is always a proposal or an error")
        return proposal

    async def edited(self, proposal: Proposal, summary: str) -> Proposal:
        """Return `proposal` with the summary as a user changed it, and what it weighs now. Raises UsageError."""
        return await self._compactor.edited(self._ledger.session, await self._frame(), proposal, summary)

    async def apply(self, proposal: Proposal, summary: str | None = None) -> CheckpointEntry:
        """Let the model be sent the summary from now on (`summary`: as it was edited); return the checkpoint.

        Raises SessionHeld (a turn runs elsewhere), SessionConflict (what it was made for has changed), UsageError (an
        empty summary), StoreUnavailable; nothing is written then.
        """
        if summary is not None:
            proposal = await self.edited(proposal, summary)

        def entry(session: Session) -> CheckpointEntry:
            still_applies(session, proposal)
            return proposal.entry(new_id(), self._clock)

        applied = await self._append(entry)
        self._breaker.failures = 0
        return applied

    async def undo(self) -> CheckpointEntry:
        """Take back the newest compaction on the current path and return it. Raises UsageError, SessionHeld."""
        taken_back: list[CheckpointEntry] = []

        def entry(session: Session) -> CheckpointUndoneEntry:
            undone = undoing(session, self._clock)
            taken_back[:] = [one for one in session.checkpoints if one.id == undone.checkpoint]
            return undone

        await self._append(entry)
        return taken_back[0]

    async def redo(self) -> CheckpointEntry:
        """Bring back the compaction taken back last and return it. Raises UsageError, SessionHeld."""
        return await self._append(lambda session: redoing(session, self._clock))

    async def _append(self, entry: Callable[[Session], EntryT]) -> EntryT:
        async with self._hold.for_a_moment(), self._lock:
            await asyncio.to_thread(self._ledger.refresh)
            made = entry(self._ledger.session)
            await asyncio.to_thread(self._ledger.append, (made,), exclusive=True)
            return made

    def _starts_at(self, session: Session, frame: Frame, first: int) -> int:
        try:
            return self._scales.make(session, frame)[1].starts_at
        except ContextOverflow:
            return first
