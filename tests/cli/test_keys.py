import os
import pty
import stat
import time
from pathlib import Path

from tests.cli.conftest import Shell
from tests.cli.program import DEADLINE, Program

KEY = "sk-CANARY-0123456789abcdef"


def test_a_key_comes_from_standard_input_and_is_shown_masked(shell: Shell) -> None:
    kept = shell.good("keys", "set", "openai", stdin=f"{KEY}\n")
    path = shell.place / "config" / "keys.toml"
    assert kept.out == ""
    assert kept.err == f"The key for openai is in {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = {row["provider"]: row for row in shell.good("keys", "list", "--json").json}
    assert rows == {
        "anthropic": {
            "provider": "anthropic",
            "key": None,
            "from": None,
            "variable": "ANTHROPIC_API_KEY",
            "url": "https://api.anthropic.com",
        },
        "openai": {
            "provider": "openai",
            "key": "…cdef",
            "from": str(path),
            "variable": "OPENAI_API_KEY",
            "url": "https://api.openai.com/v1",
        },
    }
    table = shell.good("keys", env={"ANTHROPIC_API_KEY": KEY + "-two"})
    assert "variable ANTHROPIC_API_KEY" in table.out
    assert "CANARY" not in table.out + table.err
    assert shell.good("keys", "remove", "openai").out == f"removed from {path}\n"
    assert shell.run("keys", "remove", "openai").code == 2
    assert KEY not in path.read_text()


def test_what_makes_no_sense_is_refused(shell: Shell) -> None:
    assert shell.run("keys", "set", "nobody", stdin="sk-x").code == 2
    for text in ("", "two words", "a\nb\n"):
        refused = shell.run("keys", "set", "openai", stdin=text)
        assert (refused.code, "(usage)" in refused.err) == (2, True)
    assert shell.run("keys", "set", "openai", KEY, stdin="").code == 2  # never an argument
    assert not (shell.place / "config").exists()


def test_a_key_is_asked_for_without_being_shown(program: Program) -> None:
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover -- the child
        import sys

        os.execve(sys.executable, [sys.executable, "-m", "shipchat", "keys", "set", "openai"], program.env)
    shown = b""
    ends = time.monotonic() + DEADLINE
    while b"not shown): " not in shown:
        assert time.monotonic() < ends
        shown += os.read(terminal, 1000)
    os.write(terminal, KEY.encode() + b"\n")
    while True:
        try:
            piece = os.read(terminal, 1000)
        except OSError:  # the end of a terminal on Linux
            break
        if not piece:
            break
        shown += piece
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
    assert "CANARY" not in shown.decode()
    assert KEY in Path(program.place / "config" / "keys.toml").read_text()
