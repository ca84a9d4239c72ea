"""The text one types: an editor of several lines, safe to paste anything into; which keys send is the composer's."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.document._document import EditResult, Location
from textual.strip import Strip
from textual.widgets import TextArea

from shipchat.tui.widgets.draft_text import clean_draft, shown_draft
from shipchat.tui.widgets.key_order import run_own_binding

# From this many characters on a line is drawn by parts.
_LONG_LINE: Final = 4_000


class ComposerInput(TextArea):
    """Textual's editor without its frame, colours and Enter.

    `before_key` is asked about every key first and says whether it has dealt with it. All text that comes in (typed,
    pasted, loaded) is cleaned; a paste is one edit, whatever its size.
    """

    DEFAULT_CSS = """
    ComposerInput, ComposerInput:focus {
        height: auto;
        min-height: 1;
        max-height: 10;
        width: 1fr;
        border: none;
        padding: 0;
        background: transparent;
        background-tint: transparent;
        color: $text;
        /* Never hidden, never seen: whenever a scrollbar comes or goes, the editor wraps everything anew. */
        overflow-y: scroll;
        scrollbar-size: 0 0;
    }
    ComposerInput .text-area--placeholder { color: $muted; }
    ComposerInput .text-area--cursor-line { background: transparent; }
    ComposerInput:dark .text-area--cursor, ComposerInput:light .text-area--cursor {
        background: $accent;
        color: $background;
        text-style: none;
    }
    ComposerInput .text-area--selection { background: $selection; color: $strong; }
    .plain ComposerInput .text-area--cursor, .plain ComposerInput .text-area--selection {
        text-style: reverse;
        background: transparent;
        color: $text;
    }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(self, before_key: Callable[[str], bool], *, id: str | None = "composer-input") -> None:  # noqa: A002
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
        )
        self._before_key = before_key
        #: Says what is put in for a text that was pasted.
        self.pasted: Callable[[str], str] = str
        self.cursor_blink = False  # one moving cell at most on the screen; this is not it
        self.match_cursor_bracket = False

    async def _on_key(self, event: events.Key) -> None:
        if self._before_key(event.key):
            event.stop()
            event.prevent_default()
        else:
            await run_own_binding(self, event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text(self.pasted(event.text))

    def insert_text(self, text: str) -> None:
        """Put `text` in place of the selection, as one edit, with the cursor after it."""
        if result := self._replace_via_keyboard(text, *self.selection):
            self.move_cursor(result.end_location)

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(clean_draft(insert), start, end)

    def load_text(self, text: str) -> None:
        """Replace everything by `text`, cleaned, with the cursor at its end."""
        super().load_text(clean_draft(text))
        self.move_cursor(self.document.end)

    def get_line(self, line_index: int) -> Text:
        """Return one line to draw."""
        return Text(shown_draft(self.document.get_line(line_index)), end="", no_wrap=True)

    def _render_line(self, y: int) -> Strip:
        """Draw a row; of a very long line only the part that is in it.

        Textual divides the whole line again for each of its rows: with a megabyte in one line, 70 ms a row.
        """
        rows = self.wrapped_document._offset_to_line_info  # noqa: SLF001  (there is no public way to a row's line)
        index = y + self.scroll_offset.y
        if index >= len(rows):
            return super()._render_line(y)
        line_index, section = rows[index]
        line = self.document.get_line(line_index)
        if len(line) < _LONG_LINE or "\t" in line:
            return super()._render_line(y)
        offsets = self.wrapped_document.get_offsets(line_index)
        start = offsets[section - 1] if section else 0
        end = offsets[section] if section < len(offsets) else len(line)
        text = Text(
            shown_draft(line[start:end]) + ("" if section < len(offsets) else " "), end="", no_wrap=True
        )
        top, bottom = sorted(self.selection)
        theme = self._theme
        if theme.selection_style is not None and top != bottom and top[0] <= line_index <= bottom[0]:
            first = max(start, top[1] if top[0] == line_index else 0)
            last = min(end, bottom[1] if bottom[0] == line_index else len(line))
            if first < last:
                text.stylize(theme.selection_style, first - start, last - start)
        row, column = self.cursor_location
        if theme.cursor_style is not None and self._draw_cursor and row == line_index:
            at = column - start
            if 0 <= at < len(text):
                text.stylize(theme.cursor_style, at, at + 1)
        strip = Strip(text.render(self.app.console), cell_length=text.cell_len)
        width = self.scrollable_content_region.size.width
        return strip.extend_cell_length(width, self.rich_style).apply_style(self.rich_style)

    @property
    def on_first_row(self) -> bool:
        """Whether the cursor is in the first row as drawn, where Up has nowhere to go."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    @property
    def on_last_row(self) -> bool:
        """Whether the cursor is in the last row as drawn."""
        return (
            self.wrapped_document.location_to_offset(self.cursor_location).y
            >= self.wrapped_document.height - 1
        )
