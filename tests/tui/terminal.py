"""The installed program in a real terminal of its own: a pty whose output a terminal emulator (pyte) takes in."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import pyte

DEADLINE = 40.0
"""Seconds that anything may take on a busy machine."""

ENTER, ESCAPE, CTRL_C, CTRL_B, CTRL_N, CTRL_P, CTRL_Q = "\r", "\x1b", "\x03", "\x02", "\x0e", "\x10", "\x11"
CTRL_UP, UP, DOWN = "\x1b[1;5A", "\x1b[A", "\x1b[B"


class Terminal:
    """Runs `command` and shows what it writes in `lines`; `raw` is every byte it wrote."""

    def __init__(
        self, command: list[str], *, env: Mapping[str, str], cwd: Path, columns: int = 120, rows: int = 36
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(command[0], command, {**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"})
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.code: int | None = None

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def send(self, text: str) -> None:
        """Type."""
        os.write(self.descriptor, text.encode())

    def paste(self, text: str) -> None:
        """Paste, as a terminal with bracketed paste does."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def pump(self, seconds: float = 0.02) -> bool:
        """Take in what the program wrote; return whether it is still there."""
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            return False
        self.raw += data
        self._stream.feed(data.replace(b"\x1b[?2026h", b"").replace(b"\x1b[?2026l", b""))
        return bool(data)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until `condition` holds."""
        ends = time.monotonic() + DEADLINE
        while not condition():
            there = self.pump()
            if condition():
                return
            assert there, f"the program ended before: {what}\n{self.text}"
            assert time.monotonic() < ends, f"did not happen: {what}\n{self.text}"

    def shows(self, *texts: str) -> None:
        """Wait until all these texts are on the screen."""
        self.until(lambda: all(text in self.text for text in texts), f"shows {texts}")

    def gone(self, text: str) -> None:
        """Wait until this text is not on the screen."""
        self.until(lambda: text not in self.text, f"gone {text!r}")

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal another size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def wait(self) -> int:
        """Wait for the program's end and return its exit code (negative: the signal)."""
        ends = time.monotonic() + DEADLINE
        while self.code is None:
            self.pump()
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.code = os.waitstatus_to_exitcode(status)
            assert time.monotonic() < ends, f"the program did not end\n{self.text}"
        while self.pump(0):
            ready, _, _ = select.select([self.descriptor], [], [], 0)
            if not ready:
                break
        return self.code

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send a signal and wait for the end."""
        os.kill(self.pid, number)
        return self.wait()

    def close(self) -> None:
        """End it whatever it does."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = -9
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shipchat(*arguments: str) -> list[str]:
    """Return the command that runs the program."""
    return [sys.executable, "-m", "shipchat", *arguments]
