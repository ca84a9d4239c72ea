"""A terminal for tests: the program behind a pty, what it wrote as bytes, as a screen (pyte) and as scrollback."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

import pyte

from tests.cli.program import DEADLINE, Program

OURS = re.compile(
    r"\x1b\[(?:\d+(?:;\d+)*)?[mABCDGHJK]"  # colours, relative moves, erasing
    r"|\x1b\[\?(?:1|7|12|25|2004)[hl]"  # cursor keys, autowrap, blinking, cursor, bracketed paste
    r"|\x1b\[0 q"  # the cursor's shape as it was
)
"""Every escape sequence that the inline front end may write."""

PASTE = ("\x1b[200~", "\x1b[201~")


@dataclass
class Terminal:
    """`python -m shipchat` with `arguments` in a terminal of `columns` and `rows`; a context manager."""

    program: Program
    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    columns: int = 80
    rows: int = 24
    raw: bytes = b""

    def __enter__(self) -> Self:
        self.screen = pyte.HistoryScreen(self.columns, self.rows, history=100_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shipchat", *self.arguments],
            env={**self.program.env, "TERM": "xterm-256color", **self.env},
            cwd=self.program.cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)

    # --- what is to be seen ---

    @property
    def text(self) -> str:
        """The raw output as text."""
        return self.raw.decode("utf-8", "replace")

    @property
    def display(self) -> str:
        """The screen, rows without trailing spaces."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def lines(self) -> list[str]:
        """Scrollback and screen, from the first line on."""
        above = [
            "".join(row[x].data for x in range(self.columns)).rstrip() for row in self.screen.history.top
        ]
        return [*above, *self.display.split("\n")]

    @property
    def foreign(self) -> list[str]:
        """Every control character that no sequence of ours explains."""
        rest = OURS.sub("", self.text)
        return re.findall(
            r"[\x00-\x07\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069].{0,12}", rest
        )

    # --- waiting and typing ---

    def until(self, seen: Callable[[], bool], what: str = "it") -> None:
        """Read what comes until `seen`."""
        ends = time.monotonic() + DEADLINE
        while not seen():
            ready, _, _ = select.select([self._ours], [], [], max(ends - time.monotonic(), 0))
            assert ready, f"{what} did not come; the screen:\n{self.display}"
            assert self._read(), f"{what} did not come before the end; the screen:\n{self.display}"

    def wait_for(self, *texts: str) -> None:
        """Wait until all of `texts` are on the screen."""
        self.until(lambda: all(text in self.display for text in texts), repr(texts))

    def wait_without(self, text: str) -> None:
        """Wait until `text` is not on the screen."""
        self.until(lambda: text not in self.display, f"a screen without {text!r}")

    def type(self, text: str) -> None:
        """Type all of it at once."""
        data = text.encode("utf-8", "surrogateescape")
        while data:
            # A pty takes 4 kB; what comes back must be read meanwhile.
            _, writable, _ = select.select([], [self._ours], [], 0.05)
            if writable:
                data = data[os.write(self._ours, data[:1024]) :]
            while select.select([self._ours], [], [], 0)[0]:
                if not self._read():
                    return

    def paste(self, text: str) -> None:
        """Paste as terminals do: line ends are carriage returns, marks around it."""
        self.type(PASTE[0] + text.replace("\n", "\r") + PASTE[1])

    def say(self, text: str) -> None:
        """Type a prompt, see it, and send it: Enter comes after the text, as from fingers."""
        self.type(text)
        self.wait_for(f"▌ {text}"[:40])
        self.type("\r")

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while self._read():
            pass
        return self.process.wait(DEADLINE)

    def _read(self) -> bool:
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)
