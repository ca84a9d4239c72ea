"""The installed program in a real terminal: a first day, two windows, kills and signals, and nothing foreign in between."""

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.model_fixture import local_model_dir
from tests.tui.terminal import CTRL_B, CTRL_C, CTRL_Q, CTRL_UP, ENTER, UP, Terminal, shipchat

__all__ = ["local_model_dir"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


class Windows:
    """Opens windows of the program and closes them at the end."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._opened: list[Terminal] = []

    def __call__(self, *arguments: str, columns: int = 120, rows: int = 36, **env: str) -> Terminal:
        window = Terminal(
            shipchat(*arguments),
            env={**self._program.env, **env},
            cwd=self._program.cwd,
            columns=columns,
            rows=rows,
        )
        self._opened.append(window)
        return window

    def close(self) -> None:
        for window in self._opened:
            window.close()


@pytest.fixture
def window(program: Program) -> Iterator[Windows]:
    windows = Windows(program)
    yield windows
    windows.close()


def stored(program: Program) -> list[str]:
    """The texts of all messages in all session files, in no particular order of sessions."""
    found: list[str] = []
    for path in sorted((program.data / "sessions").glob("*.json")):
        found += program.texts(path.stem)
    return found


def cursor_in_the_list(window: Terminal) -> bool:
    """Whether a cell of the sidebar has the colour of the cursor."""
    return any(window.screen.buffer[row][column].bg == "5cc8c0" for row in range(36) for column in range(30))


def test_a_first_day(program: Program, window: Windows) -> None:
    program.script([{"chunks": ["It is ", "scattered ", "light."], "delay": 0.05}])
    first = window()
    first.shows("Ask anything.", "Write a message", "0 sessions")
    first.send("Why is the sky blue?")
    first.shows("Why is the sky blue?")
    first.send(ENTER)
    first.shows("you  1", "It is scattered light.", "saved", "2 messages", "1 session")
    first.send(CTRL_Q)
    assert first.wait() == 0
    assert stored(program) == ["Why is the sky blue?", "It is scattered light."]

    second = window("resume", "-")
    second.shows("Why is the sky blue?", "It is scattered light.")
    second.send(CTRL_UP)
    second.shows("c copy")
    second.send(UP)
    second.send("f")
    second.shows("Forked at message 1", "Why is the sky blue? (fork)", "1 message", "2 sessions")
    assert len(program.keys()) == 2

    second.send(CTRL_B + "r")
    second.until(lambda: cursor_in_the_list(second), "the title can be typed")
    second.send("\x7f" * 40 + "Another sky" + ENTER)
    second.shows("Renamed", "Another sky")
    second.send("t")
    second.shows("Tags")
    second.send("blue" + ENTER)
    second.shows("Tagged", "#blue")
    second.send("a")
    second.shows("Archived", "1 session · 1 archived")
    second.send("u")
    second.shows("2 sessions")
    second.send("d")
    second.shows("Moved to the trash", "Ask anything.")
    second.send("/undo" + ENTER)
    second.shows("Undone")
    second.send(CTRL_Q)
    assert second.wait() == 0
    rows = {row["title"]: row for row in program.good("list", "--json").json}
    assert set(rows) == {"Why is the sky blue?", "Another sky"}
    assert rows["Another sky"]["tags"] == ["blue"]


def test_two_windows_show_the_same_session(program: Program, window: Windows) -> None:
    program.script([{"chunks": [f"word{n} " for n in range(20)], "delay": 0.1}])
    program.good("new", "shared", "--title", "Shared")
    one, two = window("resume", "shared"), window("resume", "shared")
    one.shows("Shared", "Write a message")
    two.shows("Shared", "Write a message")
    one.send("count" + ENTER)
    one.shows("word3")
    two.shows("count", "word5", "Replying in another window")
    two.shows("word19", "2 messages")
    two.gone("Replying in another window")
    two.send("again" + ENTER)
    two.shows("again", "4 messages")
    one.shows("again", "word19", "4 messages")
    for each in (one, two):
        each.send(CTRL_Q)
        assert each.wait() == 0
    words = "".join(f"word{n} " for n in range(20))
    assert program.texts("shared") == ["count", words, "again", words]


def test_kill_keeps_the_draft_and_the_half_reply(program: Program, window: Windows) -> None:
    program.script([{"chunks": ["first half "] + ["and more "] * 200, "delay": 0.05}])
    program.good("new", "work")
    killed = window("resume", "work")
    killed.shows("Write a message")
    killed.send("go" + ENTER)
    killed.shows("first half and more and more and more")
    killed.send("a thought for later")
    killed.shows("a thought for later")
    drafts = program.data / "sessions"
    killed.until(
        lambda: any(b"a thought for later" in path.read_bytes() for path in drafts.glob("**/*.json")),
        "the draft is on disk",
    )
    killed.until(
        lambda: any(b"first half and more" in path.read_bytes() for path in drafts.glob("**/*.json")),
        "the reply is on disk",
    )
    assert killed.kill() == -signal.SIGKILL
    program.script([{"chunks": ["a new reply"]}])
    again = window("resume", "work")
    again.shows("a thought for later", "go")
    again.send(ENTER)
    again.shows("a new reply")
    again.send(CTRL_Q)
    assert again.wait() == 0
    texts = program.texts("work")
    assert (texts[0], texts[-2], texts[-1]) == ("go", "a thought for later", "a new reply")
    assert texts[1].startswith("first half and more")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_reply_comes_saves_what_came(
    program: Program, window: Windows, number: signal.Signals
) -> None:
    program.script([{"chunks": ["half "] * 400, "delay": 0.05}])
    program.good("new", "work")
    running = window("resume", "work")
    running.shows("Write a message")
    running.send("go" + ENTER)
    running.shows("half half half")
    assert running.kill(number) == 128 + number
    assert b"\x1b[?1049l" in running.raw  # the terminal is itself again
    reply = program.good("show", "work", "--json").json["messages"][-1]
    assert reply["status"] == "interrupted"
    assert reply["text"].startswith("half half half")


def test_ctrl_c_asks_and_leaves(program: Program, window: Windows) -> None:
    running = window()
    running.shows("Write a message")
    running.send(CTRL_C)
    running.shows("Quit?")
    running.send("\t" + ENTER)
    assert running.wait() == 0


def test_a_bug_leaves_a_report_without_what_was_said(program: Program, window: Windows) -> None:
    broken = program.place / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import shipchat.tui.items as items\n"
        "def broken(*_args, **_more):\n"
        "    secret = 'sk-very-secret'\n"
        "    raise ZeroDivisionError(f'what was said: {secret}')\n"
        "items.message_time = broken\n",
        encoding="utf-8",
    )
    paths = os.pathsep.join([str(broken), program.env["PYTHONPATH"]])
    running = window(PYTHONPATH=paths)
    running.shows("Write a message")
    running.send("my private words" + ENTER)
    assert running.wait() == 1
    tail = bytes(running.raw).rpartition(b"\x1b[?1049l")[2].decode()
    assert "an unexpected ZeroDivisionError (a bug)" in tail.replace("\r\n", " ")
    assert "Traceback" not in tail
    (report,) = (program.data / "reports").iterdir()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    text = report.read_text()
    assert "ZeroDivisionError" in text
    assert "items.py" in text
    for secret in ("private words", "sk-very-secret"):
        assert secret not in text
        assert secret not in tail
    assert stored(program)[0] == "my private words"  # it was on disk before


def test_a_paste_is_one_message_whatever_is_in_it(program: Program, window: Windows) -> None:
    program.script([{"chunks": ["ok"]}])
    running = window()
    running.shows("Write a message")
    text = "\n".join(f"line {number} of a long paste" for number in range(2000))
    running.paste(text + "\x1b]0;owned\x07")
    running.shows("line 1999 of a long paste")
    running.send(ENTER)
    running.shows("2 messages", "ok")
    running.send(CTRL_Q)
    assert running.wait() == 0
    (key,) = program.keys()
    assert text in program.texts(key)[0]
    assert b"\x1b]0;owned" not in running.raw


def test_it_lives_through_any_size(program: Program, window: Windows) -> None:
    program.script([{"chunks": ["Hello **there**\n\n```python\nprint(1)\n```\n"]}])
    running = window(columns=60, rows=16)
    running.shows("Write a message")
    running.send("hi" + ENTER)
    running.shows("print(1)")
    for columns, rows in ((1, 1), (10, 3), (30, 6), (200, 60), (60, 16), (120, 36)):
        running.resize(columns, rows)
        running.send("x\x7f")
        for _ in range(10):
            running.pump()
    running.shows("Hello there", "print(1)", "Sessions")
    running.send(CTRL_Q)
    assert running.wait() == 0


def test_without_a_terminal_there_is_help(program: Program) -> None:
    result = program.good()
    assert "shipchat" in result.out
    assert "\x1b" not in result.out


@pytest.mark.model
def test_the_local_model_answers(program: Program, window: Windows, local_model_dir: Path) -> None:
    (program.data).mkdir(parents=True, exist_ok=True)
    (program.data / "models").symlink_to(local_model_dir)
    running = window(SHIPCHAT_DEFAULT_MODEL="local/smollm2", SHIPCHAT_MAX_TOKENS="40")
    running.shows("Write a message", "smollm2")
    running.send("Say hello." + ENTER)
    running.shows("assistant  2", "2 messages", "saved")
    running.until(lambda: len(stored(program)) == 2, "the reply is on disk")
    running.send(CTRL_Q)
    assert running.wait() == 0
    prompt, reply = stored(program)
    assert prompt == "Say hello."
    assert reply.strip()
    (key,) = program.keys()
    again = window("resume", key, SHIPCHAT_DEFAULT_MODEL="local/smollm2")
    again.shows("Say hello.", " ".join(reply.split()[:2]))
    again.send(CTRL_Q)
    assert again.wait() == 0
    assert json.loads(program.good("list", "--json").out)[0]["messages"] == 2
