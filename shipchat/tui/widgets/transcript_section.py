"""The parts an item of the transcript is drawn in, each drawn when it comes into view; how they are stacked is left
to `transcript_layout`.

A section knows its height before it is drawn only as an estimate; drawing makes it exact.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from textual.strip import Strip

from shipchat.core.safe_text import safe_text
from shipchat.tui.markdown.block import Block, OpenLines
from shipchat.tui.markdown.colours import AT_ONCE, Colouring
from shipchat.tui.markdown.open_rows import OpenRows
from shipchat.tui.markdown.render import colouring_of_block, render_block
from shipchat.tui.markdown.wrap import Row, Span, padded, wrap
from shipchat.tui.palette import Ground, Look, Role

_CHUNK: Final = 50  # lines of plain text in one section: a pasted book is drawn a page at a time


@dataclass(slots=True)
class Section:
    """A run of rows: how to draw them, the blank row before them or none, and the rows once they are drawn."""

    draw: Callable[[int, Look], Sequence[Strip]]
    estimate: Callable[[int], int]
    gap: int = 0
    block: Block | None = None
    strips: Sequence[Strip] | None = None
    rows: int = 0  # without the gap; an estimate until drawn
    shift: int = 0  # cells by which code is moved to the left
    colouring: Colouring | None = None  # what finds the colours of code drawn without them

    @property
    def height(self) -> int:
        """Rows including the gap."""
        return self.gap + self.rows


def block_section(block: Block, *, gap: int, live: bool = False) -> Section:
    """Return a section of a Markdown block; a `live` one is still being written, and its code has no colours yet."""

    def draw(width: int, look: Look) -> Sequence[Strip]:
        if not live and section.colouring is None and len(block.source) > AT_ONCE:
            section.colouring = colouring_of_block(block)
        return render_block(block, width, look, coloured=not live, shift=section.shift)

    section = Section(draw, lambda width: estimated_rows(block.source, width), gap, block)
    return section


def open_section(run: OpenLines, rows: OpenRows, *, gap: int) -> Section:
    """Return a section of lines that are still growing, drawn already."""
    strips = rows.update(run)
    return Section(lambda _width, _look: strips, lambda _width: len(strips), gap, None, strips, len(strips))


def rows_section(
    make: Callable[[int, Look], Iterable[Row]], *, gap: int = 0, ground: Ground = "background"
) -> Section:
    """Return a section of rows that are made quickly."""

    def draw(width: int, look: Look) -> list[Strip]:
        style = look.palette.style("text", ground)
        return [Strip(padded(row, width, style), width) for row in make(width, look)]

    return Section(draw, lambda _width: 1, gap)


def plain_sections(
    text: str, *, role: Role = "text", ground: Ground = "background", gap: int = 0
) -> list[Section]:
    """Return sections of `text` shown as it was typed: its lines kept, nothing in it interpreted."""
    lines = safe_text(text).strip("\n").split("\n")
    return [
        _plain_section(lines[start : start + _CHUNK], role, ground, gap if start == 0 else 0)
        for start in range(0, len(lines), _CHUNK)
    ]


def _plain_section(lines: list[str], role: Role, ground: Ground, gap: int) -> Section:
    def draw(width: int, look: Look) -> list[Strip]:
        style = look.palette.style(role, ground)
        rows = [row for line in lines for row in wrap([Span(line, style)], width)]
        return [Strip(padded(row, width, style), width) for row in rows]

    return Section(draw, lambda width: sum(1 + len(line) // width for line in lines), gap)


def estimated_rows(text: str, width: int) -> int:
    """Return about how many rows `text` will take at `width` cells."""
    return max(1, text.count("\n") + len(text) // (width + width // 2))
