"""A session to talk in: one turn at a time, each a stream of events with exactly one last one.

Every front end drives this class. It owns the order of things: hold, then prompt on disk, then model call, then
reply on disk, then hold freed. How a reply streams is `Turn`'s; how entries are added is `Ledger`'s.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace

from shipchat.core.attachments import NewAttachment
from shipchat.core.drafts import QueuedPrompt
from shipchat.core.entries import CheckpointEntry, Entry, HeadEntry, MessageEntry, SessionHeader, SetEntry
from shipchat.core.errors import MessageNotFound, SessionHeld, ShipchatError, UsageError
from shipchat.core.events import (
    LastEvent,
    MessageSaved,
    Notice,
    SessionEvent,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.ids import new_id
from shipchat.core.messages import Failure, UserMessage
from shipchat.core.models import ModelInfo, ModelRef, parse_model
from shipchat.core.protocols import Blobs, FullStore, WindowDraft
from shipchat.core.session import Session
from shipchat.sessions.attaching import with_files
from shipchat.sessions.clock import Clock, utc_now
from shipchat.sessions.draft_keeper import DraftKeeper
from shipchat.sessions.hold import WindowHold
from shipchat.sessions.ledger import Ledger
from shipchat.sessions.look import Look, look
from shipchat.sessions.options import ChatOptions, ModelAccess, entries_for
from shipchat.sessions.recovery import CUT_OFF, recover, with_queue
from shipchat.sessions.requests import Frame, Scales, frame_for
from shipchat.sessions.session_compaction import ContextUse, SessionCompaction
from shipchat.sessions.token_ledger import TokenTable
from shipchat.sessions.turn import Turn, TurnPlan
from shipchat.sessions.turn_requests import TurnRequests
from shipchat.sessions.turn_start import (
    StartOf,
    answering_again,
    asking,
    checked_prompt,
    continuing,
)

logger = logging.getLogger("shipchat.sessions")


class ChatSession:
    """One session and the turns in it. Made without I/O; the session file is made by the first send.

    Not thread-safe: use it from one event loop.
    """

    def __init__(
        self,
        store: FullStore,
        key: str,
        *,
        models: ModelAccess,
        options: ChatOptions | None = None,
        header: SessionHeader | None = None,
        clock: Clock = utc_now,
        blobs: Blobs | None = None,
    ) -> None:
        """`blobs` keeps attachments; without it none can be sent."""
        self.options = options or ChatOptions()
        self._store = store
        self._models = models
        self._clock = clock
        self._blobs = blobs
        self._ledger = Ledger(store, header or SessionHeader(key=key, created=clock()))
        self._scales = Scales(TokenTable(models.counter))
        self._keeper: DraftKeeper | None = None
        self._queue: tuple[QueuedPrompt, ...] = ()
        self._hold = WindowHold(store, self.key, self.options.program)
        self._turn: Turn | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._lock = asyncio.Lock()  # one ledger call at a time
        self.compaction = SessionCompaction(
            self._ledger,
            self._hold,
            self._lock,
            models=models,
            scales=self._scales,
            frame=self.frame,
            clock=clock,
            blobs=blobs,
        )

    # --- what it is ---

    @property
    def key(self) -> str:
        """The session's unique name."""
        return self._ledger.key

    @property
    def session(self) -> Session:
        """The session as last known here, messages that could not be stored yet included."""
        return self._ledger.session

    @property
    def exists(self) -> bool:
        """Whether the session is in the store, as far as is known here."""
        return self._ledger.exists

    @property
    def model(self) -> ModelRef:
        """Which model the next turn asks. Raises UsageError when the name is none."""
        return self.options.model_for(self.session)

    @property
    def queue(self) -> tuple[QueuedPrompt, ...]:
        """Prompts that wait behind the running turn, or that an ended one left behind."""
        return self._queue

    @property
    def replying(self) -> bool:
        """Whether a turn runs here."""
        return not self._idle.is_set()

    @property
    def saved(self) -> bool:
        """Whether everything known is on disk."""
        return not self._ledger.unsaved

    # --- turns ---

    def send(
        self, prompt: str, *, replacing: str | None = None, attachments: Sequence[NewAttachment] = ()
    ) -> AsyncGenerator[SessionEvent]:
        """Send `prompt` and yield what happens. `replacing` is the id of a message this one is a sibling of.

        `attachments` go with it (`sessions.attaching.read_attachments` reads files).

        Before the first event it raises: UsageError (nothing in the prompt, a file the model can't take), SessionHeld, SessionDamaged,
        StoreUnavailable (the prompt could not be stored and nothing was sent), ModelMissing. After it, failures are
        events. Closing the generator interrupts the turn; what had arrived is stored.
        """
        return self._stream(asking(prompt, self._clock, replacing=replacing), files=attachments)

    def send_queued(self) -> AsyncGenerator[SessionEvent]:
        """Send the first queued prompt, as `send` does. Raises UsageError when none waits."""
        if not self._queue:
            raise UsageError("no prompt is queued")
        first = self._queue[0]
        return self._stream(asking(first.text, self._clock, message_id=first.id), dequeue=first.id)

    def continue_reply(self) -> AsyncGenerator[SessionEvent]:
        """Have the last reply, cut short, continued as a child of it. Raises UsageError when it is complete."""
        return self._stream(continuing)

    def regenerate(self, reply: int | str | None = None) -> AsyncGenerator[SessionEvent]:
        """Make another reply beside `reply` (an id or position; the last one by default): a sibling of it."""
        return self._stream(answering_again(reply))

    def interrupt(self) -> None:
        """Stop the reply in flight, if any; its stream then ends with TurnInterrupted."""
        if self._turn is not None:
            self._turn.interrupt()

    # --- the queue ---

    async def enqueue(self, prompt: str) -> QueuedPrompt:
        """Put a prompt behind the running turn; it is on disk when this returns."""
        queued = QueuedPrompt(new_id(), self._clock(), checked_prompt(prompt))
        await self.set_queue((*self._queue, queued))
        return queued

    async def set_queue(self, queue: Sequence[QueuedPrompt]) -> None:
        """Replace the queue (edit, reorder, drop).

        Raises SessionHeld when a turn runs elsewhere, StoreUnavailable; the queue is as it was then.
        """
        before, self._queue = self._queue, tuple(queue)
        try:
            if self._keeper is not None:
                await self._keeper.set_queue(self._queue)
                return
            async with self._hold.for_a_moment():
                await asyncio.to_thread(self._write_queue, before)
        except ShipchatError:
            self._queue = before
            raise

    def _write_queue(self, before: tuple[QueuedPrompt, ...]) -> None:
        draft = with_queue(self._store.read_turn_draft(self.key), before, self._queue)
        kept = draft if draft.reply is not None or draft.queue else None
        self._store.write_turn_draft(self.key, kept, durable=True)

    # --- changes ---

    async def refresh(self) -> bool:
        """Take in what other processes added; return whether anything changed."""
        async with self._lock:
            return await asyncio.to_thread(self._ledger.refresh)

    async def look(self) -> Look:
        """Take in what others did and return what another window shows just now. Raises SessionDamaged."""
        async with self._lock:
            return await asyncio.to_thread(look, self._ledger)

    async def open_window(self) -> WindowDraft:
        """Return this window's unsent text on disk, adopting what a window that is gone left behind."""
        return await asyncio.to_thread(self._store.open_window, self.key)

    async def go_to(self, message: str | None) -> None:
        """Let the current path end at `message` (an id; None: before the first): a rewind or a flip."""
        if message is not None and message not in self.session.tree:
            raise MessageNotFound(f"session {self.key} has no message {message[:40]!r}")
        await self._change(HeadEntry(id=new_id(), at=self._clock(), target=message))

    async def set(
        self,
        *,
        model: str | None = None,
        system: str | None = None,
        pin: str | None = None,
        unpin: str | None = None,
    ) -> None:
        """Change what the model is sent from the next turn on. Raises UsageError for a bad model name."""
        if model is not None:
            parse_model(model)
        pins, unpins = (pin,) if pin else (), (unpin,) if unpin else ()
        await self._change(
            SetEntry(
                id=new_id(), at=self._clock(), model=model, system=system, add_pins=pins, remove_pins=unpins
            )
        )

    # --- what the model sees ---

    async def frame(self) -> Frame:
        """Return what the next request would be made for: the model, the system prompt, the tools, the rules.

        Raises ModelMissing, ProviderAuth, UsageError.
        """
        ref = self.model
        provider = await asyncio.to_thread(self._models.provider, ref)
        return frame_for(self.options, self.session, await provider.info(ref.name), provider)

    async def context(self) -> ContextUse:
        """Return how full the model's window is and from where it sees messages. Raises as `frame` does."""
        return await self.compaction.context()

    async def compact(
        self, *, instructions: str | None = None, up_to: int | str | None = None
    ) -> CheckpointEntry:
        """Summarise older turns now and return the checkpoint; `compaction.propose` lets the summary be seen first.

        Raises UsageError (nothing to compact), CompactionFailed, SessionHeld, SessionConflict and provider errors; the
        session is as it was then.
        """
        proposal = await self.compaction.propose(instructions=instructions, up_to=up_to)
        return await self.compaction.apply(proposal)

    async def undo_compaction(self) -> CheckpointEntry:
        """Take back the newest compaction on the current path and return it. Raises UsageError, SessionHeld."""
        return await self.compaction.undo()

    async def redo_compaction(self) -> CheckpointEntry:
        """Bring back the compaction that was taken back last and return it. Raises UsageError, SessionHeld."""
        return await self.compaction.redo()

    async def retry_save(self) -> bool:
        """Try again to store what could not be stored; return whether all is on disk now."""
        async with self._lock:
            return await asyncio.to_thread(self._ledger.save)

    async def close(self) -> None:
        """Interrupt a running turn, wait until what had arrived is stored, and free the hold."""
        self.interrupt()
        await self._idle.wait()
        self._hold.release()

    # --- inside ---

    async def _change(self, entry: Entry) -> None:
        async with self._hold.for_a_moment(), self._lock:
            await asyncio.to_thread(self._ledger.refresh)
            await asyncio.to_thread(self._ledger.append, (entry,), exclusive=True)

    async def _stream(
        self, start: StartOf, *, dequeue: str | None = None, files: Sequence[NewAttachment] = ()
    ) -> AsyncGenerator[SessionEvent]:
        if self.replying:
            raise SessionHeld(self.key, await asyncio.to_thread(self._store.holder, self.key))
        self._idle.clear()
        events: asyncio.Queue[SessionEvent] = asyncio.Queue()
        try:
            turn = await self._prepare(start, events.put_nowait, dequeue, files)
        except BaseException:
            self._end(keep_hold=False)
            raise
        running = asyncio.create_task(self._run(turn, events.put_nowait))
        try:
            while True:
                event = await events.get()
                yield event
                if isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed):
                    return
        finally:
            turn.interrupt()
            await asyncio.shield(running)

    async def _prepare(
        self,
        start: StartOf,
        emit: Callable[[SessionEvent], None],
        dequeue: str | None,
        files: Sequence[NewAttachment],
    ) -> Turn:
        """Everything before the model is asked; on return the prompt is on disk."""
        await self._hold.take()
        async with self._lock:
            await asyncio.to_thread(self._ledger.refresh)
            draft = await asyncio.to_thread(self._store.read_turn_draft, self.key)
            recovery = recover(draft, self.session, self._queue, self._clock)
            self._queue = recovery.queue
            if recovery.entries:
                await asyncio.to_thread(self._ledger.append, recovery.entries, exclusive=True)
                emit(Notice("recovered", CUT_OFF))
            begun = start(self.session)
            ref = self.model
            provider = self._models.provider(ref)
            info = await provider.info(ref.name)
            entries = entries_for(
                self.options, self.session, new=not self._ledger.exists, clock=self._clock, emit=emit
            )
            if begun.prompt is not None:
                prompt = await asyncio.to_thread(self._complete, begun.prompt, files, ref, info)
                begun = replace(begun, prompt=prompt)
                entries.append(MessageEntry(message=prompt))
            if entries:
                await asyncio.to_thread(self._ledger.append, entries, exclusive=True)
            if self._ledger.mended is not None:
                emit(
                    Notice(
                        "mended", f"an unfinished end of the file was cut off; kept in {self._ledger.mended}"
                    )
                )
                self._ledger.mended = None
        keeper = self._keeper = DraftKeeper(self._store, self.key)
        self._queue = keeper.queue = tuple(prompt for prompt in self._queue if prompt.id != dequeue)
        position = (self.session.position_of(begun.parent) or 0) if begun.parent else 0
        emit(TurnStarted(self.key, str(ref), begun.prompt, position))
        if begun.prompt is not None:
            emit(MessageSaved(begun.prompt, position))
        frame = frame_for(self.options, self.session, info, provider)
        requests = TurnRequests(
            begun,
            frame,
            ledger=self._ledger,
            scales=self._scales,
            clock=self._clock,
            emit=emit,
            blobs=self._blobs,
        )
        plan = TurnPlan(
            provider,
            str(ref),
            begun.parent,
            requests,
            emit,
            self.compaction.before_calls(frame, emit),
            self._scales.table.stamped_reply,
        )
        self._turn = Turn(plan, self._ledger, keeper, self._clock)
        return self._turn

    def _complete(
        self, prompt: UserMessage, files: Sequence[NewAttachment], ref: ModelRef, info: ModelInfo
    ) -> UserMessage:
        """Return `prompt` as it is stored, with its files, whose bytes are on disk then. Blocks."""
        mentions = self.options.mentions
        prompt = with_files(prompt, files, mentions=mentions, ref=ref, info=info, blobs=self._blobs)
        return self._scales.table.stamped_prompt(prompt)

    async def _run(self, turn: Turn, emit: Callable[[SessionEvent], None]) -> None:
        last: LastEvent
        try:
            last = await turn.run()
        except Exception as error:
            # A bug, ours or a provider's: the stream still ends in order. The log names the place, not the text.
            logger.exception("a turn was ended by a bug")
            failure = Failure("bug", f"a bug ended this turn: {type(error).__name__}")
            last = TurnFailed(failure, None, exit_code=1, saved=False)
        # The hold stays only while queued prompts are about to be sent: the front end calls `send_queued` next.
        self._end(keep_hold=bool(self._queue) and isinstance(last, TurnCompleted))
        emit(last)

    def _end(self, *, keep_hold: bool) -> None:
        self._turn = None
        self._keeper = None
        if not keep_hold:
            self._hold.release()
        self._idle.set()
