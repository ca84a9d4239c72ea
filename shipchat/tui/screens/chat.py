"""The chat screen: puts the parts together and hands what they ask for to the desks that deal with it."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.worker import active_worker, get_current_worker

from shipchat.commands.command import CommandContext
from shipchat.commands.file_names import pasted
from shipchat.commands.services import Services
from shipchat.core.errors import ShipchatError, StoreUnavailable
from shipchat.tui.draft_writer import DraftWriter
from shipchat.tui.glyphs import Glyphs
from shipchat.tui.keymap import ACTIONS
from shipchat.tui.messages import DraftChanged, OwnMessage
from shipchat.tui.preferences import Preferences
from shipchat.tui.screens.chat_actions import run_action
from shipchat.tui.screens.chat_composer import ComposerDesk
from shipchat.tui.screens.chat_first_run import FirstRunDesk
from shipchat.tui.screens.chat_following import FollowingDesk
from shipchat.tui.screens.chat_list import ListDesk
from shipchat.tui.screens.chat_messages import MessageDesk
from shipchat.tui.screens.chat_models import ModelDesk
from shipchat.tui.screens.chat_search import SearchDesk
from shipchat.tui.screens.chat_stage import ChatStage
from shipchat.tui.screens.chat_turns import TurnDesk
from shipchat.tui.screens.chat_view import ChatView
from shipchat.tui.screens.host import Host
from shipchat.tui.screens.opening import OpeningScreen
from shipchat.tui.start import Start
from shipchat.tui.widgets.toast import Toast, ToastKind
from shipchat.tui.window import Window

FINISH_SECONDS: Final = 1.0
"""How long leaving waits for commands that were begun."""


class ChatScreen(Screen[None]):
    """One window on the sessions of a store."""

    DEFAULT_CSS = """
    ChatScreen { layers: base drawer; background: $background; layout: vertical; overflow: hidden; }
    ChatScreen > Sidebar { dock: left; }
    ChatScreen > Sidebar.drawer { layer: drawer; dock: left; }
    ChatScreen > #main { height: 100%; width: 1fr; }
    ChatScreen #body { height: 1fr; }
    ChatScreen #foot { height: auto; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(action.keys, f"do({action.run!r})", action.label, show=False, priority=True)
            for action in ACTIONS
            if action.keys
        ),
        Binding("ctrl+c,super+c", "do('copy_or_stop')", "Copy, stop, quit", show=False),
        Binding("u", "do('undo_toast')", "Undo", show=False),
        Binding("escape", "do('back')", "Back to the composer", show=False),
    ]

    def __init__(
        self, services: Services, preferences: Preferences, start: Start, host: Host, glyphs: Glyphs
    ) -> None:
        super().__init__()
        self.host = host
        self.notes: list[Toast] = []  # what to say first
        self._ending = False
        self.services = services
        self.preferences = preferences
        self.start = start
        self.window = Window(services, DraftWriter(self._draft_failed), model=start.model)
        self.view = ChatView(self.window, glyphs)
        self.stage = ChatStage(self)
        self.turns = TurnDesk(self)
        self.following = FollowingDesk(self)
        self.models = ModelDesk(self)
        self.first_run = FirstRunDesk(self)
        self.search = SearchDesk(self)
        self._desks = (
            self.turns,
            ComposerDesk(self),
            MessageDesk(self),
            ListDesk(self),
            self.following,
            self.models,
            self.first_run,
            self.search,
        )

    def compose(self) -> ComposeResult:
        """Make the parts."""
        view = self.view
        yield view.sidebar
        with Vertical(id="main"):
            yield view.header
            yield view.body_box
            # In a box of its own: the composer's margin would take from the width of everything beside it.
            with Vertical(id="foot"):
                yield view.toasts
                yield view.composer
            yield view.status

    async def on_mount(self) -> None:
        """Show the frame; what has to be read comes after it."""
        view = self.view
        view.fit(self.app.size.width, self.app.size.height)
        view.composer.source = self.stage.candidates
        view.composer.input.pasted = pasted
        self.following.begin()
        if self.start.wants_session:
            await view.make_transcript(motion=self.preferences.motion)
            await self.stage.open_first(self.start)
        else:
            view.show_session()
            await self.stage.load_draft(await self.window.drafts_of_fresh())
        view.focus()
        self.call_after_refresh(self._after_first_frame)

    def take_over(self, opening: OpeningScreen) -> None:
        """Go on from the screen of the first frame: its draft, its cursor, what was asked for in it, in this order."""
        composer, typed = self.view.composer, opening.composer.text
        if typed:
            kept, at = composer.text, opening.composer.input.cursor_location
            composer.load(typed)
            composer.input.move_cursor(at)
            if kept:  # a draft from another day goes before it, as a prompt that was refused does
                composer.restore(kept)
        self.view.focus()
        for message in opening.kept:
            self.call_later(self.hand_on, message)
        for run in opening.actions:
            self.call_later(self.action_do, run)

    def _after_first_frame(self) -> None:
        for note in self.notes:
            self.view.toasts.show(note)
        self.run_worker(self._after_it(), group="start")

    async def _after_it(self) -> None:
        if not self.view.has_transcript:
            await self.view.make_transcript(motion=self.preferences.motion)
            self.view.show_messages()
        gc.enable()
        gc.freeze()
        self.following.begin_list()
        self.models.begin()

    def on_resize(self) -> None:
        """Take the places for the new size."""
        self.view.fit(self.size.width, self.size.height)

    @on(OwnMessage)
    async def hand_on(self, message: OwnMessage) -> None:
        """Give what a part asks for to the desk that deals with it."""
        if isinstance(message, DraftChanged) and self.view.has_transcript:
            self.view.transcript.give_way()
        try:
            for desk in self._desks:
                if await desk.handle(message):
                    message.stop()
                    return
        except ShipchatError as error:
            self.tell(error)

    # --- doing ---

    @property
    def context(self) -> CommandContext:
        """What a command works with."""
        window = self.window
        return CommandContext(
            self.services, self.stage, window.opened.chat, window.undo, tuple(window.rows.values())
        )

    def action_do(self, run: str) -> None:
        """Do one of the actions of the key map."""
        run_action(self, run)

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that may wait for the disk or the user; what it can't do is said in a toast."""
        if self._ending:
            work.close()  # the program is ending: nothing new begins
        else:
            self.run_worker(self._told(work), group="do")

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ShipchatError as error:
            self.tell(error)

    def tell(self, error: ShipchatError) -> None:
        """Say what was not done."""
        advice = error.advice[0] if error.advice else ""
        self.view.toasts.show(Toast(str(error), advice, ToastKind.WARNING))

    def _draft_failed(self, error: StoreUnavailable | None) -> None:
        opened = self.window.opened
        if error is not None:
            opened.not_saved = str(error)
        elif opened.chat.saved:
            opened.not_saved = None
        self.view.show_state()

    async def close(self) -> None:
        """Let what was begun come to its end, for a moment; stop and store what runs."""
        if not self._ending:
            self._ending = True
            if self.is_running:
                await self._finish()
        self.following.end()
        self.first_run.end()
        self.search.end()
        await self.window.close()

    async def _finish(self) -> None:
        # Whoever types `/undo` and leaves at once wants both. A command that waits for an answer is given up.
        this = get_current_worker() if active_worker.get(None) is not None else None
        begun = [worker for worker in self.workers if worker.group == "do" and worker is not this]
        if begun:
            waits = [asyncio.ensure_future(worker.wait()) for worker in begun]
            _, late = await asyncio.wait(waits, timeout=FINISH_SECONDS)
            for one in late:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
