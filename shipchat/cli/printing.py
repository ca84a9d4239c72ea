"""Printing: safe lines, aligned tables, JSON, errors. What is printed is decided by the commands."""

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from shipchat.cli.style import bold, dim, styled
from shipchat.core.errors import ShipchatError
from shipchat.core.safe_text import safe_line, safe_text

GAP: Final = 3
"""Cells between the columns of a table."""


def line(text: str = "") -> None:
    """Print one line of ours on standard output; every control character in it is made visible."""
    print(safe_line(text))


def print_text(text: str) -> None:
    """Print text that is safe already: made of safe pieces and our own styles."""
    print(text)


def block(text: str) -> None:
    """Print text of several lines on standard output, made safe to show."""
    print(safe_text(text))


def note(text: str) -> None:
    """Print one line on standard error: something to know that is not the answer."""
    print(safe_line(text), file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    print(json_text(value, indent=2))


def json_text(value: Any, *, indent: int | None = None, stream: object = None) -> str:
    """Return `value` as JSON text for `stream` (default: standard output).

    On a terminal, and where the encoding is not UTF-8, everything beyond ASCII is escaped: it is the same JSON, and
    no character of it can steer the terminal or be lost.
    """
    import json

    target: Any = sys.stdout if stream is None else stream
    utf8 = (target.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=target.isatty() or not utf8, indent=indent)


def print_error(error: ShipchatError, *, as_json: bool) -> None:
    """Print an error on standard error: what and its code, then at most two lines of what to do; or JSON."""
    if as_json:
        value = {"error": {"code": error.code, "message": str(error), "details": error.details}}
        print(json_text(value, stream=sys.stderr), file=sys.stderr, flush=True)
        return
    lines = [f"shipchat: {error} ({error.code})", *error.advice[:2]]
    print("\n".join(safe_line(one) for one in lines), file=sys.stderr, flush=True)


def columns() -> int | None:
    """Return the width of the terminal on standard output in cells, None when there is no terminal."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else None
    except (OSError, ValueError):
        return None


def width_of(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    from shipchat.tui.cells import cell_len  # a table of Unicode widths: only for text that needs it

    return cell_len(text)


def cut(text: str, cells: int) -> str:
    """Return `text`, cut with an ellipsis when it is wider than `cells`."""
    if width_of(text) <= cells:
        return text
    from shipchat.tui.cells import cut as cut_cells

    return cut_cells(text, cells, "…" if "utf" in (sys.stdout.encoding or "").lower() else "...")


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    flexible: int | None = None,
) -> None:
    """Print rows under heads, aligned by cells; on a terminal the `flexible` column gives way to the width.

    `right` numbers the columns that are aligned to the right. Columns without any content are left out.
    """
    shown = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    columns_of = [_safe_column([row[index] for row in rows]) for index in shown]
    titles = [heads[index] for index in shown]
    measured = [_widths(column) for column in columns_of]
    widths = [max(len(title), *found) for title, found in zip(titles, measured, strict=True)]
    total = columns()
    if total is not None and flexible in shown:
        at = shown.index(flexible)
        others = sum(widths) - widths[at] + GAP * (len(widths) - 1)
        room = max(min(widths[at], total - 1 - others), 12)
        if room < widths[at]:
            columns_of[at] = [cut(text, room) for text in columns_of[at]]
            measured[at] = _widths(columns_of[at])
        widths[at] = room
    at_right = {shown.index(index) for index in right if index in shown}
    padded = [
        _padded(column, found, width, to_right=place in at_right)
        for place, (column, found, width) in enumerate(zip(columns_of, measured, widths, strict=True))
    ]
    head = (
        (" " * GAP)
        .join(
            [
                title.rjust(width) if place in at_right else title.ljust(width)
                for place, (title, width) in enumerate(zip(titles, widths, strict=True))
            ]
        )
        .rstrip()
    )
    lines = [(" " * GAP).join(cells).rstrip() for cells in zip(*padded, strict=True)]
    if styled():
        first = columns_of[0] if columns_of else []
        lines = [bold(text) + line_[len(text) :] for text, line_ in zip(first, lines, strict=True)]
    # One write: ten thousand of them are most of the time of a list.
    print("\n".join([dim(head) if styled() else head, *lines]))


def _safe_column(column: list[str]) -> list[str]:
    """Return a column's texts, each safe to show on a line. Nothing that `safe_line` changes is printable."""
    return column if "".join(column).isprintable() else [safe_line(text) for text in column]


def _widths(column: list[str]) -> list[int]:
    # Most titles that are not ASCII are only cut: an ellipsis takes one cell, and no table of widths is needed.
    return [
        len(text) if text.isascii() or text.replace("…", "").isascii() else width_of(text) for text in column
    ]


def _padded(column: list[str], widths: list[int], width: int, *, to_right: bool) -> list[str]:
    if to_right:
        return [" " * (width - own) + text for text, own in zip(column, widths, strict=True)]
    return [text + " " * (width - own) for text, own in zip(column, widths, strict=True)]
