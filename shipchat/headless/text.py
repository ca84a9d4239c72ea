"""A turn as plain text: the reply on standard output as it comes, everything else on standard error."""

import sys
from typing import Final

from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    Notice,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.messages import Failure
from shipchat.core.safe_text import safe_line, safe_text

_SIDE_NOTES: Final = (
    CompactionFinished,
    CompactionStarted,
    Notice,
    RetryScheduled,
    ToolCallFinished,
    ToolCallStarted,
)


def say(text: str) -> None:
    """Print one line on standard error."""
    print(safe_line(text), file=sys.stderr, flush=True)


def failure_lines(failure: Failure, advice: tuple[str, ...]) -> list[str]:
    """Return a turn's failure as errors are shown: what and its code, then at most two lines of advice."""
    return [f"shipchat: {failure.message} ({failure.code})", *advice[:2]]


class TextOutput:
    """Prints the reply. On a terminal control characters are made visible; a pipe gets the text exactly as it is.

    `announcement` is printed on standard error once the turn has started;
    """

    def __init__(self, announcement: str | None = None, *, key: str | None = None) -> None:
        self._announcement = announcement
        self._key = key
        self._on_terminal = sys.stdout.isatty()
        self._open_line = False

    def event(self, event: SessionEvent) -> None:
        """Print what this event has to say."""
        match event:
            case TextDelta(text=text):
                self._write(text)
            case TurnStarted() if self._announcement is not None:
                say(self._announcement)
            case TurnFailed():
                self._end_line()
                for line in failure_lines(event.failure, event.advice):
                    say(line)
            case TurnInterrupted():
                self._end_line()
                again = f"; go on: shipchat resume {self._key}" if self._key else ""
                kept = "what had arrived is saved" if self._key else "nothing of this is kept"
                say(f"shipchat: interrupted, {kept}{again}")
            case _ if isinstance(event, _SIDE_NOTES):
                self._end_line()
                say(f"shipchat: {event.message}")

    def end(self, code: int) -> None:  # noqa: ARG002 -- an Output's method
        """Finish the last line."""
        self._end_line()

    def _write(self, text: str) -> None:
        if text:
            print(safe_text(text) if self._on_terminal else text, end="", flush=True)
            self._open_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open_line:
            print(flush=True)
            self._open_line = False
