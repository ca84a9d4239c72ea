"""A row of buttons that are words on colour; which one does what is the dialog's."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.messages import ChoiceMade


class WordButton(Static, can_focus=True):
    """One word to press with Enter, Space or the mouse; posts `ChoiceMade` with its id."""

    DEFAULT_CSS = """
    WordButton { width: auto; height: 1; padding: 0 2; margin: 0 2 0 0; background: $selection; color: $text; }
    WordButton:focus { background: $accent; color: $background; text-style: bold; }
    .plain WordButton { background: transparent; text-style: underline; }
    .plain WordButton:focus { text-style: bold reverse; color: $text; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "Press", show=False)]

    def __init__(self, choice: str, word: str) -> None:
        super().__init__(Content(safe_line(word)), markup=False)
        self.choice = choice

    def action_press(self) -> None:
        """Say that this one was taken."""
        self.post_message(ChoiceMade(self.choice))

    def on_click(self) -> None:
        """Say that this one was taken."""
        self.action_press()


class WordButtons(Horizontal):
    """Buttons in a row, `(id, word)` each; the arrows move between them."""

    DEFAULT_CSS = """
    WordButtons { height: 1; padding: 0 1; margin: 1 0 0 0; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "Previous", show=False),
        Binding("right", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, buttons: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._buttons = tuple(WordButton(choice, word) for choice, word in buttons)

    def compose(self) -> ComposeResult:
        """Make the buttons."""
        yield from self._buttons

    def focus_choice(self, choice: str) -> None:
        """Give the keys to the button with this id."""
        for button in self._buttons:
            if button.choice == choice:
                button.focus()
