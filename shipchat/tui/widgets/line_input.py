"""One line to type into, in our colours; what is pasted or set is made one harmless line first."""

from typing import ClassVar

from textual import events
from textual.geometry import Region
from textual.widgets import Input

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len
from shipchat.tui.widgets.key_order import run_own_binding


class LineInput(Input):
    """Textual's Input without a frame. Set and read `value`; it posts `Input.Changed` and `Input.Submitted`."""

    DEFAULT_CSS = """
    LineInput, LineInput:focus, LineInput:ansi {
        border: none;
        height: 1;
        padding: 0;
        background: transparent;
        background-tint: transparent;
        color: $text;
    }
    LineInput > .input--placeholder, LineInput > .input--suggestion { color: $muted; }
    LineInput > .input--cursor { background: $accent; color: $background; }
    LineInput > .input--selection { background: $selection; color: $strong; }
    .plain LineInput > .input--cursor { text-style: reverse; background: transparent; color: $text; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002  (Textual's own name for it)
        classes: str | None = None,
    ) -> None:
        super().__init__(
            safe_line(value),
            placeholder=placeholder,
            password=password,
            id=id,
            classes=classes,
            compact=True,
            select_on_focus=False,
        )

    def set_value(self, text: str) -> None:
        """Replace what was typed and put the cursor at the end."""
        self.value = safe_line(text)
        self.cursor_position = len(self.value)

    def on_resize(self) -> None:
        """Keep the cursor in view: Textual's own scrolls to it when it moves, not when the width changes."""
        at = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(at, 0, 1, 1), force=True, animate=False)

    def replace(self, text: str, start: int, end: int) -> None:
        """Put `text`, made safe, in place of what stands from `start` to `end`; every way of typing ends here."""
        super().replace(safe_line(text), start, end)

    async def _on_key(self, event: events.Key) -> None:
        await run_own_binding(self, event)

    def _on_paste(self, event: events.Paste) -> None:
        # Textual's own keeps the first line and drops the rest; a wrapped title is one title.
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        self.replace(text, *self.selection)
