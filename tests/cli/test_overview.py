import importlib
import inspect
import re
import subprocess

import pytest

from shipchat.cli.table import COMMANDS
from shipchat.version import __version__
from tests.cli.conftest import Shell
from tests.cli.program import Program

ALL = [(row.name,) for row in COMMANDS] + [
    ("models", "list"),
    ("models", "pull"),
    ("models", "add"),
    ("models", "remove"),
    ("config", "path"),
    ("config", "show"),
]


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(program: Program, option: str) -> None:
    result = program.good(option)
    assert (result.out, result.err) == (f"shipchat {__version__}\n", "")
    assert not program.data.exists()


def test_the_overview_names_every_command_in_one_line(shell: Shell) -> None:
    help_ = shell.good("--help").out
    for row in COMMANDS:
        assert re.search(rf"^  {row.name} +{re.escape(row.about.removesuffix('.'))}$", help_, re.MULTILINE)
    assert help_.count("  shipchat send ") >= 2
    assert max(map(len, help_.splitlines())) <= 79
    assert shell.good("-h").out == help_
    assert shell.good("help").out == help_


def test_without_a_command_and_a_terminal_the_overview_is_shown(shell: Shell) -> None:
    assert shell.good().out == shell.good("--help").out


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_command_has_help_with_examples(shell: Shell, command: tuple[str, ...]) -> None:
    help_ = shell.good(*command, "--help").out
    assert f"Usage: shipchat {' '.join(command)}" in help_
    assert f"Examples:\n  shipchat {command[0]}" in help_
    assert max(map(len, help_.splitlines())) <= 79
    assert shell.good("help", *command).out == help_


def test_the_table_says_what_the_commands_say() -> None:
    for row in COMMANDS:
        module = importlib.import_module(row.module)
        function = getattr(module, row.function or row.name)
        first = inspect.cleandoc(function.__doc__ or "").partition("\n")[0]
        assert first == row.about


def test_unknown_commands_and_options_are_usage_errors_in_our_form(shell: Shell) -> None:
    result = shell.run("nope")
    assert (result.code, result.out) == (2, "")
    assert result.err == "shipchat: no such command 'nope' (usage)\nshipchat --help shows how it is used.\n"
    assert shell.run("list", "--nope", "--json").error == {
        "code": "usage",
        "message": "no such option: --nope",
        "details": {},
    }
    assert shell.run("rename", "a").err.startswith("shipchat: missing argument")
    assert shell.run("help", "nope").code == 2
    evil = shell.run("\x1b]0;t\x07")
    assert (evil.code, "\x1b" in evil.err) == (2, False)


def test_the_json_that_commands_print_is_documented(shell: Shell) -> None:
    text = shell.good("help", "json").out
    shell.good("send", "-s", "a", "one")
    shell.good("new", "b")
    shell.good("delete", "b")
    fields = set(shell.good("list", "--json").json[0])
    fields |= set(shell.good("show", "a", "--json").json)
    fields |= set(shell.good("show", "a", "--json").json["messages"][1])
    fields |= set(shell.good("send", "-s", "a", "two", "-o", "json").json)
    fields |= set(shell.good("trash", "--json").json[0])
    fields |= set(shell.good("models", "--json").json[0])
    fields |= set(shell.good("config", "path", "--json").json)
    fields |= set(shell.good("config", "show", "--json").json)
    assert {name for name in fields if not re.search(rf"\b{name}\b", text)} == set()


@pytest.mark.parametrize("words", ["sess", "shipchat show a", "shipchat send --mo"])
def test_shell_completion_answers(program: Program, words: str) -> None:
    program.good("send", "-s", "alpha-1", "one")
    env = {"_SHIPCHAT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    result = program.run(env=env)
    expected = {"sess": "", "shipchat show a": "alpha-1", "shipchat send --mo": "--mode\n--model"}[words]
    assert (result.code, result.out.strip()) == (0, expected)


def test_completion_without_a_place_for_sessions_is_empty(program: Program) -> None:
    env = {
        "_SHIPCHAT_COMPLETE": "complete_bash",
        "COMP_WORDS": "shipchat show a",
        "COMP_CWORD": "2",
        "SHIPCHAT_DATA_DIR": "relative",
    }
    assert (program.run(env=env).code, program.run(env=env).out.strip()) == (0, "")


def test_help_reaches_a_closed_pipe_quietly(program: Program) -> None:
    process = program.start("--help", stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (141, b"")
