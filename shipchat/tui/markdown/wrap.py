"""Breaking styled text into rows of so many cells; where the styles come from is left to the caller.

Rows break at spaces, before or after wide characters, and inside a word only when it is longer than a row. A
grapheme (a letter with its marks, an emoji of several code points) is never cut.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

Row = list[Segment]

_WORDS: Final = re.compile(r" +|[^ ]+")


class Span(NamedTuple):
    """Text in one style."""

    text: str
    style: Style


def width_of(row: Iterable[Segment]) -> int:
    """Return the cells `row` takes."""
    return sum(segment.cell_length for segment in row)


def graphemes(text: str) -> list[str]:
    """Return the graphemes of `text` in order; joined, they are `text`."""
    spans, _ = split_graphemes(text)
    pieces: list[str] = []
    end = 0
    for start, stop, _cells in spans:
        if start > end:  # never seen, but a character must not vanish
            pieces.append(text[end:start])
        pieces.append(text[start:stop])
        end = stop
    if end < len(text):
        pieces.append(text[end:])
    return pieces


def fit(text: str, width: int) -> int:
    """Return how many characters of `text` fit in `width` cells without cutting a grapheme."""
    if text.isascii():
        return max(0, width)
    cells = taken = 0
    for piece in graphemes(text):
        cells += cell_len(piece)
        if cells > width:
            break
        taken += len(piece)
    return taken


def row_starts(text: str, width: int) -> list[tuple[int, int]]:
    """Return where the rows of one line of `text` begin and end, in characters; spaces at a break belong to no row.

    Greedy, and decided from left to right: text added at the end only ever changes the last row.
    """
    width = max(1, width)
    if len(text) <= width and text.isascii():
        return [(0, len(text))]
    rows: list[tuple[int, int]] = []
    start = end = 0  # the row being filled
    cells = 0  # ... and the cells it takes
    for match in _WORDS.finditer(text):
        word, at = match.group(), match.start()
        size = len(word) if word.isascii() else cell_len(word)
        if cells + size <= width:
            cells += size
            end = match.end()
        elif word[0] == " ":
            # The break falls here: the row ends before the spaces, the next begins after them.
            rows.append((start, at))
            start = end = match.end()
            cells = 0
        else:
            if cells and size == len(word):  # narrow letters: the word moves to the next row as a whole
                rows.append((start, _before_spaces(text, start, at)))
                start, cells = at, 0
            for piece, piece_cells in _pieces(word):
                if cells and cells + piece_cells > width:
                    rows.append((start, _before_spaces(text, start, at)))
                    start, cells = at, 0
                at += len(piece)
                cells += piece_cells
            end = at
    if end > start or not rows:
        rows.append((start, end))
    return rows


def _before_spaces(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] == " ":
        end -= 1
    return end


def _pieces(word: str) -> Iterable[tuple[str, int]]:
    if word.isascii():
        return ((letter, 1) for letter in word)
    return ((piece, cell_len(piece)) for piece in graphemes(word))


def wrap(spans: Sequence[Span], width: int) -> list[Row]:
    """Return the rows of `spans` at `width` cells; a line feed in a span begins a new row. At least one row."""
    rows: list[Row] = []
    line: list[Span] = []
    for span in spans:
        if "\n" not in span.text:
            line.append(span)
            continue
        first, *rest = span.text.split("\n")
        line.append(Span(first, span.style))
        for text in rest:
            rows.extend(_wrap_line(line, width))
            line = [Span(text, span.style)]
    rows.extend(_wrap_line(line, width))
    return rows


def _wrap_line(spans: Sequence[Span], width: int) -> list[Row]:
    text = "".join(span.text for span in spans)
    breaks = row_starts(text, width)
    if len(spans) == 1:
        style = spans[0].style
        return [clip([Segment(text[start:end], style)], width) for start, end in breaks]
    rows: list[Row] = []
    index, offset = 0, 0  # the span being spent, and where it begins in the line
    for start, end in breaks:
        row: Row = []
        while index < len(spans):
            span = spans[index]
            stop = offset + len(span.text)
            piece = span.text[max(0, start - offset) : max(0, end - offset)]
            if piece:
                row.append(Segment(piece, span.style))
            if stop > end:
                break
            offset = stop
            index += 1
        rows.append(clip(row, width))
    return rows


def clip(row: Row, width: int) -> Row:
    """Return `row`, cut to at most `width` cells; half of a wide character becomes a space."""
    total = width_of(row)
    if total <= width:
        return row
    clipped: Row = []
    left = max(0, width)
    for text, style, _ in row:
        taken = text[: fit(text, left)] if cell_len(text) > left else text
        if taken:
            clipped.append(Segment(taken, style))
        left -= cell_len(taken)
        if taken != text:
            if left:
                clipped.append(Segment(" " * left, style))
            break
    return clipped


def padded(row: Row, width: int, style: Style) -> Row:
    """Return `row` made exactly `width` cells wide, filled up in `style`."""
    row = clip(row, width)
    missing = width - width_of(row)
    return [*row, Segment(" " * missing, style)] if missing > 0 else row
