"""Tables: as wide as their content, wrapped into the column when it is wider; what a cell says is left to `inline`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.segment import Segment

from shipchat.tui.markdown.wrap import Row, Span, clip, width_of, wrap
from shipchat.tui.palette import Look

Align = Literal["left", "center", "right"]

_GAP: Final = 3
_NARROWEST: Final = 8  # a column is shrunk no further than this


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    spans: Sequence[Span]
    align: Align

    @property
    def width(self) -> int:
        """The cells its longest line takes."""
        return max((width_of(row) for row in wrap(self.spans, 1_000_000)), default=0)


def table_rows(header: Sequence[Cell], body: Sequence[Sequence[Cell]], width: int, look: Look) -> list[Row]:
    """Return the rows of a table: header, rule, body; none wider than `width`."""
    palette = look.palette
    widths = [max(1, *(row[column].width for row in (header, *body))) for column in range(len(header))]
    widths = shrunk(widths, width)
    rule = min(width, sum(widths) + _GAP * (len(widths) - 1))
    rows = _line_rows(header, widths, look)
    rows.append([Segment(look.glyphs.rule * rule, palette.style("mark"))])
    for line in body:
        rows.extend(_line_rows(line, widths, look))
    if any(width_of(row) > width for row in rows):
        mark = Segment(look.glyphs.next, palette.style("accent"))
        rows = [[*clip(row, width - 1), mark] if width_of(row) > width else row for row in rows]
    return rows


def shrunk(widths: Sequence[int], width: int) -> list[int]:
    """Return the column widths, the widest made narrower until the table fits `width` or none can give any more."""
    result = list(widths)
    excess = sum(result) + _GAP * (len(result) - 1) - width
    while excess > 0:
        widest = max(result)
        if widest <= _NARROWEST:
            break
        columns = [column for column, size in enumerate(result) if size == widest]
        following = max([size for size in result if size < widest] + [_NARROWEST])
        # All the widest give way together, down to the next widest.
        step = min(widest - following, max(1, excess // len(columns)))
        for column in columns:
            taken = min(step, excess)
            result[column] -= taken
            excess -= taken
    return result


def _line_rows(cells: Sequence[Cell], widths: Sequence[int], look: Look) -> list[Row]:
    wrapped = [wrap(cell.spans, size) for cell, size in zip(cells, widths, strict=True)]
    style = look.palette.style()
    rows: list[Row] = []
    for index in range(max(map(len, wrapped))):
        row: Row = []
        for column, (cell, size) in enumerate(zip(cells, widths, strict=True)):
            content = wrapped[column][index] if index < len(wrapped[column]) else []
            room = size - width_of(content)
            left = {"left": 0, "center": room // 2, "right": room}[cell.align]
            row += [Segment(" " * left, style)] if left else []
            row += content
            if column < len(widths) - 1:
                row.append(Segment(" " * (room - left + _GAP), style))
        rows.append(row)
    return rows
