"""The desk for turns: sends prompts, queues them behind a running turn, shows what happens, edits and regenerates."""

import asyncio
from typing import TYPE_CHECKING

from shipchat.commands import table
from shipchat.commands.command import Stream
from shipchat.commands.on_turns import adopt_left
from shipchat.core.drafts import QueuedPrompt
from shipchat.core.errors import ModelMissing, SessionHeld, ShipchatError, StoreUnavailable, UsageError
from shipchat.core.events import SessionEvent, TurnCompleted, TurnFailed, TurnStarted
from shipchat.core.messages import UserMessage
from shipchat.tui.event_router import route
from shipchat.tui.messages import (
    HeldChoice,
    HeldChosen,
    InterruptRequested,
    OwnMessage,
    QueueDropRequested,
    QueueEditRequested,
    SaveRetryRequested,
    Submitted,
)
from shipchat.tui.open_session import OpenSession
from shipchat.tui.turn_runner import TurnEvent, TurnOver, TurnRefused, TurnRunner
from shipchat.tui.widgets.toast import Toast, ToastKind

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


class TurnDesk:
    """Deals with prompts and with what their turns tell."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about turns; return whether it was."""
        match message:
            case TurnEvent(opened=opened, event=event):
                await self._happened(opened, event)
            case TurnRefused(opened=opened, error=error, prompt=prompt):
                await self._refused(opened, error, prompt)
            case TurnOver(opened=opened):
                self._over(opened)
            case Submitted(text=text):
                self.submit(text)
            case InterruptRequested():
                self.interrupt()
            case QueueEditRequested(index=index):
                await self._take_from_queue(index, edit=True)
            case QueueDropRequested(index=index):
                await self._take_from_queue(index, edit=False)
            case HeldChosen(choice=choice, text=text):
                self._held(choice, text)
            case SaveRetryRequested():
                self._screen.following.retry_save_now()
            case _:
                return False
        return True

    # --- beginning ---

    def submit(self, text: str) -> None:
        """Send a prompt, or run a command."""
        if table.is_command(text):
            self._screen.do(self._command(text))
        else:
            self.send(text)

    async def _command(self, text: str) -> None:
        try:
            await table.run(self._screen.context, text)
        except ShipchatError:
            if not self._screen.view.composer.text:
                self._screen.view.composer.load(text)
            raise

    def send(self, text: str) -> None:
        """Send a prompt in the open session; while a turn runs in it, put it behind that."""
        opened = self._screen.window.opened
        if opened.turning:
            self._screen.do(self._enqueue(opened, text))
            return
        self._screen.window.drafts.paused = True  # until the prompt is on disk, the draft is what is
        replacing, opened.editing = opened.editing, None
        if replacing is not None and self._screen.preferences.edit == "fork":
            self._screen.do(self._send_in_fork(opened, replacing, text))
            return
        self.start(opened.chat.send(text, replacing=replacing), prompt=text)

    async def _enqueue(self, opened: OpenSession, text: str) -> None:
        try:
            queued = await opened.chat.enqueue(text)
            opened.released.add(queued.id)
        except ShipchatError:
            self._screen.view.composer.restore(text)
            raise
        if not opened.turning:  # it ended a moment ago, and nobody saw the new prompt
            self._over(opened)
        self._screen.view.show_state()

    async def _send_in_fork(self, opened: OpenSession, replacing: str, text: str) -> None:
        screen = self._screen
        screen.window.drafts.paused = False
        manager, key = screen.services.sessions, opened.key
        parent = opened.session.tree.parent(replacing)
        try:
            made = await asyncio.to_thread(lambda: manager.fork(key, from_message=parent or 1))
            await screen.stage.open_session(made)
            fork = screen.window.opened
            if parent is None:  # the first prompt has nothing before it: beside it, in the fork
                self.start(fork.chat.send(text, replacing=fork.session.path[0]), prompt=text)
            else:
                self.send(text)
        except ShipchatError:
            screen.view.composer.restore(text)
            raise

    def start(
        self, stream: Stream, *, prompt: str = "", opened: OpenSession | None = None, by_user: bool = True
    ) -> None:
        """Run a turn of `opened` (default: the open session); not `by_user`: it is the next of the queue."""
        screen = self._screen
        opened = opened or screen.window.opened
        if opened.read_only is not None:
            raise UsageError("this session is open to read only")
        if opened.turning:
            raise UsageError("a reply is being written", advice=("Esc stops it.",))
        opened.begin(by_user=by_user)
        runner = TurnRunner(screen.post_message, opened)
        screen.run_worker(runner.run(stream, prompt), group="turns")
        screen.view.show_state()

    def interrupt(self) -> bool:
        """Stop the reply that is written here; return whether there was one."""
        opened = self._screen.window.opened
        if opened.turning:
            opened.chat.interrupt()
            return True
        if opened.editing is not None:
            opened.editing = None
            self._screen.stage.toast("Editing given up", "the next prompt goes to the end")
        return False

    def begin_edit(self, position: int) -> None:
        """Put the prompt at `position` into the composer; what is sent next stands beside it."""
        screen = self._screen
        message = screen.window.opened.session.find_message(position)
        if not isinstance(message, UserMessage):
            raise UsageError(f"message {position} is a reply; only prompts can be edited")
        screen.window.opened.editing = message.id
        screen.view.composer.load(message.text)
        screen.view.focus()
        made = "a fork" if screen.preferences.edit == "fork" else "an alternative beside it"
        screen.stage.toast(f"Editing message {position}", f"sending makes {made}; Esc gives up")

    # --- what happens ---

    async def _happened(self, opened: OpenSession, event: SessionEvent) -> None:
        screen = self._screen
        opened.take(event)
        if opened is screen.window.opened:
            if screen.view.has_transcript:
                route(event, opened, screen.view.surface)
            else:  # it is being loaded, and will show everything when it is there
                screen.view.show_state()
        if isinstance(event, TurnStarted):
            if opened is screen.window.opened:
                screen.window.drafts.paused = False
                await screen.window.stored()
            screen.view.show_rows()

    async def _refused(self, opened: OpenSession, error: ShipchatError, prompt: str) -> None:
        screen = self._screen
        opened.over()
        if opened is screen.window.opened:
            screen.window.drafts.paused = False
            if prompt:
                screen.view.composer.restore(prompt)
        match error:
            case StoreUnavailable():
                opened.not_saved = str(error)
            case SessionHeld(holder=holder):
                opened.holder = holder
            case ModelMissing():
                await screen.models.missing(error)
            case _:
                screen.tell(error)
        screen.view.show_state()

    def _over(self, opened: OpenSession) -> None:
        screen, last = self._screen, opened.ended
        opened.over()
        if isinstance(last, TurnCompleted) and (released := self._released(opened)):
            if opened.chat.queue[0] is released:
                self.start(opened.chat.send_queued(), opened=opened, by_user=False)
            else:
                screen.do(self._send_before_others(opened, released))
        else:
            if last is not None:
                if not isinstance(last, TurnCompleted):
                    opened.released.clear()  # whoever stops a reply wants to look before more is sent
                self.offer_queue(opened, "still")
            screen.window.over(opened)
        if isinstance(last, TurnFailed) and last.failure.code == "model_missing":
            screen.do(screen.models.missing(ModelMissing(last.failure.message, advice=last.advice)))
        if opened is screen.window.opened:
            screen.view.show_messages()
            screen.view.show_state()
        screen.view.show_rows()

    # --- queue and holds ---

    @staticmethod
    def _released(opened: OpenSession) -> QueuedPrompt | None:
        return next((prompt for prompt in opened.chat.queue if prompt.id in opened.released), None)

    async def _send_before_others(self, opened: OpenSession, first: QueuedPrompt) -> None:
        """Send a prompt of this sitting; those before it were left behind by another, and go on waiting."""
        others = (prompt for prompt in opened.chat.queue if prompt is not first)
        await opened.chat.set_queue((first, *others))
        self.start(opened.chat.send_queued(), opened=opened, by_user=False)

    def offer_queue(self, opened: OpenSession, word: str = "") -> None:
        """Say that prompts wait which nothing sends by itself; with a `word` also when that was said before."""
        waiting = opened.prompts
        new = [prompt for prompt in waiting if prompt.id not in opened.told]
        if waiting and (word or new) and opened is self._screen.window.opened:
            opened.told.update(prompt.id for prompt in waiting)
            many = f"{len(waiting)} prompts {word} wait" if len(waiting) > 1 else f"1 prompt {word} waits"
            toast = Toast(" ".join(many.split()), "Up takes one back; /queue sends them", ToastKind.INFO)
            self._screen.view.toasts.show(toast)

    async def _take_from_queue(self, index: int, *, edit: bool) -> None:
        screen, opened = self._screen, self._screen.window.opened
        if not 0 <= index < len(opened.prompts):
            return
        taken = opened.prompts[index]
        try:
            await adopt_left(opened.chat)
            await opened.chat.set_queue([prompt for prompt in opened.chat.queue if prompt.id != taken.id])
        except ShipchatError as error:
            screen.tell(error)
            return
        opened.left = ()
        if edit:
            screen.view.composer.restore(taken.text)
        screen.view.show_state()

    def _held(self, choice: HeldChoice, text: str) -> None:
        screen = self._screen
        match choice:
            case HeldChoice.WAIT:
                screen.window.opened.waiting = text
                screen.stage.toast("It is sent when the other reply ends", "unless you change it before")
            case HeldChoice.FORK:
                screen.do(self._send_elsewhere(text, fork=True))
            case HeldChoice.NEW:
                screen.do(self._send_elsewhere(text, fork=False))

    async def _send_elsewhere(self, text: str, *, fork: bool) -> None:
        screen = self._screen
        made: str | None = None
        if fork:
            made = await asyncio.to_thread(screen.services.sessions.fork, screen.window.opened.key)
        screen.view.composer.clear()
        await screen.stage.open_session(made)
        self.send(text)
