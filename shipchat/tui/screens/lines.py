"""A dialog with lines to read, for help and status; what they say is the caller's."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.panel import PanelScreen


class LinesScreen(PanelScreen[str]):
    """Shows `lines`; any of Escape, Enter or a click beside it closes it."""

    DEFAULT_CSS = """
    LinesScreen > #panel { max-height: 80%; width: 76; }
    LinesScreen.low > #panel { max-height: 100%; }
    LinesScreen #lines { height: auto; max-height: 100%; scrollbar-size: 0 0; }
    """
    SCOPED_CSS: ClassVar[bool] = False
    BINDINGS: ClassVar = [("enter", "give_up", "Close")]

    def __init__(self, title: str, lines: Sequence[str], *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(title, glyphs=glyphs)
        self._lines = lines

    def body(self) -> Iterable[Widget]:
        """Yield the lines."""
        text = Content("\n".join(safe_line(line) for line in self._lines))
        yield VerticalScroll(Static(text, classes="panel-text", markup=False), id="lines")

    def on_mount(self) -> None:
        """Let the arrows scroll."""
        self.query_one("#lines").focus()
