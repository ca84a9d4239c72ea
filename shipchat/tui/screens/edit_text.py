"""A dialog with a text of several lines to change: a summary before it applies."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from shipchat.core.safe_text import safe_text
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.panel import PanelScreen


class EditTextScreen(PanelScreen[str]):
    """Returns the text as it was left with Ctrl+S, or None. Control characters are shown, and kept, as symbols."""

    DEFAULT_CSS = """
    EditTextScreen TextArea, EditTextScreen TextArea:focus {
        height: 16; max-height: 60%; border: none; padding: 0 1; margin: 0 0 1 0;
        background: $raised; color: $text; scrollbar-size: 1 1;
    }
    EditTextScreen.low TextArea { height: 6; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "use", "Use it", show=False, priority=True)]

    def __init__(self, title: str, text: str, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(title, glyphs=glyphs)
        self.area = TextArea(safe_text(text), show_line_numbers=False, soft_wrap=True)

    def body(self) -> Iterable[Widget]:
        """Yield the text and how to leave it."""
        yield self.area
        yield Static(Content("Ctrl+S uses it · Esc leaves it as it was"), classes="panel-note", markup=False)

    def on_mount(self) -> None:
        """Give the keys to the text."""
        self.area.focus()

    def action_use(self) -> None:
        """Return the text."""
        self.dismiss(self.area.text)
