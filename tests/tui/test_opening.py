"""The first frame in a real terminal: what is done in it is not lost, and it waits for nothing it does not need."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.tui.terminal import CTRL_P, CTRL_Q, ENTER, Terminal, shipchat

MODULES_AT_THE_FIRST_FRAME = """
import json, sys
from shipchat.tui.app import ChatApp

async def load(app):
    with open(sys.argv[1], "w") as file:
        json.dump([*sys.modules], file)
    app.exit(return_code=7)

ChatApp._load = load
from shipchat.__main__ import main
sys.exit(main([]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program(tmp_path)
    made.script([{"chunks": ["a reply"]}])
    return made


@pytest.fixture
def window(program: Program) -> Iterator[Terminal]:
    opened = Terminal(shipchat(), env=program.env, cwd=program.cwd)
    opened.shows("Write a message")
    yield opened
    opened.close()


def test_what_is_typed_and_sent_at_once_is_sent(program: Program, window: Terminal) -> None:
    window.send(f"first prompt{ENTER}and a draft")
    window.shows("you  1", "first prompt", "a reply", "and a draft", "2 messages")
    window.send(CTRL_Q)
    assert window.wait() == 0
    (stored,) = (program.data / "sessions").glob("*.json")
    assert program.texts(stored.stem) == ["first prompt", "a reply"]


def test_no_key_is_lost_while_the_screens_change(window: Terminal) -> None:
    typed = ""
    for number in range(400):
        typed += f"{number} "
        window.send(f"{number} ")
        window.pump(0.005)
        if "sessions" in window.text:
            break
    typed += "end"
    window.send("end")
    window.shows("sessions")
    window.until(lambda: "end" in window.text, "all is typed")
    assert "0 sessions" in window.text
    editor = [line.partition("▌")[2].split("   ")[0].strip() for line in window.lines if "▌" in line]
    words = " ".join(editor).split()
    assert words == typed.split()[-len(words) :]


def test_an_action_of_the_first_frame_is_done(window: Terminal) -> None:
    window.send(CTRL_P)
    window.shows("what to do", "Search sessions")


def test_leaving_at_once_ends_well(window: Terminal) -> None:
    window.send(CTRL_Q)
    assert window.wait() == 0
    assert "Traceback" not in window.text


def test_a_place_that_can_not_be_used_is_told_of_in_a_line(program: Program) -> None:
    program.data.write_text("a file where a directory should be")
    opened = Terminal(shipchat(), env=program.env, cwd=program.cwd)
    try:
        assert opened.wait() == program.run("list").code != 0
        assert "shipchat: " in opened.text
        assert "Traceback" not in opened.text
    finally:
        opened.close()


def test_the_first_frame_needs_neither_typer_nor_what_is_behind_it(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "modules.json"
    opened = Terminal(
        [sys.executable, "-c", MODULES_AT_THE_FIRST_FRAME, str(file)], env=program.env, cwd=program.cwd
    )
    try:
        assert opened.wait() == 7, opened.text
    finally:
        opened.close()
    loaded = set(json.loads(file.read_text(encoding="utf-8")))
    assert "shipchat.tui.widgets.composer" in loaded
    assert (
        loaded
        & {
            "anthropic",
            "markdown_it",
            "openai",
            "prompt_toolkit",
            "pydantic",
            "pygments",
            "shipchat.bootstrap",
            "shipchat.commands.table",
            "shipchat.core.events",
            "shipchat.core.session",
            "shipchat.sessions.chat_session",
            "shipchat.tui.screens.chat",
            "sqlite3",
            "typer",
        }
        == set()
    )
