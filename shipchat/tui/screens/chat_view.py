"""The parts of the chat screen and what they show: brings each up to date with values; reacting is left to the desks."""

import asyncio
from dataclasses import replace
from datetime import datetime
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.widget import Widget

from shipchat.tui.ages import age_text
from shipchat.tui.event_router import Surface
from shipchat.tui.glyphs import Glyphs
from shipchat.tui.items import items_of
from shipchat.tui.measures import measures
from shipchat.tui.session_rows import SessionRows
from shipchat.tui.shown_items import ShownItems
from shipchat.tui.states import composer_state, header_state, status_state
from shipchat.tui.widgets.composer import Composer
from shipchat.tui.widgets.first_run import FirstRun
from shipchat.tui.widgets.header import Header
from shipchat.tui.widgets.sidebar import Sidebar
from shipchat.tui.widgets.status_line import StatusLine
from shipchat.tui.widgets.toast import ToastStack
from shipchat.tui.widgets.welcome import Welcome, WelcomeState
from shipchat.tui.window import Window

if TYPE_CHECKING:
    from shipchat.tui.widgets.transcript import Transcript


class Body(Enum):
    """What stands between header and composer."""

    TRANSCRIPT = "transcript"
    WELCOME = "welcome"
    FIRST_RUN = "first-run"


def local_now() -> datetime:
    """Return the moment in the local zone."""
    return datetime.now().astimezone()


class ChatView:
    """Holds the widgets. `no_model` says that there is nothing yet that could answer."""

    def __init__(self, window: Window, glyphs: Glyphs) -> None:
        self.window = window
        self.glyphs = glyphs
        self.sidebar = Sidebar(now=local_now())
        self.header = Header()
        self.welcome = Welcome()
        self.first_run = FirstRun()
        self.body_box = Vertical(self.welcome, self.first_run, id="body")
        self.toasts = ToastStack()
        self.composer = Composer()
        self.status = StatusLine()
        self._transcript: Transcript | None = None
        self.no_model = False
        self.asking_model = False
        self.drawer_open = False
        self._rows = SessionRows()
        self._at: int | None = None
        self._to_select: str | None = None
        self._measures = measures(120, 36)
        for widget in (
            self.sidebar,
            self.header,
            self.welcome,
            self.first_run,
            self.toasts,
            self.composer,
            self.status,
        ):
            widget.glyphs = glyphs

    # --- the transcript: it knows Markdown, which takes a while to load, and the frame need not wait for it ---

    @property
    def transcript(self) -> "Transcript":
        """The transcript. Only once `has_transcript`."""
        assert self._transcript is not None  # noqa: S101 -- who asks before has not looked
        return self._transcript

    @property
    def has_transcript(self) -> bool:
        """Whether the transcript is there."""
        return self._transcript is not None

    async def make_transcript(self, *, motion: bool) -> None:
        """Load and place the transcript, and show the open session in it."""
        module = await asyncio.to_thread(import_module, "shipchat.tui.widgets.transcript")
        transcript: Transcript = module.Transcript(id="transcript", glyphs=self.glyphs)
        transcript.motion = motion
        transcript.display = False
        await self.body_box.mount(transcript, before=0)
        self.shown = ShownItems(transcript)
        self.surface = Surface(self.shown, self.toasts, self.show_messages, self.show_state)
        self._transcript = transcript
        self._show_body()

    # --- place ---

    def fit(self, width: int, height: int) -> None:
        """Take the places for a terminal of this size."""
        self._measures = found = measures(width, height)
        drawer = found.sidebar == 0
        if not drawer:
            self.drawer_open = False
        self.sidebar.set_class(drawer, "drawer")
        self.sidebar.set_class(found.place.tiny or found.place.compact, "compact")
        self.sidebar.styles.width = min(32, width) if drawer else found.sidebar
        self.sidebar.display = self.drawer_open or not drawer
        self.header.menu = drawer
        self.header.display, self.status.display = found.header, found.status
        for widget in (self.header, self.welcome, self.first_run, self.toasts, self.composer, self.status):
            widget.place = found.place
        self._show_body()

    @property
    def is_drawer(self) -> bool:
        """Whether the sidebar lies over the transcript when it is opened."""
        return self._measures.sidebar == 0

    def open_sidebar(self) -> None:
        """Give the keys to the list of sessions."""
        if self.is_drawer:
            self.drawer_open = self.sidebar.display = True
        self._give_keys(self.sidebar.list)

    def close_sidebar(self) -> None:
        """Give the keys back."""
        if self.is_drawer:
            self.drawer_open = self.sidebar.display = False
        self.focus()

    def focus(self) -> None:
        """Give the keys to where one writes, or to what must be chosen first."""
        if self.body is Body.FIRST_RUN:
            self._give_keys(self.first_run)
        elif self.composer.display:
            self._give_keys(self.composer.input)
        elif self._transcript is not None:
            self._give_keys(self._transcript)

    @staticmethod
    def _give_keys(widget: Widget) -> None:
        # At once, not after the next refresh: the next key may be in the same read from the terminal.
        widget.screen.set_focus(widget)

    # --- what is shown ---

    @property
    def body(self) -> Body:
        """What stands between header and composer."""
        opened = self.window.opened
        if self.asking_model:
            return Body.FIRST_RUN
        empty = not opened.session.path and opened.live is None and not opened.damaged
        return Body.WELCOME if empty and not opened.session.notices else Body.TRANSCRIPT

    def _show_body(self) -> None:
        body = self.body
        widgets: dict[Body, Widget] = {Body.WELCOME: self.welcome, Body.FIRST_RUN: self.first_run}
        if self._transcript is not None:
            widgets[Body.TRANSCRIPT] = self._transcript
        for one, widget in widgets.items():
            widget.display = one is body and self._measures.body

    def show_session(self, *, at: int | None = None) -> None:
        """Show another session from its end, or at the message with position `at`."""
        opened = self.window.opened
        self._at = None
        at_id: str | None = None
        if at is not None and 1 <= at <= len(opened.session.path):
            opened.show_position(at)
            at_id = opened.session.path[at - 1]
        self.composer.display = opened.read_only is None
        self._show_body()
        if self._transcript is not None:
            items = items_of(
                opened.session, local_now(), first=opened.first, starts_at=opened.starts_at, live=opened.live
            )
            self.shown.reset(items, opened.live, has_more=opened.first > 1, at=at_id)
        self.sidebar.opened = opened.key
        self._to_select = opened.key
        self._select()
        self.show_state()
        self.show_last()

    def show_messages(self) -> None:
        """Bring the messages up to date."""
        opened = self.window.opened
        self._show_body()
        if self._transcript is None:
            return
        items = items_of(
            opened.session, local_now(), first=opened.first, starts_at=opened.starts_at, live=opened.live
        )
        self.shown.apply(items, opened.live, has_more=opened.first > 1)

    def show_state(self) -> None:
        """Bring header, status line and composer up to date."""
        opened = self.window.opened
        self.header.state = header_state(opened, position=self._at, no_model=self.no_model)
        self.status.state = status_state(opened)
        state = composer_state(opened, no_model=self.asking_model)
        self.composer.state = replace(state, attachments=self.composer.state.attachments)
        self.composer.queue = tuple(prompt.text for prompt in opened.prompts)

    def show_place(self, position: int | None, *, at_end: bool) -> None:
        """Say which message is in view."""
        self._at = None if at_end else position
        self.show_state()

    def show_rows(self) -> None:
        """Bring the list of sessions up to date."""
        window = self.window
        rows = self._rows.rows(window.rows.values(), replying=window.replying, unread=window.unread)
        self.sidebar.set_rows(rows)
        self._select()
        self.show_last()

    def _select(self) -> None:
        """Put the list's cursor on the session that was opened, once it is listed."""
        if self._to_select is not None and self._to_select in self.window.rows:
            self.sidebar.select(self._to_select)
            self._to_select = None

    def show_last(self) -> None:
        """Name the newest session where there is nothing else to show."""
        rows = [
            row
            for row in self.window.rows.values()
            if not row.archived and row.damage is None and row.key != self.window.opened.key
        ]
        newest = max(rows, key=lambda row: row.updated, default=None)
        last = None
        if newest is not None:
            age = age_text(newest.updated, local_now())
            last = (newest.key, newest.title, age if age == "now" else f"{age} ago")
        self.welcome.state = WelcomeState(last, private=self.window.opened.private)

    def tick(self) -> None:
        """Let what counts seconds count."""
        if self.window.opened.since is not None:
            self.status.state = status_state(self.window.opened)
