"""The terminal as prompt_toolkit writes to it, with one addition: what belongs together can be held and goes out at once."""

import sys
from typing import TextIO

from prompt_toolkit.output import Output
from prompt_toolkit.output.defaults import create_output
from prompt_toolkit.output.vt100 import Vt100_Output


class HeldOutput(Vt100_Output):
    """Between `hold` and `release` nothing reaches the terminal, so that no half-drawn state is ever seen.

    The cursor's position is never asked for: an answer that comes late, over a slow link, would be typed into
    whatever runs next.
    """

    held = False

    @property
    def responds_to_cpr(self) -> bool:
        """Never ask."""
        return False

    def hold(self) -> None:
        """Keep what is written from now on."""
        self.held = True

    def release(self, up: int = 0) -> None:
        """Write all that was kept, beginning `up` rows further up."""
        self.held = False
        if up and self._buffer:
            self._buffer.insert(0, f"\x1b[{up}A")
        self.flush()

    def flush(self) -> None:
        """Write what is buffered, unless it is to be held."""
        if not self.held:
            super().flush()

    def enable_bracketed_paste(self) -> None:
        """Ask for pastes to be marked, unless they are already."""
        if not self.held:
            super().enable_bracketed_paste()

    def disable_bracketed_paste(self) -> None:
        """Stop asking; while held this is only a step of a redraw, and a paste may come at any time."""
        if not self.held:
            super().disable_bracketed_paste()

    def set_title(self, title: str) -> None:
        """Leave the terminal's title alone."""

    def bell(self) -> None:
        """Stay silent: keys that do nothing are no reason for noise."""


def terminal_output(stdout: TextIO | None = None) -> Output:
    """Return the output for standard output: ours on terminals that speak VT100, prompt_toolkit's choice elsewhere."""
    if sys.platform == "win32":
        return create_output()
    return HeldOutput.from_pty(stdout or sys.stdout)
