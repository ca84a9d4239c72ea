"""What the splitter keeps of a block that isn't closed yet: an open fence, and a tail too long to be parsed again and
again. When they begin and end is left to `blocks`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from shipchat.tui.markdown.block import Block


@dataclass(slots=True)
class OpenFence:
    """An open fence: its opening line, what it takes to close it, and its lines so far."""

    opening: str
    info: str
    indent: int
    closing: re.Pattern[str]
    start: int
    gap: bool
    lines: list[str] = field(default_factory=list)  # as written
    shown_lines: list[str] = field(default_factory=list)  # without the indent of the opening

    @classmethod
    def opened(cls, opening: str, markup: str, start: int, *, gap: bool) -> "OpenFence":
        """Return the fence that the line `opening`, number `start`, opens with the signs `markup`."""
        stripped = opening.lstrip(" ")
        return cls(
            opening=opening,
            info=stripped.lstrip(markup[0]).strip(),
            indent=len(opening) - len(stripped),
            closing=closing_of(markup),
            start=start,
            gap=gap,
        )

    def add(self, line: str) -> None:
        """Take a complete line."""
        self.lines.append(line)
        self.shown_lines.append(self.shown(line))

    def shown(self, line: str) -> str:
        """Return a line without the indent of the opening."""
        return line[min(self.indent, len(line) - len(line.lstrip(" "))) :]


@dataclass(slots=True)
class Overflow:
    """A tail of which only the beginning is parsed: the blocks of that, and plain lines from number `start` on."""

    shown: Sequence[Block]
    start: int
    gap: bool
    lines: list[str] = field(default_factory=list)
    partial: str = ""

    def feed(self, first: str, rest: Sequence[str]) -> None:
        """Take text that was divided into lines: the rest of the line being written, and those after it."""
        if rest:
            self.lines.append(self.partial + first)
            self.lines.extend(rest[:-1])
            self.partial = rest[-1]
        else:
            self.partial += first


def closing_of(markup: str) -> re.Pattern[str]:
    """Return what closes a fence that was opened with `markup`."""
    return re.compile(rf" {{0,3}}{re.escape(markup[0])}{{{len(markup)},}}[ \t]*\Z")
