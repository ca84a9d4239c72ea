"""What is shown while there is no model: ways to get one, a line for a key or an address, how far a download is.

Fetching, trying and keeping is the screen's.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import OwnMessage
from shipchat.tui.widgets.first_run_lines import HEAD_ROWS, Download, FirstRunState, Way, first_run_lines


@dataclass
class ModelWanted(OwnMessage):
    """The way with this `id` to get a model was chosen; `text` is what was typed, None where nothing is asked."""

    id: str
    text: str | None = field(default=None, repr=False)  # may be a key


class AttemptStopped(OwnMessage):
    """Escape while a model is fetched or something is tried."""


class FirstRunLeft(OwnMessage):
    """Escape: look around first."""


class FirstRun(Static, can_focus=True):
    """Shows `state` on the axis `place`.

    Down: `state`, and `offer`, `fail`, `begin`, `progress` that change it. A key that is typed stays in here until it
    is submitted, and is shown as dots.
    """

    DEFAULT_CSS = """
    FirstRun { height: 1fr; background: $background; content-align: left middle; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("enter", "choose", "Choose", show=False),
        Binding("escape", "leave", "Leave", show=False),
    ]

    state: reactive[FirstRunState] = reactive(FirstRunState())
    place: reactive[Axis] = reactive(axis(80, 24))
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = "first-run") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    # --- values down

    def offer(self, ways: tuple[Way, ...], *, error: str = "") -> None:
        """Offer these ways; the cursor stays on the one it is on."""
        state = self.state
        at = next((index for index, way in enumerate(ways) if way.id == self.chosen), 0)
        self.state = replace(state, ways=ways, cursor=at, error=error or state.error)

    @property
    def chosen(self) -> str | None:
        """The id of the way under the cursor."""
        ways = self.state.ways
        return ways[self.state.cursor].id if ways else None

    @property
    def at_work(self) -> bool:
        """Whether something is fetched or tried."""
        return self.state.download is not None or bool(self.state.busy)

    def begin(self, busy: str) -> None:
        """Say that something is being tried."""
        self.state = replace(self.state, busy=busy, error="")

    def progress(self, download: Download) -> None:
        """Say how far the download is."""
        self.state = replace(self.state, download=download, error="")

    def fail(self, error: str) -> None:
        """Say why the attempt came to nothing (empty: it did not); what was typed stays."""
        self.state = replace(self.state, download=None, busy="", error=error)

    def done(self) -> None:
        """Forget what was typed."""
        self.state = replace(self.state, download=None, busy="", error="", typing=None)

    def ask(self, way: Way, error: str = "") -> None:
        """Let the row of the chosen way ask for something else."""
        state = self.state
        ways = tuple(way if index == state.cursor else one for index, one in enumerate(state.ways))
        self.state = replace(state, ways=ways, typing="", busy="", error=error)

    def _lines(self) -> list[Content]:
        if not self.state.ways:
            return []
        return first_run_lines(self.state, self.place.text_width, glyphs=self.glyphs)

    def render(self) -> Content:
        """Draw the lines in the middle of the height there is; the row chosen stays in view."""
        lines, height = self._lines(), self.size.height
        if len(lines) > height:
            lines = lines[-height:] if height > 0 else []
        return Content("\n").join([Content(" " * self.place.left) + line for line in lines])

    # --- keys and mouse

    def action_move(self, step: int) -> None:
        """Move to another way, unless one is being gone."""
        state = self.state
        if not self.at_work and state.typing is None and state.ways:
            self.state = replace(state, error="", cursor=(state.cursor + step) % len(state.ways))

    def action_choose(self) -> None:
        """Go the way under the cursor, or submit what was typed."""
        state = self.state
        if self.at_work or not state.ways:
            return
        way = state.ways[state.cursor]
        if way.ask and state.typing is None:
            self.state = replace(state, typing="", error="")
        elif not way.ask or state.typing:
            self.post_message(ModelWanted(way.id, state.typing))

    def action_leave(self) -> None:
        """Stop what is going on, leave the line, or look around first."""
        if self.at_work:
            self.post_message(AttemptStopped())
        elif self.state.typing is not None:
            self.done()
        else:
            self.post_message(FirstRunLeft())

    def _type(self, text: str) -> None:
        self.state = replace(self.state, typing=text, error="")

    def on_key(self, event: events.Key) -> None:
        """Type into the line; else let a number choose."""
        typing, character = self.state.typing, event.character
        if typing is not None:
            if self.at_work or event.key in {"enter", "escape"}:
                return
            if event.key == "backspace":
                self._type(typing[:-1])
            elif event.key == "ctrl+u":
                self._type("")
            elif character is not None and character.isprintable():
                self._type(typing + character)
            else:
                return
            event.stop()
            event.prevent_default()
        elif character is not None and character.isdigit():
            self._choose_row(int(character) - 1, event)

    def on_paste(self, event: events.Paste) -> None:
        """Take a key or an address from the clipboard; on a row that asks for one that alone opens the line."""
        state = self.state
        asks = bool(state.ways) and bool(state.ways[state.cursor].ask)
        if asks and not self.at_work:
            event.stop()
            self._type((state.typing or "") + safe_line(event.text.strip()))

    def on_click(self, event: events.Click) -> None:
        """Choose what is clicked."""
        top = (self.size.height - len(self._lines())) // 2 + HEAD_ROWS
        index = event.y - top
        if self.state.error and index > self.state.cursor:
            index -= 1  # the row of the error
        if self.state.typing is None:
            self._choose_row(index, event)

    def _choose_row(self, index: int, event: events.Event) -> None:
        if not self.at_work and 0 <= index < len(self.state.ways):
            event.stop()
            self.state = replace(self.state, cursor=index, error="")
            self.action_choose()


__all__ = ["AttemptStopped", "Download", "FirstRun", "FirstRunLeft", "FirstRunState", "ModelWanted", "Way"]
