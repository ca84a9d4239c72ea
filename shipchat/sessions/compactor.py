"""Compacts one session: proposes a summary, applies it, takes it back; by hand and by itself before a model call.

A proposal changes nothing; applying it appends one entry. What goes wrong before that leaves the session as it was.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from shipchat.core.attachments import EVERY_SORT
from shipchat.core.compaction import (
    SHORTEST_SUMMARY,
    WORTHWHILE,
    Cut,
    active_checkpoint,
    further_fields,
    plan_cut,
    plan_cut_by_hand,
    summary_limit,
    undone_checkpoint,
)
from shipchat.core.context import path_to, preface, summary_message
from shipchat.core.entries import CheckpointEntry, CheckpointUndoneEntry
from shipchat.core.errors import SessionConflict, ShipchatError, UsageError
from shipchat.core.ids import new_id
from shipchat.core.models import parse_model
from shipchat.core.paths import Path
from shipchat.core.protocols import Blobs, ModelRequest
from shipchat.core.safe_text import without_surrogates
from shipchat.core.session import Session, fold
from shipchat.sessions.attaching import with_texts
from shipchat.sessions.clock import Clock
from shipchat.sessions.options import ModelAccess
from shipchat.sessions.requests import Frame, Scales, Standing
from shipchat.sessions.summariser import CompactionFailed, Progress, Stretch, Summariser
from shipchat.sessions.tools import Equipped


@runtime_checkable
class CountsTokens(Protocol):
    """A provider that can say what a request weighs without answering it."""

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return the tokens of `request`. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A compaction that has not been applied: `summary` for the messages at positions `first` to `last`.

    An earlier summary is part of it. `seen` is the compaction that counted before. `tokens_before` and `tokens_after` are those of a whole
    request (system prompt and tools included) in the model's own tokens; `exact` says that its provider counted them.
    """

    summary: str
    first: int
    last: int
    covers: str
    kept_from: str | None
    tokens_before: int
    tokens_after: int
    exact: bool
    model: str
    instructions: str | None
    seen: str | None
    window: int
    by_hand: bool

    def entry(self, entry_id: str, clock: Clock) -> CheckpointEntry:
        """Return the checkpoint that applies this."""
        return CheckpointEntry(
            id=entry_id,
            at=clock(),
            summary=self.summary,
            covers=self.covers,
            kept_from=self.kept_from,
            tokens_before=self.tokens_before,
            tokens_after=self.tokens_after,
            model=self.model,
            instructions=self.instructions,
            extra=further_fields(window=self.window, by_hand=self.by_hand),
        )


class Compactor:
    """Proposes compactions of one session. Reads and asks a model; writes nothing."""

    def __init__(self, models: ModelAccess, scales: Scales, clock: Clock, blobs: Blobs | None = None) -> None:
        self._models = models
        self._blobs = blobs
        self._scales = scales
        self._clock = clock

    async def propose(
        self,
        session: Session,
        frame: Frame,
        *,
        until: str | None = None,
        instructions: str | None = None,
        up_to: int | str | None = None,
        by_hand: bool = True,
        forced: bool = False,
        progress: Progress = lambda _piece, _pieces: None,
    ) -> Proposal | None:
        """Return a compaction of the path to `until` (None: the head); by hand also of a session that is small.

        `up_to` (a position or id) is the last message to be summarised; by default the newest turns are kept, and when
        `forced` (the window turned out to be smaller than we know) fewer of them.
        `progress` is told each piece. None when it is not by hand and there is nothing that would be worth it.
        Raises UsageError (nothing to summarise), MessageNotFound, CompactionFailed and what the summarising provider
        raises.
        """
        path = path_to(session, until)
        standing = await asyncio.to_thread(self._scales.standing, session, frame, until=until, exactly=True)
        between = self._scales.between(session, path, standing.scale)
        cut = self._cut(session, path, standing, frame, up_to=up_to, by_hand=by_hand, forced=forced)
        if cut is None:
            return None
        covered = await asyncio.to_thread(between, cut.first, cut.last)
        if cut.earlier is not None:
            covered += self._scales.weigh(
                summary_message(cut.earlier, session.tree.depth(cut.earlier.covers)), standing.scale
            )
        limit = min(summary_limit(standing.budget), max(SHORTEST_SUMMARY, covered // 2))
        if not by_hand and not _promises(standing, covered, limit):
            return None
        ref = parse_model(frame.rules.model) if frame.rules.model else frame.ref
        summariser = Summariser(self._models.provider(ref), ref, self._scales.table, frame.rules)
        said = [
            (position, message)
            for position, message in enumerate(
                (session.tree.get(one) for one in path[cut.first - 1 : cut.last]), cut.first
            )
            if message is not None
        ]
        # What text files say is summarised as if it had been typed; pictures are only named.
        texts = await asyncio.to_thread(with_texts, [message for _, message in said], self._blobs, EVERY_SORT)
        stretch = Stretch(
            messages=[(position, message) for (position, _), message in zip(said, texts, strict=True)],
            earlier=cut.earlier.summary if cut.earlier is not None else None,
            limit=limit,
            instructions=[wish for wish in (frame.rules.instructions, instructions) if wish and wish.strip()],
        )
        summary = await summariser.summarise(stretch, progress)
        proposal = Proposal(
            summary=summary,
            first=cut.first,
            last=cut.last,
            covers=path[cut.last - 1],
            kept_from=path[cut.last] if cut.last < len(path) else None,
            tokens_before=standing.tokens + standing.fixed,
            tokens_after=0,
            exact=False,
            model=str(ref),
            instructions=instructions,
            seen=_counting(session),
            window=frame.window,
            by_hand=by_hand,
        )
        weighed = await self._weighed(session, frame, until, proposal, standing)
        _check(weighed, by_hand=by_hand)
        return weighed

    async def edited(self, session: Session, frame: Frame, proposal: Proposal, summary: str) -> Proposal:
        """Return `proposal` with another summary, weighed anew. Raises UsageError for an empty one."""
        text = without_surrogates(summary).strip()
        if not text:
            raise UsageError("the summary is empty", advice=("Nothing was changed.",))
        if text == proposal.summary:
            return proposal
        standing = await asyncio.to_thread(self._scales.standing, session, frame, exactly=True)
        return await self._weighed(session, frame, None, replace(proposal, summary=text), standing)

    def _cut(
        self,
        session: Session,
        path: Path,
        standing: Standing,
        frame: Frame,
        *,
        up_to: int | str | None,
        by_hand: bool,
        forced: bool,
    ) -> Cut | None:
        earlier = standing.checkpoint
        between = self._scales.between(session, path, standing.scale)
        keep = int((min(standing.tokens, standing.budget) if forced else standing.budget) * frame.rules.keep)
        if up_to is not None:
            wanted = session.find_message(up_to).id
            last = session.position_of(wanted)
            if last is None:
                raise UsageError(f"message {up_to} is not on the current path")
            if last < standing.first:
                raise UsageError(
                    f"messages 1 to {standing.first - 1} are summarised already",
                    advice=("Take that back first: /compact undo, or shipchat compact --undo.",),
                )
            return Cut(standing.first, last, earlier)
        plan = plan_cut_by_hand if by_hand else plan_cut
        cut = plan(session, path, first=standing.first, keep=keep, tokens=between, earlier=earlier)
        if cut is None and by_hand:
            what = "nothing has been said since it was compacted" if earlier else "it has no messages yet"
            raise UsageError(f"there is nothing to compact in session {session.key}: {what}")
        return cut

    async def _weighed(
        self, session: Session, frame: Frame, until: str | None, proposal: Proposal, standing: Standing
    ) -> Proposal:
        """Return `proposal` with what a request weighs before and after: by its provider where it can count."""
        if proposal.by_hand and until is None:
            exact = await self._counted(session, frame, proposal)
            if exact is not None:
                return replace(proposal, tokens_before=exact[0], tokens_after=exact[1], exact=True)

        def estimate() -> int:
            path = path_to(session, until)
            checkpoint = proposal.entry(new_id(), self._clock)
            before = preface(session, path, proposal.last + 1, checkpoint)
            tokens = sum(self._scales.weigh(message, standing.scale) for message in before)
            between = self._scales.between(session, path, standing.scale)
            return standing.fixed + tokens + between(proposal.last + 1, len(path))

        return replace(proposal, tokens_after=await asyncio.to_thread(estimate))

    async def _counted(self, session: Session, frame: Frame, proposal: Proposal) -> tuple[int, int] | None:
        """Return the tokens before and after as the model's provider counts them, None when it can't."""
        provider = self._models.provider(frame.ref)
        counts = provider.provider if isinstance(provider, Equipped) else provider
        if not isinstance(counts, CountsTokens):
            return None
        after = fold(session, (proposal.entry("proposed", self._clock),))
        try:
            before_request, after_request = [
                (await asyncio.to_thread(self._scales.make, one, frame))[0] for one in (session, after)
            ]
            return await counts.count_tokens(before_request), await counts.count_tokens(after_request)
        except ShipchatError:  # it is only a figure; our estimate does
            return None


def _promises(standing: Standing, covered: int, limit: int) -> bool:
    """Say whether a summary of `covered` tokens can bring a request down by enough to be worth asking for."""
    before = standing.fixed + standing.tokens
    after = before - covered + min(limit, covered // 2)
    return after <= before * WORTHWHILE


def _check(proposal: Proposal, *, by_hand: bool) -> None:
    most = proposal.tokens_before * (1.0 if by_hand else WORTHWHILE)
    if proposal.tokens_after >= most:
        raise CompactionFailed(
            f"the summary by {proposal.model} is too long to help: a request would have "
            f"{proposal.tokens_after:,} tokens instead of {proposal.tokens_before:,}",
            advice=(
                "The session is as it was. Another model can summarise: compaction.model in the config.",
            ),
            details={"tokens_before": proposal.tokens_before, "tokens_after": proposal.tokens_after},
        )


def still_applies(session: Session, proposal: Proposal) -> None:
    """Raise SessionConflict unless `session` still is one that `proposal` was made for."""
    if session.position_of(proposal.covers) != proposal.last or _counting(session) != proposal.seen:
        raise SessionConflict(
            f"session {session.key} was changed meanwhile; it was not compacted",
            advice=("Nothing was written. Try again.",),
            details={"key": session.key},
        )


def _counting(session: Session) -> str | None:
    checkpoint = active_checkpoint(session)
    return None if checkpoint is None else checkpoint.id


def undoing(session: Session, clock: Clock) -> CheckpointUndoneEntry:
    """Return the entry that takes back the newest compaction on the current path. Raises UsageError."""
    checkpoint = active_checkpoint(session)
    if checkpoint is None:
        raise UsageError(f"there is no compaction to take back in session {session.key}")
    return CheckpointUndoneEntry(id=new_id(), at=clock(), checkpoint=checkpoint.id)


def redoing(session: Session, clock: Clock) -> CheckpointEntry:
    """Return the entry that brings back the compaction taken back last: a copy of it. Raises UsageError."""
    checkpoint = undone_checkpoint(session)
    if checkpoint is None:
        raise UsageError(f"there is no compaction to bring back in session {session.key}")
    extra = dict(checkpoint.extra) | {"redo_of": checkpoint.id}
    return replace(checkpoint, id=new_id(), at=clock(), extra=extra)
