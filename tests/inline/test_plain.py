"""The plain form: exact lines, no escape sequence at all; and what happens where there is no terminal."""

import re
import signal

import pytest

from tests.cli.program import Program
from tests.inline.terminal import Terminal

SLOW = {"chunks": ["begun\n", *["word\n"] * 2000], "delay": 0.02}


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("chat", "a", "--plain"), {}),
        (("chat", "a"), {"TERM": "dumb"}),
        (("chat", "a"), {"PYTHONIOENCODING": "ascii"}),
    ],
    ids=["plain", "dumb", "ascii"],
)
def test_the_output_is_exact_lines(program: Program, arguments: tuple[str, ...], env: dict[str, str]) -> None:
    program.script([{"chunks": ["**Some** ", "text\nand ", "more\x1b[2J"]}])
    with Terminal(program, arguments, env=env, columns=100, rows=30) as terminal:
        terminal.wait_for("you>")
        terminal.type("Hello\r")
        terminal.until(lambda: terminal.display.endswith("[2J\nyou>"))
        terminal.type("one\\\rtwo\r")
        terminal.until(
            lambda: terminal.display.count("and more") == 2 and terminal.display.endswith("\nyou>")
        )
        terminal.type('"""\r/etc/hosts\r  x\r"""\r')
        terminal.until(
            lambda: terminal.display.count("and more") == 3 and terminal.display.endswith("\nyou>")
        )
        terminal.type("/xyzzy\r")
        terminal.wait_for("error: there is no command /xyzzy (usage)", "/help lists them all.")
        terminal.until(lambda: terminal.display.endswith("you>"))
        terminal.type("\x04")
        assert terminal.end() == 0
        escape = "?" if "PYTHONIOENCODING" in env else "\u241b"
        reply = ["assistant: **Some** text", f"and more{escape}[2J"]
        assert terminal.lines == [
            "session: new",
            'help: /help lists commands, \\ at the end of a line or """ around lines for more than one',
            "you> Hello",
            *reply,
            "you> one\\",
            "...> two",
            *reply,
            'you> """',
            "...> /etc/hosts",
            "...>   x",
            '...> """',
            *reply,
            "you> /xyzzy",
            "error: there is no command /xyzzy (usage)",
            "/help lists them all.",
            "you>",
            "Go on: shipchat resume a --inline",
        ]
        assert not re.search(r"[\x1b\x07\x80-\x9f]", terminal.text)
    assert program.texts("a")[::2] == ["Hello", "one\ntwo", "/etc/hosts\n  x"]


def test_ctrl_c_stops_a_reply_and_clears_a_line(program: Program) -> None:
    program.script([SLOW])
    with Terminal(program, ("chat", "a", "--plain")) as terminal:
        terminal.wait_for("you>")
        terminal.type("go\r")
        terminal.wait_for("word\nword")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("note: interrupted, what had arrived is saved; /continue goes on", "\nyou>")
        terminal.type("not this")
        terminal.wait_for("you> not this")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until(lambda: terminal.display.endswith("\nyou>"))
        terminal.type("/rename\rBetter name\r")
        terminal.wait_for("Rename (empty: give up)", "note: Renamed: go", "you>")
        terminal.type("/quit\r")
        assert terminal.end() == 0
    assert len(program.texts("a")) == 2


def test_a_pipe_is_one_prompt(program: Program) -> None:
    result = program.run("chat", "a", stdin="one\ntwo\n")
    assert (result.code, result.out) == (0, "system: S\nuser: one\ntwo\n")
    assert program.texts("a")[0] == "one\ntwo"
    assert "\x1b" not in result.out + result.err


def test_nothing_to_read_or_nowhere_to_show_is_said(program: Program) -> None:
    result = program.run("chat")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("shipchat: there is nothing to send: the prompt is empty (usage)\n")
    with Terminal(program, ("chat",)) as terminal:
        theirs = terminal.process  # a terminal to read from, a pipe to write to
        terminal.wait_for("Write a message…")
        theirs.terminate()
        assert terminal.end() == 128 + signal.SIGTERM
    assert program.keys() == []


@pytest.mark.parametrize("flags", [(), ("--plain",)], ids=["redrawn", "plain"])
def test_a_signal_from_outside_ends_it_in_order(program: Program, flags: tuple[str, ...]) -> None:
    program.script([SLOW])
    with Terminal(program, ("chat", "a", *flags)) as terminal:
        terminal.wait_for("you>" if flags else "Write a message…")
        terminal.type("go")
        terminal.wait_for("go")
        terminal.type("\r")
        terminal.wait_for("word\n")
        terminal.process.terminate()
        assert terminal.end() == 128 + signal.SIGTERM
        assert terminal.lines[-1] == "Go on: shipchat resume a --inline"
    statuses = [one.get("status") for one in program.good("show", "a", "--json").json["messages"]]
    assert statuses == [None, "interrupted"]


def test_a_reply_is_stopped_before_it_began(program: Program) -> None:
    program.script([{**SLOW, "first_delay": 0.2}])
    with Terminal(program, ("chat", "a")) as terminal:
        terminal.wait_for("Write a message…")
        terminal.type("go")
        terminal.wait_for("▌ go")
        terminal.type("\r")
        terminal.type("\x1b")
        terminal.wait_for("! interrupted", "Write a message…")


def test_a_file_named_in_a_prompt_goes_with_it(program: Program) -> None:
    (program.cwd / "two words.txt").write_text("all well\n")
    program.script([{"chunks": ["ok"]}])
    with Terminal(program, ("chat", "a", "--plain"), columns=100, rows=30) as terminal:
        terminal.wait_for("you>")
        terminal.type("see @two words.txt\r")
        terminal.until(lambda: terminal.display.endswith("ok\nyou>"))
        terminal.type("\x04")
        assert terminal.end() == 0
    parts = program.good("show", "a", "--json").json["messages"][0]["parts"]
    assert [part.get("name") for part in parts] == [None, "two words.txt"]
