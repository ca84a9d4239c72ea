"""One turn: asks the model, folds what streams back, keeps the draft, stores the reply, tells each event.

When the model calls tools, they are run (`tools` knows how), the message is stored with all results, and the model is
asked again, until it answers without calling any: one assistant message for each model call.

Everything that goes wrong in here ends in the stream as `TurnFailed`; what had arrived is stored first.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Final

from shipchat.core.entries import MessageEntry
from shipchat.core.errors import (
    ContextOverflow,
    ProviderError,
    ProviderUnavailable,
    ShipchatError,
    StoreUnavailable,
)
from shipchat.core.events import (
    LastEvent,
    MessageSaved,
    Notice,
    ReasoningDelta,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    StreamEnded,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    UsageUpdated,
)
from shipchat.core.ids import new_id
from shipchat.core.messages import AssistantMessage, Failure, ToolCallPart, ToolResult, Usage
from shipchat.core.protocols import ModelRequest, Provider
from shipchat.sessions.auto_compaction import AutoCompaction
from shipchat.sessions.clock import Clock
from shipchat.sessions.draft_keeper import DraftKeeper
from shipchat.sessions.ledger import Ledger
from shipchat.sessions.reply import Reply
from shipchat.sessions.requests import RequestMaker
from shipchat.sessions.tools import MAX_CALLS, TooManyModelCalls, toolbox_of

MAX_TRIES: Final = 3
"""Calls at most until the first text has come; after that none is repeated."""

FIRST_DELAY: Final = 1.0
"""Seconds before the second try when the provider names no time; doubled for the third."""

SHRINK: Final = 0.7
"""How much of the budget is tried next when a provider says that a request was too long."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What a turn is to do: ask `provider` for a child of `parent`.

    `compaction` makes room before a call; `stamp` returns a reply with what is known of its size, to be stored.
    """

    provider: Provider
    model: str
    parent: str | None
    make_request: RequestMaker
    emit: Callable[[SessionEvent], None]
    compaction: AutoCompaction
    stamp: Callable[[AssistantMessage], AssistantMessage]


class Turn:
    """Runs once."""

    def __init__(self, plan: TurnPlan, ledger: Ledger, keeper: DraftKeeper, clock: Clock) -> None:
        self._plan = plan
        self._ledger = ledger
        self._keeper = keeper
        self._clock = clock
        self._toolbox = toolbox_of(plan.provider)
        self._calls: tuple[AssistantMessage, ...] = ()  # stored by this turn already: each called tools
        self._interrupted = asyncio.Event()
        self._told_unsaved = False

    def interrupt(self) -> None:
        """Stop the reply; the stream then ends with TurnInterrupted."""
        self._interrupted.set()

    async def run(self) -> LastEvent:
        """Ask the model until it calls no more tools, store each reply, return the last event."""
        while True:
            last = await self._reply()
            if not isinstance(last, TurnCompleted) or not _calls_tools(last.reply):
                return last
            self._calls = (*self._calls, last.reply)

    async def _reply(self) -> LastEvent:
        """Make one model call, run the tools it asks for, store it all as one message."""
        await self._make_room()
        tree = self._ledger.session.tree
        parent = self._calls[-1].id if self._calls else self._plan.parent
        parent_depth = tree.depth(parent) if parent is not None and parent in tree else 0
        reply = Reply(new_id(), parent, self._plan.model, self._clock())
        self._keeper.begin(reply)
        self._plan.emit(ReplyStarted(reply.id, parent_depth + 1, reply.model, reply.parent))
        error: ShipchatError | None = None
        try:
            await self._ask(reply)
            if reply.has_calls and not self._interrupted.is_set():
                await self._use_tools(reply)
        except ShipchatError as caught:
            error = caught
        except BaseException:
            await (
                self._keeper.pause()
            )  # a bug: the draft keeps what had arrived, for the next turn to recover
            raise
        return await self._store(reply, error)

    async def _ask(self, reply: Reply) -> None:
        """Call the model (up to three times while nothing has come)."""
        share = 1.0
        attempt = 1
        while not self._interrupted.is_set():
            try:
                request = await asyncio.to_thread(self._plan.make_request, self._calls, share)
                await self._unless_interrupted(self._take_in(request, reply))
                return
            except ContextOverflow:
                share *= SHRINK
                if reply.has_text or reply.has_calls or share < SHRINK**3:
                    raise
                await self._make_room(forced=True)
            except ProviderError as error:
                if not error.retryable or reply.has_text or reply.has_calls or attempt >= MAX_TRIES:
                    raise
                delay = (
                    error.retry_after if error.retry_after is not None else FIRST_DELAY * 2 ** (attempt - 1)
                )
                attempt += 1
                self._plan.emit(RetryScheduled(attempt, delay, Failure(error.code, str(error))))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._interrupted.wait(), delay)

    async def _make_room(self, *, forced: bool = False) -> None:
        """Have older turns summarised where it is time. An interrupt stops that; it writes nothing then."""
        compaction = self._plan.compaction
        end = self._calls[-1].id if self._calls else self._plan.parent
        if not self._interrupted.is_set():
            await self._unless_interrupted(compaction.prepare(end, forced=forced))
            await compaction.settle()

    async def _use_tools(self, reply: Reply) -> None:
        """Run what the model called; each result is on disk in the draft before it is told."""
        if len(self._calls) + 1 >= MAX_CALLS:
            raise TooManyModelCalls(
                f"the model was stopped after {MAX_CALLS} calls in one turn; its last calls of tools were not run",
                advice=("What was done so far is in the session; send again to go on.",),
            )

        async def finished(place: int, result: ToolResult) -> None:
            call = reply.finish_call(place, result)
            await self._keeper.write(durable=True)
            self._plan.emit(ToolCallFinished(call))

        calls = reply.open_calls()
        await self._keeper.write(durable=True)  # that they were called must survive a crash as well
        for call in calls.values():
            self._plan.emit(ToolCallStarted(call))
        await self._unless_interrupted(self._toolbox.run(calls, finished))

    async def _unless_interrupted(self, work: Coroutine[None, None, None]) -> None:
        """Do `work` until it ends or the user interrupts, whichever comes first."""
        working = asyncio.create_task(work)
        stopped = asyncio.create_task(self._interrupted.wait())
        try:
            await asyncio.wait((working, stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            if not working.done():
                working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working

    async def _take_in(self, request: ModelRequest, reply: Reply) -> None:
        emit = self._plan.emit
        async with contextlib.aclosing(self._plan.provider.stream(request)) as stream:  # type: ignore[type-var]  # every provider's stream is an async generator
            async for event in stream:
                reply.add(event)
                if self._keeper.failure is not None:  # the text that comes is nowhere but here
                    self._tell_unsaved(self._keeper.failure)
                match event:
                    case TextDelta() | ReasoningDelta():
                        emit(event)
                    case Usage() as usage:
                        emit(UsageUpdated(usage))
                    case StreamEnded(usage=usage) if usage is not None:
                        emit(UsageUpdated(usage))
        if reply.ended is None:
            raise ProviderUnavailable("the reply broke off before its end")

    def _tell_unsaved(self, error: StoreUnavailable) -> None:
        """Say once in this turn that something is not on disk."""
        if not self._told_unsaved:
            self._told_unsaved = True
            self._plan.emit(Notice("not_saved", str(error)))

    async def _store(self, reply: Reply, error: ShipchatError | None) -> LastEvent:
        if error is not None:
            failure = Failure(error.code, str(error))
            message = reply.message("failed", failure)
        elif self._interrupted.is_set() and (reply.ended is None or reply.has_calls):
            message, failure = reply.message("interrupted"), None
        else:
            message, failure = reply.message("complete"), None
        message = await asyncio.to_thread(self._plan.stamp, message)
        entry = MessageEntry(message=message)
        try:
            await asyncio.to_thread(self._ledger.append, (entry,), exclusive=True)
        except ShipchatError as store_error:
            await self._keeper.pause()
            if isinstance(store_error, StoreUnavailable):
                self._ledger.keep((entry,))
                self._tell_unsaved(store_error)
            return TurnFailed(
                Failure(store_error.code, str(store_error)),
                message,
                advice=store_error.advice,
                exit_code=store_error.exit_code,
                saved=False,
            )
        await self._keeper.end()
        position = self._ledger.session.tree.depth(message.id)
        self._plan.emit(MessageSaved(message, position))
        if error is not None and failure is not None:
            return TurnFailed(failure, message, advice=error.advice, exit_code=error.exit_code)
        return TurnInterrupted(message) if message.status == "interrupted" else TurnCompleted(message)


def _calls_tools(reply: AssistantMessage) -> bool:
    return any(isinstance(part, ToolCallPart) for part in reply.parts)
