"""Markdown, as it streams in, as rows that are final: each is handed out once and never changes.

A source line is the unit: it keeps its end, is wrapped by words, and rows go out as they fill. What can't be decided
yet (an open `**`, a table) is held back. Text must have passed `safe_text` before; what rows look like is the style
sheet's.
"""

import re
from collections.abc import Callable
from typing import Final

from shipchat.inline.code_colours import CodeColours
from shipchat.inline.inline_marks import parse
from shipchat.inline.rows import Row, Wrapper
from shipchat.inline.table_rows import is_delimiter, table_rows

# A line that begins like this may become anything: it is classified when it goes on.
_UNDECIDED: Final = re.compile(r"^(?:[\s>#*+\-=_`~|\d.)]*|[\s>]*(?:[-*+]|\d+[.)]) +\[[ xX]?\]?)$")
_QUOTE: Final = re.compile(r"^ {0,3}((?:> ?)+)")
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$", re.DOTALL)
_ITEM: Final = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +)(.*)$", re.DOTALL)
_RULE: Final = re.compile(r"^ {0,3}(?:(?:-[ ]*){3,}|(?:\*[ ]*){3,}|(?:_[ ]*){3,})$")
_FENCE: Final = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")
_TASK: Final = re.compile(r"^\[([ xX])\] ")
_LONGEST_HELD: Final = 200
"""Characters after which an undecided line is taken for text."""


class MarkdownStream:
    """Turns text into rows. `width` gives the cells of a row at the moment; `margin` begins every row."""

    def __init__(self, width: Callable[[], int], *, margin: str = "") -> None:
        self._width = width
        self._margin = margin
        self._pending = ""  # of the line that is not decided, or of a line's marks that are not settled
        self._wrapper: Wrapper | None = None  # of a line of text that is decided
        self._style = ""
        self._before = ""
        self._items: list[tuple[int, int]] = []  # of open lists: column in the source, column shown
        self._fence: tuple[str, int, Row] | None = (
            None  # what closes it, its indentation, what begins its rows
        )
        self._colours = CodeColours("")
        self._table: list[str] = []
        self._gap = False  # a blank row is due before what comes next
        self._begun = False

    def feed(self, text: str) -> list[Row]:
        """Add text and return the rows that are final now."""
        rows: list[Row] = []
        first, *others = text.split("\n")
        rows += self._go_on(first)
        for line in others:
            rows += self._end_line()
            rows += self._go_on(line)
        return rows

    def end(self) -> list[Row]:
        """Return what is left; afterwards the stream is as new."""
        rows = self._end_line() if self._pending or self._wrapper is not None else []
        rows += self._end_table()
        self.__init__(self._width, margin=self._margin)  # type: ignore[misc]
        return rows

    def tail(self) -> Row:
        """Return the row that is not final yet, as far as it has come; empty when there is none."""
        if self._wrapper is not None:
            return [*self._wrapper.tail(), (self._style, self._pending)]
        if not self._pending:
            return []
        prefix = self._fence[2] if self._fence is not None else []
        return [("", self._margin), *prefix, ("", self._pending)]

    # --- a line as it grows ---

    def _go_on(self, text: str) -> list[Row]:
        if not text:
            return []
        self._pending += text
        if self._wrapper is None:
            if self._fence is not None or self._table or not self._decided():
                return []
            return [*self._begin_line(), *self._fill(final=False)]
        return self._fill(final=False)

    def _decided(self) -> bool:
        line = self._pending
        if line.lstrip(" >").startswith("|") or _FENCE.match(_unquoted(line)):
            return False  # these are looked at as whole lines
        return not _UNDECIDED.match(line) or len(line) > _LONGEST_HELD

    def _fill(self, *, final: bool) -> list[Row]:
        wrapper = self._wrapper
        if wrapper is None:
            return []
        spans, rest = parse(self._pending, final=final, style=self._style, before=self._before)
        consumed = self._pending[: len(self._pending) - len(rest)]
        self._before = consumed[-1:] or self._before
        self._pending = rest
        return wrapper.feed(spans)

    def _end_line(self) -> list[Row]:
        if self._wrapper is None:
            line = self._pending
            if self._fence is not None:
                self._pending = ""
                return self._code_line(line, self._fence)
            table = self._table_line(line)
            if table is not None:
                self._pending = ""
                return table
            ended = self._end_table()
            whole = self._whole_line(line)
            if whole is not None:
                self._pending = ""
                return ended + whole
            begun = ended + self._begin_line()
        else:
            begun = []
        rows = [*begun, *self._fill(final=True)]
        wrapper, self._wrapper = self._wrapper, None
        self._pending = ""
        return rows + (wrapper.end() if wrapper is not None else [])

    # --- what a line is ---

    def _whole_line(self, line: str) -> list[Row] | None:
        """Return the rows of a line that is no text: blank, a rule, the beginning of code; None for text."""
        inner, quote = _unquoted(line), self._quote(line)
        if not inner.strip():
            self._gap = self._begun
            return []
        fence = _FENCE.match(inner)
        if fence is not None:
            indent, mark, info = fence.groups()
            language = info.strip().split(" ")[0]
            if self._gap and not indent:
                self._items = []
            prefix = [*quote, ("", " " * (self._content_column(len(indent)) + 2))]
            self._fence = (mark, len(indent), prefix)
            self._colours = CodeColours(language.lower())
            self._gap = self._begun
            return self._out([[*prefix, ("class:muted", language)]]) if language else []
        if _RULE.match(inner):
            self._items, self._gap = [], self._begun
            rows = self._out([[*quote, ("class:muted", "─" * min(24, self._room()))]])
            self._gap = True
            return rows
        return None

    def _begin_line(self) -> list[Row]:
        """Begin a line of text; return the blank row due before it."""
        line = self._pending
        inner, quote = _unquoted(line), self._quote(line)
        self._style, self._before = "", ""
        heading, item = _HEADING.match(inner), _ITEM.match(inner)
        first = following = [*self._start(), *quote]
        if heading is not None:
            self._items, self._gap = [], self._begun
            self._style = "class:title" if len(heading.group(1)) == 1 else "class:strong"
            self._pending = heading.group(2)
        elif item is not None:
            indent, bullet, _, text = item.groups()
            shown = self._open_item(len(indent), len(bullet) + 1)
            if bullet in "-*+":
                bullet = "·" if shown else "•"
            task = _TASK.match(text)
            if task is not None:
                bullet, text = ("[x]" if task.group(1) in "xX" else "[ ]"), text[task.end() :]
            first = [*first, ("", " " * shown), ("class:muted", bullet), ("", " ")]
            following = [*following, ("", " " * (shown + len(bullet) + 1))]
            self._pending = text
        else:
            indent_cells = len(inner) - len(inner.lstrip(" "))
            if self._gap and indent_cells == 0:
                self._items = []
            column = self._content_column(indent_cells) if self._items else indent_cells
            first = following = [*first, ("", " " * column)]
            self._pending = inner.lstrip(" ")
        blank = self._due()
        self._wrapper = Wrapper(self._width(), first, following)
        return blank

    def _open_item(self, indent: int, marker: int) -> int:
        """Return the column at which an item with this indentation is shown."""
        while self._items and self._items[-1][0] >= indent:
            self._items.pop()
        shown = self._items[-1][1] if self._items else 0
        self._items.append((indent, shown + marker))
        return shown

    def _content_column(self, indent: int) -> int:
        """Return the column of what belongs to an open item and is indented so far in the source."""
        return next((shown for source, shown in reversed(self._items) if source < max(indent, 1)), 0)

    # --- code and tables ---

    def _code_line(self, line: str, fence: tuple[str, int, Row]) -> list[Row]:
        mark, indent, prefix = fence
        inner = _unquoted(line) if any("│" in text for _, text in prefix) else line
        closing = inner.strip()
        if closing and set(closing) == {mark[0]} and len(closing) >= len(mark):
            self._fence, self._gap = None, True
            return []
        own = len(inner) - len(inner.lstrip(" "))
        return self._out([[*prefix, *self._colours.line(inner[min(indent, own) :])]])

    def _table_line(self, line: str) -> list[Row] | None:
        """Take a line that may belong to a table; None when it does not."""
        inner = line.strip()
        if not inner.startswith("|"):
            return None
        if len(self._table) == 1 and not is_delimiter(inner):
            ended = self._end_table()
            self._table = [inner]
            return ended
        self._table.append(inner)
        return []

    def _end_table(self) -> list[Row]:
        lines, self._table = self._table, []
        if not lines:
            return []
        if len(lines) < 2:
            return self._out([parse(lines[0], final=True)[0]])
        self._items, self._gap = [], self._begun
        rows = self._out(table_rows(lines, self._room()))
        self._gap = True
        return rows

    # --- rows ---

    def _start(self) -> Row:
        return [("", self._margin)] if self._margin else []

    def _room(self) -> int:
        return max(self._width() - len(self._margin), 8)

    def _quote(self, line: str) -> Row:
        match = _QUOTE.match(line)
        return [("class:muted", "│ " * match.group(1).count(">"))] if match else []

    def _due(self) -> list[Row]:
        blank: list[Row] = [[]] if self._gap and self._begun else []
        self._gap, self._begun = False, True
        return blank

    def _out(self, rows: list[Row]) -> list[Row]:
        return [*self._due(), *([*self._start(), *row] for row in rows)]


def _unquoted(line: str) -> str:
    match = _QUOTE.match(line)
    return line[match.end() :] if match else line
