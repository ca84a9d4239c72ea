"""What is in the scrollback stays as it is when the terminal changes its size: tmux re-wraps lines, as most do."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.program import DEADLINE, Program

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


class Tmux:
    """One window of a tmux server of its own."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def __call__(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", os.devnull, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout

    def lines(self) -> list[str]:
        """Scrollback and screen, wrapped rows joined."""
        return self("capture-pane", "-p", "-J", "-S", "-").rstrip().split("\n")

    def until(self, seen: Callable[[list[str]], bool]) -> None:
        ends = time.monotonic() + DEADLINE
        while not seen(self.lines()):
            assert time.monotonic() < ends, "\n".join(self.lines())


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    window = Tmux(tmp_path / "tmux")
    yield window
    window("kill-server")


def test_each_line_is_in_the_scrollback_once(program: Program, tmux: Tmux) -> None:
    said = [f"line {number:02d} of eighty" for number in range(1, 81)]
    program.script([{"chunks": [f"{line}\n" for line in said], "delay": 0.03}])
    env = [f"{name}={value}" for name, value in program.env.items()]
    shell = ["env", *env, sys.executable, "-m", "shipchat", "chat", "a"]
    tmux("new-session", "-d", "-x", "134", "-y", "40", *shell)
    tmux("set-option", "remain-on-exit", "on")
    tmux.until(lambda lines: any("Write a message…" in line for line in lines))
    tmux("send-keys", "go")
    tmux.until(lambda lines: any(line.startswith("▌ go") for line in lines))
    tmux("send-keys", "Enter")
    draft = ""
    for step, (columns, rows) in enumerate(((118, 40), (108, 30), (90, 20), (128, 45), (134, 40)), 1):
        tmux.until(lambda lines, seen=step * 10: any(said[seen] in line for line in lines))  # type: ignore[misc]
        tmux("resize-window", "-x", str(columns), "-y", str(rows))
        tmux("send-keys", "-l", "typed meanwhile ")
        draft += "typed meanwhile "
    tmux.until(lambda lines: any("saved   " in line and "Esc stops" not in line for line in lines))
    lines = tmux.lines()
    assert [line.strip() for line in lines if "of eighty" in line] == said
    assert [line.strip() for line in lines if "typed" in line] == [f"▌ {draft}".strip()]
    assert sum("Esc stops" in line for line in lines) == 1  # in the greeting
