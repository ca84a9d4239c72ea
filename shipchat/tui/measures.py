"""Where the parts of the screen go in a terminal of one size; placing them is left to the screens."""

from dataclasses import dataclass

from shipchat.tui.axis import Axis, axis


@dataclass(frozen=True, slots=True)
class Measures:
    """Where things go in a terminal of one size. `sidebar` is its cells, 0 where it is a drawer."""

    sidebar: int
    place: Axis
    header: bool
    status: bool
    body: bool


def measures(width: int, height: int) -> Measures:
    """Return the measures for a terminal of `width` x `height` cells: what matters least goes first."""
    sidebar = 0 if width < 90 else 26 if width < 110 else 30 if width < 140 else 32
    return Measures(
        sidebar=sidebar,
        place=axis(width, height, width - sidebar),
        header=width >= 60 and height >= 16,
        status=width >= 30 and height >= 8,
        body=width >= 20 and height >= 5,
    )
