"""Where columns stand: one text axis shared by header, transcript, queue, composer and status; drawing is left to them."""

from dataclasses import dataclass
from typing import Final

COLUMN_MAX: Final = 104  # cells: prose of at most 96 and its margins
_CENTRED_FROM: Final = 108  # cells of the main region from which the column is centred in it


@dataclass(frozen=True, slots=True)
class Axis:
    """Columns of the main region, counted in cells from its left edge; `right` and `outer_right` are exclusive ends.

    `bar` is where left bars stand and blocks begin, `left` where text begins, `right` where text ends,
    `outer_right` where blocks end. `tiny` and `compact` say how much height the chrome may take.
    """

    bar: int
    left: int
    right: int
    outer_right: int
    tiny: bool
    compact: bool

    @property
    def text_width(self) -> int:
        """Cells a line of text has, at least 1."""
        return max(1, self.right - self.left)


def axis(width: int, height: int, main_width: int | None = None) -> Axis:
    """Return the axis for a terminal of `width` x `height` cells whose main region is `main_width` cells wide.

    The main region is what the sidebar leaves, its scrollbar included; None means the whole terminal.
    No column is ever negative and text never narrower than one cell, even in a terminal of 1x1.
    """
    main = max(1, width if main_width is None else main_width)
    tiny = width < 72 or height < 20
    column = min(COLUMN_MAX, main) if main >= _CENTRED_FROM else main
    start = (main - column) // 2
    margin, inset = (0, 2) if tiny else (2, 4)
    left = min(start + inset, main - 1)
    right = max(left + 1, start + column - inset)
    return Axis(
        bar=min(start + margin, left),
        left=left,
        right=right,
        outer_right=max(right, start + column - margin),
        tiny=tiny,
        compact=not tiny and height < 30,
    )
