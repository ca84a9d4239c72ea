"""Measuring and cutting text in terminal cells, whole graphemes at a time; knows nothing about style."""

from typing import Final

from rich.cells import cell_len, split_graphemes

__all__ = ["cell_len", "cut", "fit", "fold_line"]

_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_LEADING_JOINERS: Final = _JOINER + "\N{VARIATION SELECTOR-16}"


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Return `text` if it is at most `width` cells wide, else its beginning and `ellipsis`, at most `width` cells.

    No grapheme (a wide character, an emoji sequence, a letter with its marks) is divided. A width below the ellipsis
    gives an empty text.

    >>> cut("Interview questions for Bergen", 20)
    'Interview questions…'
    """
    if width <= 0:
        return ""
    # A joiner at an edge would bind to the neighbouring text, which is not part of this one.
    text = text.lstrip(_LEADING_JOINERS).rstrip(_JOINER)
    if text.isascii():  # one cell each: most titles
        if len(text) <= width:
            return text
    elif cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room < 0:
        return ""
    return _head(text, room).rstrip(" ") + ellipsis


def _head(text: str, room: int) -> str:
    # Every grapheme but a zero-width one takes at least a cell, so a long text need not be split as a whole.
    used = 0
    end = 0
    for start, stop, cells in split_graphemes(text[: room * 16 + 16])[0]:
        if used + cells > room:
            end = start
            break
        used += cells
        end = stop
    head = text[:end]
    while cell_len(head) > room:  # joiners before wide characters: the parts say less than the whole
        head = head[:-1]
    return head


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Return `text` cut or padded with spaces to exactly `width` cells.

    >>> fit("日本語", 4)
    '日… '
    """
    short = cut(text, width, ellipsis)
    return short + " " * (max(width, 0) - cell_len(short))


def fold_line(text: str, width: int) -> list[str]:
    """Return `text` broken at spaces into lines of at most `width` cells (at least 1); longer words are divided.

    >>> fold_line("The disk is full", 9)
    ['The disk', 'is full']
    """
    width = max(width, 1)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        line = word
        while cell_len(line) > width:
            head = (
                _head(line, width) or line[:1]
            )  # a wide character in one cell: shown, and clipped by the screen
            lines.append(head)
            line = line[len(head) :]
    if line or not lines:
        lines.append(line)
    return lines
