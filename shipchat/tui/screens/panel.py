"""The look of every dialog: a raised panel over the dimmed screen, a title, `Esc` at the right; content is others'."""

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cut
from shipchat.tui.glyphs import UNICODE, Glyphs

Result = TypeVar("Result")


def panel_head(title: str, width: int, *, glyphs: Glyphs = UNICODE) -> Content:
    """Return a dialog's first line in `width` cells: title at the left, `Esc` at the right."""
    room = width - 2
    shown = cut(safe_line(title), room - 6, glyphs.ellipsis)
    name = Content.styled(shown, "bold $strong")
    gap = max(1, room - name.cell_length - 3)
    return Content.assemble(" ", name, " " * gap, ("Esc", "$muted"))


class PanelScreen(ModalScreen[Result | None]):
    """A dialog that is given up with Escape or a click beside it: the result is then None.

    Subclasses give the content with `body`.
    """

    DEFAULT_CSS = """
    PanelScreen { align: center middle; background: $background 70%; }
    PanelScreen > #panel {
        width: 64; max-width: 100%; height: auto; max-height: 100%; padding: 1 2; background: $raised;
    }
    PanelScreen #panel-head { height: 1; margin: 0 0 1 0; }
    PanelScreen .panel-text { height: auto; padding: 0 1; color: $text; }
    PanelScreen .panel-note { height: auto; padding: 0 1; color: $muted; }
    PanelScreen .panel-error { height: auto; padding: 0 1; color: $error; display: none; }
    PanelScreen LineInput.panel-input, PanelScreen LineInput.panel-input:focus { padding: 0 1; margin: 0 0 1 0; }
    PanelScreen.flat > #panel { padding: 0 2; }
    PanelScreen.flat #panel-head { margin: 0; }
    .plain PanelScreen > #panel { border: solid $mark; }
    .plain.ascii PanelScreen > #panel { border: ascii $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "Close", show=False)]

    def __init__(self, title: str, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.panel_title = title
        self.glyphs = glyphs

    def body(self) -> Iterable[Widget]:
        """Yield the widgets below the title."""
        return ()

    def compose(self) -> ComposeResult:
        """Make the panel."""
        with Vertical(id="panel"):
            yield Static(id="panel-head", markup=False)
            yield from self.body()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the terminal: four cells beside the panel, no padding where there is no height."""
        panel = self.query_one("#panel")
        panel.styles.width = max(
            1, min(64, event.size.width - 4 if event.size.width > 8 else event.size.width)
        )
        self.set_class(event.size.height < 20, "low")
        self.set_class(event.size.height < 12, "flat")
        self.call_after_refresh(self._show_head)

    def _show_head(self) -> None:
        head = self.query_one("#panel-head", Static)
        head.update(panel_head(self.panel_title, head.size.width, glyphs=self.glyphs))

    def action_give_up(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the panel, or on its `Esc`, gives up."""
        panel, head = self.query_one("#panel").region, self.query_one("#panel-head").region
        on_escape = event.screen_y == head.y and head.right - 5 <= event.screen_x < head.right
        if on_escape or not panel.contains(event.screen_x, event.screen_y):
            event.stop()
            self.dismiss(None)
