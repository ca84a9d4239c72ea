"""One painted line of the transcript: margin, bar, text and margin; also a selection in it. What stands in the line
is left to `transcript_layout`.
"""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from shipchat.tui.axis import Axis
from shipchat.tui.markdown.wrap import fit
from shipchat.tui.palette import Ground, Look


def framed(
    text: Strip | None,
    axis: Axis,
    width: int,
    look: Look,
    *,
    ground: Ground,
    bar: str | None,
    hit: bool = False,
) -> Strip:
    """Return a line of exactly `width` cells with `text` between its margins on `ground`.

    `bar` is the role of the bar at the left (`accent` for the focused message, `mark` for a user's), None for none.
    `hit` lays the ground of a search hit under the text.
    """
    left, right = _margins(axis, width, look, "selection" if hit else ground, bar)
    if text is None:
        text = _blank(axis.text_width, look.palette.style("text", ground))
    if hit:
        text = _on(text, look.palette.ground("selection"))
    line = Strip([*left, *text, *right])
    return line if line.cell_length == width else line.adjust_cell_length(width, look.palette.style())


def blank_line(width: int, look: Look) -> Strip:
    """Return an empty line of the background."""
    return _blank(width, look.palette.style())


@lru_cache(maxsize=64)
def _blank(width: int, style: Style) -> Strip:
    return Strip([Segment(" " * width, style)], width) if width > 0 else Strip([], 0)


@lru_cache(maxsize=64)
def _margins(
    axis: Axis, width: int, look: Look, ground: Ground, bar: str | None
) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    palette = look.palette
    outside, inside = palette.style(), palette.style("text", ground)
    left = [Segment(" " * axis.bar, outside)] if axis.bar else []
    room = axis.left - axis.bar
    if room > 0:
        # Where a line needs no bar the cell is kept, so that nothing moves when the bar comes.
        sign = Segment(look.glyphs.bar, palette.style("accent" if bar == "accent" else "mark", ground))
        left.append(sign if bar else Segment(" ", inside))
    if room > 1:
        left.append(Segment(" " * (room - 1), inside))
    right = []
    if axis.outer_right > axis.right:
        right.append(Segment(" " * (axis.outer_right - axis.right), inside))
    if width > axis.outer_right:
        right.append(Segment(" " * (width - axis.outer_right), outside))
    return tuple(left), tuple(right)


def _on(text: Strip, overlay: Style) -> Strip:
    return Strip(
        [Segment(segment.text, (segment.style or Style.null()) + overlay) for segment in text],
        text.cell_length,
    )


def with_caret(text: Strip, look: Look) -> Strip:
    """Return a row of text with the caret of a reply being written after its last letter (none if the row is full)."""
    written = text.text.rstrip(" ")
    at = Segment(written).cell_length
    if at >= text.cell_length:
        return text
    before, _, after = text.divide([at, at + 1, text.cell_length])
    first = next(iter(after or text), None)
    style = look.palette.style("accent")
    if first is not None and first.style is not None and first.style.bgcolor is not None:
        style += Style(bgcolor=first.style.bgcolor)
    return Strip([*before, Segment(look.glyphs.bar, style), *after], text.cell_length)


def selected(line: Strip, selection: Selection, row: int, margin: int, style: Style) -> Strip:
    """Return `line`, number `row`, with its selected text in `style`; its first `margin` cells are never selected."""
    span = span_of(line.text, selection, row, margin)
    if span is None:
        return line
    start, end = (Segment(line.text[:at]).cell_length for at in span)
    before, inside, after = line.divide([start, end, line.cell_length])
    return Strip([*before, *_on(inside, style), *after], line.cell_length)


def span_of(text: str, selection: Selection, row: int, margin: int) -> tuple[int, int] | None:
    """Return from which character to which the line is selected, without margins and trailing spaces; None if it isn't."""
    span = selection.get_span(row)
    if span is None:
        return None
    start, end = span
    written = len(text.rstrip(" "))
    start = max(start, fit(text, margin))
    end = written if end == -1 else min(end, written)
    return (start, end) if start < end else None
