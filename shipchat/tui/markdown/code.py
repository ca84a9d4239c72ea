"""The rows of a block of code; its colours are left to `colours`, what `copy` does to others."""

from collections.abc import Sequence
from typing import Final, overload

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cut
from shipchat.tui.markdown.colours import CodeLine, code_lines, colours_of
from shipchat.tui.markdown.wrap import Row, fit, padded, width_of
from shipchat.tui.palette import Look, Role

COPY_META: Final = "shipchat_copy"
COPY_WORD: Final = "copy"
_PADDING: Final = 2


def language_of(info: str) -> str:
    """Return the language a fence's info string names, fit to be shown: `python` of `python title="x"`."""
    words = safe_line(info).strip().split()
    return words[0].strip("{}.,") if words else ""


class CodeStrips(Sequence[Strip]):
    """The rows of a block of code, each made when it is asked for: the head, the code, and a blank row.

    Every row is exactly `width` cells. Long lines are cut, with a mark at the right edge, and can be read by moving
    `shift` cells to the right.
    """

    def __init__(
        self, code: str, info: str, width: int, look: Look, *, coloured: bool = True, shift: int = 0
    ) -> None:
        self._language = language_of(info)
        plain: Sequence[CodeLine] = [((line, "text", False),) for line in code_lines(code)]
        self._lines = (colours_of(code, self._language) if coloured else None) or plain
        self._width, self._look, self._shift = width, look, shift
        self._made: dict[int, Strip] = {}

    def __len__(self) -> int:
        return 1 + len(self._lines) + (0 if self._look.palette.plain else 1)

    @overload
    def __getitem__(self, index: int) -> Strip: ...

    @overload
    def __getitem__(self, index: slice) -> list[Strip]: ...

    def __getitem__(self, index: int | slice) -> Strip | list[Strip]:
        """Return a row or some."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        strip = self._made.get(at)
        if strip is None:
            strip = self._made[at] = Strip(self._row(at), self._width)
        return strip

    def _row(self, at: int) -> Row:
        if at == 0:
            return head_row(self._language, self._width, self._look)
        if at > len(self._lines):
            return padded([], self._width, self._look.palette.style("text", "code"))
        return line_row(self._lines[at - 1], self._width, self._look, self._shift)


def head_row(language: str, width: int, look: Look, *, word: str = COPY_WORD, role: Role = "muted") -> Row:
    """Return the first row of a block of code: the language, and at the right the word that copies it."""
    palette = look.palette
    muted = palette.style("muted", "code")
    room = width - 2 * _PADDING - len(word)
    if room < 1:
        return padded(_edge(look), width, muted)
    name = cut(language, room - 1, look.glyphs.ellipsis)
    row = [*_edge(look), Segment(name, muted)]
    row.append(Segment(" " * (width - _PADDING - len(word) - width_of(row)), muted))
    row.append(Segment(word, palette.style(role, "code") + Style.from_meta({COPY_META: True})))
    return padded(row, width, muted)


def line_row(line: CodeLine, width: int, look: Look, shift: int = 0) -> Row:
    """Return one line of code as a row of exactly `width` cells."""
    palette = look.palette
    ground = palette.style("text", "code")
    if width <= 2 * _PADDING:
        return padded([Segment("".join(text for text, _, _ in line), ground)], width, ground)
    row = _edge(look)
    room = width - 2 * _PADDING
    skip = max(0, shift)
    is_cut = False
    for text, role, italic in line:
        if not text:
            continue
        segment = Segment(
            text, palette.style(role, "code", italic=True) if italic else palette.style(role, "code")
        )
        size = segment.cell_length
        if skip:
            segment, taken = _skipped(segment, skip)
            skip -= taken
            size = segment.cell_length
        if size > room:
            row.append(Segment(segment.text[: fit(segment.text, room)], segment.style))
            is_cut = True
            break
        row.append(segment)
        room -= size
    row = padded(row, width - _PADDING, ground)
    tail = Segment(look.glyphs.next, palette.style("accent", "code")) if is_cut else Segment(" ", ground)
    return padded([*row, tail], width, ground)


def _skipped(segment: Segment, cells: int) -> tuple[Segment, int]:
    """Return `segment` without its first `cells` cells, and how many it lost."""
    if segment.cell_length <= cells:
        return Segment("", segment.style), segment.cell_length
    count = fit(segment.text, cells)
    return Segment(segment.text[count:], segment.style), cells


def _edge(look: Look) -> Row:
    if look.palette.plain:
        return [Segment(look.glyphs.line + " ", look.palette.style("mark", "code"))]
    return [Segment(" " * _PADDING, look.palette.style("text", "code"))]
