"""A dialog with one line to type: tags, a file name, a position; checking it is the caller's, through a function."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.panel import PanelScreen
from shipchat.tui.widgets.line_input import LineInput

#: Returns what is wrong with a text, in a sentence, or None when it will do.
Check = Callable[[str], str | None]


def _anything(_text: str) -> str | None:
    return None


class AskScreen(PanelScreen[str]):
    """Returns the text typed, without spaces around it, or None. An empty text is returned only if `check` allows it.

    What `check` complains of is shown below the input, and the text stays. `masked` hides what is typed.
    """

    DEFAULT_CSS = """
    AskScreen .panel-note { margin: 0; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(
        self,
        title: str,
        *,
        value: str = "",
        placeholder: str = "",
        note: str = "",
        check: Check = _anything,
        masked: bool = False,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__(title, glyphs=glyphs)
        self._note = note
        self._check = check
        self.input = LineInput(value, placeholder=placeholder, password=masked, classes="panel-input")
        self._error = Static(classes="panel-error", markup=False)

    def body(self) -> Iterable[Widget]:
        """Yield the input, the complaint and the note."""
        yield self.input
        yield self._error
        yield Static(Content(safe_line(self._note)), classes="panel-note", markup=False)

    def on_mount(self) -> None:
        """Give the keys to the input."""
        self.input.focus()

    def show_error(self, reason: str | None) -> None:
        """Say below the input what is wrong; None says nothing."""
        self._error.display = bool(reason)
        self._error.update(Content(safe_line(reason or "")))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.show_error(None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        reason = self._check(text)
        if reason is None:
            self.dismiss(text)
        else:
            self.show_error(reason)
