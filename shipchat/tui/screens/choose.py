"""A dialog that finds one of many things by a few letters; palette, pickers and key help are made of it."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.widget import Widget
from textual.widgets import Input

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import ChoiceHighlighted, ChoiceMade
from shipchat.tui.screens.panel import PanelScreen
from shipchat.tui.widgets.choice_list import ChoiceList
from shipchat.tui.widgets.choice_rows import Choice
from shipchat.tui.widgets.line_input import LineInput

# What the list does with the keys while one types.
_LIST_KEYS = {"up": "move(-1)", "down": "move(1)", "pageup": "page(-1)", "pagedown": "page(1)"}


class ChooseScreen(PanelScreen[str]):
    """Returns the id of the choice taken, or None.

    `highlighted` is called with the id under the cursor whenever that changes (a live preview).
    """

    DEFAULT_CSS = """
    ChooseScreen > #panel { max-height: 80%; }
    ChooseScreen.low > #panel { max-height: 100%; }
    ChooseScreen ChoiceList { height: auto; max-height: 100%; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        placeholder: str = "type to find",
        query: str = "",
        highlighted: Callable[[str], None] | None = None,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__(title, glyphs=glyphs)
        self.list = ChoiceList(choices, id="choices")
        self.list.set_reactive(ChoiceList.glyphs, glyphs)
        self.list.can_focus = False  # one types; the arrows move in the list all the same
        self.input = LineInput(query, placeholder=placeholder, classes="panel-input")
        self._highlighted = highlighted

    def body(self) -> Iterable[Widget]:
        """Yield the input and the list."""
        yield self.input
        yield self.list

    def on_mount(self) -> None:
        """Begin with the query given."""
        self.list.filter(self.input.value)
        self.input.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.list.filter(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.list.action_choose()

    async def on_key(self, event: events.Key) -> None:
        """Let the arrows move in the list."""
        if (action := _LIST_KEYS.get(event.key)) is not None:
            event.stop()
            await self.list.run_action(action)

    def on_choice_highlighted(self, event: ChoiceHighlighted) -> None:
        """Tell whoever wants to preview."""
        event.stop()
        if self._highlighted is not None and event.id is not None:
            self._highlighted(event.id)

    def on_choice_made(self, event: ChoiceMade) -> None:
        """Return the choice."""
        event.stop()
        self.dismiss(event.id)
