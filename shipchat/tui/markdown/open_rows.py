"""The rows of lines that only grow: an open fence, an open table, the end of a huge block; when to use it is `blocks`'.

Linear: a complete line is drawn once, of the line being written only the last row is drawn again.
"""

from textual.strip import Strip

from shipchat.tui.markdown.block import OpenLines
from shipchat.tui.markdown.code import head_row, language_of, line_row
from shipchat.tui.markdown.wrap import Row, Span, padded, row_starts, wrap
from shipchat.tui.palette import Ground, Look


class OpenRows:
    """The rows of one run of open lines at one width. Feed it each new state of the run with `update`."""

    def __init__(self, run: OpenLines, width: int, look: Look) -> None:
        self._start = run.start
        self._fence = run.fence
        self._width = max(1, width)
        self._look = look
        self._drawn = 0  # complete lines drawn
        self._complete: list[Strip] = []  # their rows, and before them a fence's head
        self._written = ""  # the line being written, as far as its rows below are drawn
        self._kept: list[Strip] = []  # its rows that can't change any more
        self._kept_end = 0  # ... and the character after them
        if self._fence is not None:
            self._complete.append(self._strip(head_row(language_of(self._fence), self._width, look)))

    def shows(self, run: OpenLines, width: int, look: Look) -> bool:
        """Tell whether `run` is a later state of what is drawn here, at the same width and look."""
        return (run.start, run.fence, max(1, width), look) == (
            self._start,
            self._fence,
            self._width,
            self._look,
        )

    def update(self, run: OpenLines) -> list[Strip]:
        """Draw what `run` has more than before, and return all its rows. The list is only valid until the next call."""
        if len(run.lines) > self._drawn or not run.partial.startswith(self._written):
            self._written, self._kept, self._kept_end = "", [], 0
        for line in run.lines[self._drawn :]:
            self._complete.extend(self._rows(line))
        self._drawn = len(run.lines)
        tail: list[Strip] = []
        if run.partial:
            tail = self._partial_rows(run.partial)
        if self._fence is not None and not self._look.palette.plain:
            tail.append(self._strip([]))
        return [*self._complete, *self._kept, *tail]

    def _partial_rows(self, text: str) -> list[Strip]:
        self._written = text
        if self._fence is not None:
            return self._rows(text)
        rest = text[self._kept_end :]
        rows = row_starts(rest, self._width)
        if len(rows) > 1:
            self._kept.extend(self._rows(rest[: rows[-2][1]]))
            self._kept_end += rows[-1][0]
        return self._rows(rest[rows[-1][0] :])

    def _rows(self, line: str) -> list[Strip]:
        if self._fence is not None:
            return [self._strip(line_row(((line, "text", False),), self._width, self._look))]
        return [self._strip(row) for row in wrap([Span(line, self._look.palette.style())], self._width)]

    def _strip(self, row: Row) -> Strip:
        ground: Ground = "background" if self._fence is None else "code"
        return Strip(padded(row, self._width, self._look.palette.style("text", ground)), self._width)
