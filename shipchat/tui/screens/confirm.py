"""A question with two or three answers, for what can't be undone; the safe answer has the focus."""

from collections.abc import Iterable, Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from shipchat.core.safe_text import safe_text
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import ChoiceMade
from shipchat.tui.screens.panel import PanelScreen
from shipchat.tui.widgets.word_buttons import WordButtons


class ConfirmScreen(PanelScreen[str]):
    """Returns the id of the answer, or None. `answers` are `(id, words)`; the one named `safe` has the focus."""

    def __init__(
        self,
        title: str,
        text: str,
        answers: Sequence[tuple[str, str]],
        *,
        safe: str,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__(title, glyphs=glyphs)
        self._text = text
        self._safe = safe
        self._buttons = WordButtons(answers)

    def body(self) -> Iterable[Widget]:
        """Yield the question and its answers."""
        yield Static(Content(safe_text(self._text)), classes="panel-text", markup=False)
        yield self._buttons

    def on_mount(self) -> None:
        """Give the keys to the safe answer."""
        self._buttons.focus_choice(self._safe)

    def on_choice_made(self, event: ChoiceMade) -> None:
        """Return the answer."""
        event.stop()
        self.dismiss(event.id)
