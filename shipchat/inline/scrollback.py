"""Puts rows into the terminal's scrollback, above the live area, once each; what the rows say is others' business."""

from collections.abc import Iterable

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.output import Output
from prompt_toolkit.renderer import print_formatted_text

from shipchat.inline.output import HeldOutput
from shipchat.inline.rows import Row


class Scrollback:
    """Prints above the live area of `app`. The area is taken away, rows are printed, and it is drawn again below them.

    What is held goes out with the next drawing, so the terminal sees it all in one write.
    """

    def __init__(self, app: Application[int]) -> None:
        self._app = app
        self._output: Output = app.output
        self._open = False
        app.after_render += self._drawn

    def print(self, rows: Iterable[Row]) -> None:
        """Print finished rows."""
        fragments = [span for row in rows for span in (*row, ("", "\n"))]
        if not fragments:
            return
        app = self._app
        if not app.is_running:
            self._write(fragments)
            return
        if not self._open:
            if isinstance(self._output, HeldOutput):
                self._output.hold()
            app.renderer.erase()
            self._open = True
        self._write(fragments)
        app.invalidate()

    def _write(self, fragments: "list[tuple[str, str]]") -> None:
        print_formatted_text(
            self._output,
            FormattedText(fragments),
            self._app.renderer.style,
            color_depth=self._app.color_depth,
        )

    def _drawn(self, _app: object) -> None:
        self._open = False


def rows_gained(screen: Screen, cursor: Point, columns: int) -> int:
    """Return how many rows further up a drawn area begins once a terminal has re-wrapped it to `columns`.

    A narrowed terminal divides each row that is too long for it; the rows above the cursor and the cursor's own
    push the beginning up by as many. Rows below the cursor do not matter. In doubt it is one too few: that leaves a
    stale row in the scrollback, one too many would erase a line of the conversation.
    """

    def divided(y: int) -> int:
        used = max((x + 1 for x, char in screen.data_buffer[y].items() if char.char.strip()), default=0)
        return max(used - 1, 0) // columns

    return sum(divided(y) for y in range(cursor.y)) + min(divided(cursor.y), cursor.x // columns)
