"""Shows how far a download is: a bar on a terminal, a line now and then elsewhere; always on standard error."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from shipchat.core.safe_text import safe_line

BAR: Final = 30
"""Cells of the bar."""

STEP: Final = 10
"""Percent between two plain lines."""

REFRESH: Final = 0.1
"""Seconds between two paintings of the bar."""


class ProgressBar:
    """Shows the stages of one download. A context: leaving it ends the bar's line.

    `clock` gives seconds; the time left is judged by the stage's mean speed.
    """

    def __init__(self, label: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = safe_line(label)
        self._clock = clock
        self._live = sys.stderr.isatty()
        self._blocks = "█░" if "utf" in (sys.stderr.encoding or "").lower() else "#-"
        self._stage = ""
        self._began = 0.0
        self._painted = float("-inf")
        self._percent = -STEP
        self._open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_line()

    def update(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """Show that `done` of `total` bytes of a stage are through (None: not known)."""
        now = self._clock()
        if stage != self._stage:
            self._end_line()
            self._stage, self._began, self._percent, self._painted = stage, now, -STEP, float("-inf")
        if self._live:
            if now - self._painted >= REFRESH or done == total:
                self._painted = now
                self._paint(done, total, now - self._began)
        elif total:
            percent = done * 100 // total
            if percent >= self._percent + STEP:
                self._percent = percent - percent % STEP
                self._say(f"{self._label}: {stage} {percent}% ({megabytes(done)} of {megabytes(total)} MB)")
        elif self._percent < 0:
            self._percent = 0
            self._say(f"{self._label}: {stage}")

    def _paint(self, done: int, total: int | None, elapsed: float) -> None:
        text = f"{self._label}  {self._stage}"
        if total:
            share = min(done / total, 1.0)
            filled = round(share * BAR)
            text += (
                f"  {self._blocks[0] * filled}{self._blocks[1] * (BAR - filled)}"
                f"  {share:4.0%}  {megabytes(done)} of {megabytes(total)} MB"
            )
            if share < 1.0 and done and elapsed > 1.0:
                text += f"  {time_left(elapsed * (total - done) / done)} left"
        elif done:
            text += f"  {megabytes(done)} MB"
        # \r and "erase to the end of the line": nothing of a longer earlier text stays.
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        self._open = True

    def _end_line(self) -> None:
        if self._open:
            print(file=sys.stderr, flush=True)
            self._open = False

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def megabytes(count: int) -> str:
    """Return bytes in MB (a million) with one digit after the point."""
    return f"{count / 1e6:.1f}"


def time_left(seconds: float) -> str:
    """Return seconds as `0:07` or `1:02:03`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
