"""Selected text of a pile of messages: as it is shown, line by line, and the word under a double click.

The mouse and the painting are left to the widget and `transcript_line`. Rows are counted as Textual's selection has
them; `drift` turns them into rows of the pile (it takes up heights that changed above what is selected).
"""

import re
from typing import Final

from textual.geometry import Offset
from textual.selection import Selection

from shipchat.tui.widgets.transcript_line import span_of
from shipchat.tui.widgets.transcript_pile import Pile

_WORD: Final = re.compile(r"\w+(?:[-.'_/]\w+)*|\S")


def selected_text(pile: Pile, selection: Selection, drift: int, margin: int) -> str:
    """Return what is selected, without margins and trailing blanks. Draws what is selected but was never in view."""
    if not pile.items:
        return ""
    first = 0 if selection.start is None else selection.start.y - drift
    last = pile.total - 1 if selection.end is None else selection.end.y - drift
    rows = pile.draw_between(max(0, first), min(last, pile.total - 1))
    start, end = rows[0], rows[-1]
    # The rows as they are now, for drawing may have moved the last of them.
    moved = Selection(
        None if selection.start is None or first < 0 else Offset(selection.start.x, start),
        None if selection.end is None or last >= pile.total else Offset(selection.end.x, end),
    )
    lines: list[str] = []
    for row in rows:
        text = line_text(pile, row, margin)
        span = span_of(text, moved, row, margin)
        lines.append("" if span is None else text[span[0] : span[1]])
    return "\n".join(lines).rstrip("\n")


def word_at(pile: Pile, row: int, column: int, margin: int) -> tuple[int, int] | None:
    """Return from which character to which the word under character `column` of `row` reaches; None without one."""
    for match in _WORD.finditer(line_text(pile, row, margin), margin):
        if match.start() <= column < match.end():
            return match.span()
    return None


def line_text(pile: Pile, row: int, margin: int) -> str:
    """Return the text painted at `row`, with `margin` blanks before it."""
    index, within = pile.find(row)
    strip = pile.layout(index).strip(within)
    return "" if strip is None else " " * margin + strip.text
