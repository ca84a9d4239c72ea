"""A Markdown table as aligned rows that fit the terminal; finding tables in the text is the Markdown stream's."""

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from shipchat.inline.inline_marks import parse
from shipchat.inline.rows import Row, row_cells, wrapped

GAP: Final = 3
LEAST: Final = 8
"""Cells that a column keeps at least when the table has to shrink."""

_CELL_END: Final = re.compile(r"(?<!\\)\|")
_DELIMITER: Final = re.compile(r"^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$")


def is_delimiter(line: str) -> bool:
    """Return whether this is the second line of a table (`|---|:-:|`)."""
    return "|" in line and bool(_DELIMITER.match(line.strip()))


def table_rows(lines: Sequence[str], width: int) -> list[Row]:
    """Return the table in `lines` (heads, delimiter, rows) in at most `width` cells where that is possible."""
    alignments = [_alignment(cell) for cell in _cells(lines[1])]
    heads = _cells(lines[0])
    body = [_cells(line)[: len(heads)] for line in lines[2:]]
    styled = [[_spans(cell, "class:strong") for cell in heads]]
    styled += [[_spans(cell, "") for cell in (row + [""] * (len(heads) - len(row)))] for row in body]
    widths = [max(1, *(row_cells(row[column]) for row in styled)) for column in range(len(heads))]
    _shrink(widths, width)
    rows: list[Row] = []
    for number, row in enumerate(styled):
        columns = [wrapped(cell, widths[index], [], []) for index, cell in enumerate(row)]
        rows += [_joined(pieces, widths, alignments) for pieces in zip_longest(*columns, fillvalue=[])]
        if number == 0:
            rows.append([("class:muted", "─" * (sum(widths) + GAP * (len(widths) - 1)))])
    return rows


def _cells(line: str) -> list[str]:
    text = line.strip().removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(text)]


def _spans(cell: str, style: str) -> Row:
    return parse(cell, final=True, style=style)[0]


def _alignment(cell: str) -> str:
    if cell.endswith(":"):
        return "centre" if cell.startswith(":") else "right"
    return "left"


def _shrink(widths: list[int], width: int) -> None:
    room = width - GAP * (len(widths) - 1)
    while sum(widths) > room and max(widths) > LEAST:
        widest = widths.index(max(widths))
        others = max((one for index, one in enumerate(widths) if index != widest), default=LEAST)
        least = max(LEAST, min(others, widths[widest] - 1))
        widths[widest] = max(least, widths[widest] - (sum(widths) - room))


def _joined(pieces: Sequence[Row], widths: Sequence[int], alignments: Sequence[str]) -> Row:
    joined: Row = []
    for index, piece in enumerate(pieces):
        alignment = alignments[index] if index < len(alignments) else "left"
        spare = max(widths[index] - row_cells(piece), 0)
        left = {"left": 0, "right": spare, "centre": spare // 2}[alignment]
        right = spare - left if index < len(pieces) - 1 else 0
        gap = GAP if index < len(pieces) - 1 else 0
        joined += [("", " " * left), *piece, ("", " " * (right + gap))]
    return joined
