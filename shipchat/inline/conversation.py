"""A conversation in one session: sends and queues prompts, runs their turns; draws and asks nothing itself.

Which session it is can change: opening one is `opening`'s. What others do in it is `following`'s.
"""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Final

from shipchat.commands.command import Option, Stream, UndoLog
from shipchat.commands.services import Services
from shipchat.core.errors import HolderInfo, SessionHeld, ShipchatError, StoreUnavailable, UsageError
from shipchat.core.events import (
    LastEvent,
    Notice,
    ReasoningDelta,
    SessionEvent,
    TextDelta,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.messages import AssistantMessage, UserMessage
from shipchat.core.models import ModelInfo
from shipchat.core.paths import Path
from shipchat.core.protocols import FullStore
from shipchat.core.summaries import SessionSummary
from shipchat.inline.drafts import FRESH, Drafts
from shipchat.inline.face import Face
from shipchat.sessions.chat_session import ChatSession

LOOK_SECONDS: Final = 0.5
"""How often the session is looked at while another window may be using it."""


@dataclass(eq=False)
class Conversation:
    """One open session and the turns in it.

    `told` is the path as the user has been shown it; `waiting` is a prompt to send when a
    turn elsewhere ends, `editing` the id of the prompt that the next one replaces, `not_saved` why nothing can be
    written, `own` the ids of queued prompts that may be sent without asking.
    """

    services: Services
    face: Face
    chat: ChatSession
    private: bool = False
    busy: bool = False
    since: float = 0.0
    word: str = "waiting"
    holder: HolderInfo | None = None
    waiting: str | None = None
    editing: str | None = None
    not_saved: str | None = None
    info: ModelInfo | None = None
    told: Path = field(default_factory=Path)
    own: set[str] = field(default_factory=set)
    rows: list[SessionSummary] = field(default_factory=list)
    undo: UndoLog = field(default_factory=UndoLog)
    drafts: Drafts = field(default_factory=Drafts)
    _stopping: bool = False
    _task: asyncio.Task[None] | None = None
    _started: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def store(self) -> FullStore:
        """Where sessions are."""
        return self.services.sessions.store

    @property
    def used(self) -> int | None:
        """Tokens of the model's window that the last reply took, None when nobody has said."""
        session = self.chat.session
        for message_id in reversed(session.path[-4:]):
            message = session.tree.get(message_id)
            if isinstance(message, AssistantMessage) and message.usage is not None:
                return message.usage.input_tokens + message.usage.output_tokens
        return None

    # --- prompts ---

    async def send(self, text: str) -> None:
        """Send a prompt; while a turn runs here, put it behind that. Raises ShipchatError: it was not taken then."""
        if self.waiting is not None:
            raise UsageError("a prompt waits for the other reply already", advice=("Esc takes it back.",))
        if self.busy and await self._enqueue(text):
            return
        replacing, self.editing = self.editing, None
        if replacing is not None and self.services.settings.edit == "fork":
            from shipchat.inline.opening import fork_before

            replacing = await fork_before(self, replacing)
        self.drafts.paused = True
        self.start(self.chat.send(text, replacing=replacing), prompt=text)

    async def _enqueue(self, text: str) -> bool:
        """Put a prompt behind the running turn; return whether there still was one."""
        await self._started.wait()  # before that the turn has no draft on disk that could take it
        if not self.busy:
            return False
        queued = await self.chat.enqueue(text)
        self.own.add(queued.id)
        self.face.changed()
        if self._task is None or self._task.done():  # it ended meanwhile and nobody saw the new prompt
            self.start(self.chat.send_queued())
        return True

    async def take_back(self) -> str | None:
        """Take the last queued prompt out of the queue and return its text, None when none waits."""
        text = self._stop_waiting()
        if text is not None or not self.chat.queue:
            return text
        last = self.chat.queue[-1]
        await self.chat.set_queue(self.chat.queue[:-1])
        self.face.changed()
        return last.text

    def interrupt(self) -> bool:
        """Stop the reply that is written here, or give up waiting or editing; return whether there was anything."""
        if self.busy:
            self._stopping = True
            self.chat.interrupt()
            return True
        text = self._stop_waiting()
        if text is not None:
            self.face.restore(text)
            return True
        if self.editing is not None:
            self.editing = None
            self.face.teller.note("Editing given up", "the next prompt goes to the end")
            return True
        return False

    # --- turns ---

    def start(self, stream: Stream, *, prompt: str = "") -> None:
        """Run a turn; `prompt` is given back when it does not begin. Raises UsageError."""
        if self.busy:
            raise UsageError("a reply is being written", advice=("Esc stops it.",))
        self.busy, self.since, self.word = True, time.monotonic(), "waiting"
        self._stopping = False
        self.own |= {
            queued.id for queued in self.chat.queue
        }  # whoever goes on lets those that wait go on, too
        self._started.clear()
        self._task = asyncio.create_task(self._run(stream, prompt))
        self._task.add_done_callback(self._ended)
        self.face.changed()

    async def idle(self) -> None:
        """Wait until no turn runs here."""
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self.busy = False
        self._started.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self.face.crashed(error)
        self.face.changed()

    async def _run(self, stream: Stream, prompt: str) -> None:
        while True:
            last = await self._turn(stream, prompt)
            queue, prompt = self.chat.queue, ""
            if not (isinstance(last, TurnCompleted) and queue and queue[0].id in self.own):
                break
            stream = self.chat.send_queued()
        self.drafts.paused = False
        if self.chat.queue and last is not None:
            count = len(self.chat.queue)
            said = "1 prompt still waits" if count == 1 else f"{count} prompts still wait"
            self.face.teller.note(said, "Up takes one back, /queue sends them")
            await self.chat.close()  # nothing is sent now: others may

    async def _turn(self, stream: Stream, prompt: str) -> LastEvent | None:
        """Run one turn and return its last event, None when it did not begin."""
        last: LastEvent | None = None
        try:
            async with contextlib.aclosing(stream) as events:
                async for event in events:
                    await self._take(event)
                    if isinstance(event, TurnCompleted | TurnInterrupted | TurnFailed):
                        last = event
        except SessionHeld as error:
            return await self._held(error, prompt)
        except ShipchatError as error:
            if isinstance(error, StoreUnavailable):
                self.not_saved = str(error)
            self.face.teller.error(error)
            if prompt:
                self.face.restore(prompt)
        self.told = self.chat.session.path
        return last

    async def _take(self, event: SessionEvent) -> None:
        if self._stopping:
            self.chat.interrupt()  # asked for before there was a turn to interrupt
        if isinstance(event, TurnStarted):
            self.holder = None
            self._started.set()
            self.drafts.paused = False
            if not self.private and self.drafts.key == FRESH:
                await self.drafts.move(self.store, self.chat.key)
        elif isinstance(event, TextDelta | ReasoningDelta):
            self.word = "writing" if isinstance(event, TextDelta) else "thinking"
        elif isinstance(event, Notice) and event.about == "not_saved":
            self.not_saved = event.message
        elif isinstance(event, TurnFailed) and not event.saved and not self.chat.saved:
            self.not_saved = event.failure.message
        elif isinstance(event, TurnCompleted | TurnInterrupted) and self.chat.saved:
            self.not_saved = None
        self.face.teller.event(event)
        self.face.changed()

    # --- turns elsewhere ---

    async def _held(self, error: SessionHeld, prompt: str) -> LastEvent | None:
        self.holder = error.holder
        if not prompt:
            self.face.teller.error(error)
            return None
        who = error.holder.sentence() if error.holder else "another process"
        choice = await self.face.choose(
            f"A reply is being written elsewhere ({who})",
            (
                Option("wait", "wait", "send it when that reply ends"),
                Option("fork", "fork", "go on here, in a copy of the session"),
                Option("new", "new", "ask in a new session"),
            ),
        )
        if choice is None:
            self.face.restore(prompt)
            return None
        if choice == "wait":
            self.waiting = prompt
            self.face.changed()
            await self._until_free()
            text = self._stop_waiting()
            return None if text is None else await self._turn(self.chat.send(text), text)
        from shipchat.inline.opening import open_copy, open_fresh

        await (open_copy(self) if choice == "fork" else open_fresh(self))
        return await self._turn(self.chat.send(prompt), prompt)

    def _stop_waiting(self) -> str | None:
        text, self.waiting = self.waiting, None
        return text

    async def _until_free(self) -> None:
        from shipchat.inline import following

        while self.waiting is not None:
            with contextlib.suppress(StoreUnavailable):
                await following.look(self)
                if self.holder is None:
                    return
            await asyncio.sleep(LOOK_SECONDS)

    def prompts(self) -> list[str]:
        """Return the prompts on the path, oldest first."""
        session = self.chat.session
        newest = session.messages(max(1, len(session.path) - 1000))
        return [message.text for message in newest if isinstance(message, UserMessage)]

    async def close(self) -> None:
        """Stop what runs, wait until it is stored, and let go."""
        self.waiting = None
        await self.chat.close()
        await self.idle()
        await self.drafts.close()
