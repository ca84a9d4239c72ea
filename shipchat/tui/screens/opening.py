"""The first frame: a composer one can type into at once; what is done in it is kept for the screen that follows."""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widgets import Static

from shipchat.tui.glyphs import Glyphs
from shipchat.tui.keymap import ACTIONS
from shipchat.tui.measures import measures
from shipchat.tui.messages import DraftChanged, OwnMessage
from shipchat.tui.widgets.composer import Composer


class OpeningScreen(Screen[None]):
    """Stands where the chat screen will: `kept` are the wishes of its composer, `actions` those of the key map.

    Everything else a chat needs (sessions, Markdown, commands: half of the program's start) is loaded meanwhile by
    `load`, which is begun once the frame is there.
    """

    DEFAULT_CSS = """
    OpeningScreen { background: $background; layout: horizontal; overflow: hidden; }
    OpeningScreen #opening-side { height: 100%; background: $surface; }
    OpeningScreen #opening-main { height: 100%; width: 1fr; align: left bottom; }
    OpeningScreen #opening-main.status { padding: 0 0 1 0; }
    .plain OpeningScreen #opening-side { border-right: solid $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(action.keys, f"do({action.run!r})", action.label, show=False, priority=True)
        for action in ACTIONS
        if action.keys
    ]

    def __init__(self, glyphs: Glyphs, load: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__()
        self.kept: list[OwnMessage] = []
        self.actions: list[str] = []
        self.composer = Composer()
        self.composer.glyphs = glyphs
        self._side = Static(id="opening-side", markup=False)
        self._main = Vertical(self.composer, id="opening-main")
        self._load = load

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._side
        yield self._main

    def on_mount(self) -> None:
        """Take the places, and the keys."""
        self._fit(self.app.size.width, self.app.size.height)
        self.set_focus(self.composer.input)
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self.app.run_worker(self._load(), group="start")

    def on_resize(self) -> None:
        """Take the places for the new size."""
        self._fit(self.size.width, self.size.height)

    def _fit(self, width: int, height: int) -> None:
        found = measures(width, height)
        self._side.display = found.sidebar > 0
        self._side.styles.width = found.sidebar
        self._main.set_class(found.status, "status")
        self.composer.place = found.place

    @on(OwnMessage)
    def keep(self, message: OwnMessage) -> None:
        """Keep what the composer asks for."""
        message.stop()
        if not isinstance(message, DraftChanged):
            self.kept.append(message)

    def action_do(self, run: str) -> None:
        """Keep an action of the key map."""
        self.actions.append(run)

    def hand_over(self, take: Callable[[], None]) -> None:
        """Call `take` once no key is on its way to the composer any more; no other can come before it is done."""
        way: list[MessagePump] = [*self.composer.input.ancestors_with_self]
        way = way[: way.index(self) + 1]

        def go(step: int = 0) -> None:
            # A key is in the editor's queue, what it makes the editor ask for in those above; this goes behind them.
            if step < len(way):
                way[step].call_later(go, step + 1)
            elif any(map(_has_work, way)):
                go()
            else:
                take()

        go()


def _has_work(pump: MessagePump) -> bool:
    # Textual looks one message ahead of the queue; there is no public name for that one.
    return pump.message_queue_size > 0 or pump._pending_message is not None  # noqa: SLF001
