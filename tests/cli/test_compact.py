"""`compact` and `show --what-the-model-sees`, on real files."""

import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.cli.program import Program, end

SUMMARY = "## Goal\nexport\n\n## Progress\nhalf of it"
LONG = "reply " * 90


@pytest.fixture
def talked(shell: Shell) -> Shell:
    """A session of three turns; from now on the model writes summaries."""
    shell.script([{"chunks": [LONG]}])
    for prompt in ("one", "two", "three"):
        shell.good("send", "-s", "a", prompt)
    shell.script([{"chunks": [SUMMARY]}])
    return shell


def test_a_dry_run_shows_range_tokens_and_summary_and_changes_nothing(talked: Shell) -> None:
    before = talked.file("a").read_bytes()
    shown = talked.good("compact", "a", "--dry-run")
    assert talked.file("a").read_bytes() == before
    assert shown.lines[0].startswith("a: messages 1 to 4 would be summarised; a request has about ")
    assert "half of it" in shown.out
    value = talked.good("compact", "a", "--dry-run", "--json").json
    assert (value["key"], value["checkpoint"], value["first"], value["last"]) == ("a", None, 1, 4)
    assert value["tokens_after"] < value["tokens_before"]
    assert value["summary"].startswith("## Goal\nexport\n")


def test_compact_undo_redo_and_what_the_model_sees(talked: Shell) -> None:
    def sees() -> list[str]:
        value = talked.good("show", "a", "--what-the-model-sees", "--json").json
        return [message["parts"][0]["text"][:17] for message in value["messages"]]

    full = sees()
    assert len(full) == 6
    done = talked.good("compact", "a", "--instructions", "Keep hosts.", "--json").json
    assert (done["instructions"], done["last"]) == ("Keep hosts.", 4)
    assert sees() == ["<session-summary>", LONG[:17]]
    text = talked.good("show", "a", "--what-the-model-sees").out
    assert "half of it" in text
    assert "\nsystem\nS\n" in text
    assert talked.texts("a") == ["one", LONG, "two", LONG, "three", LONG]  # all of it stays readable
    talked.good("send", "-s", "a", "four")
    undone = talked.good("compact", "a", "--undo", "--json").json
    assert undone == {"key": "a", "checkpoint": done["checkpoint"], "undone": True, "starts_at": 1}
    assert len(sees()) == 8
    assert talked.good("compact", "a", "--redo", "--json").json["starts_at"] == 5
    assert sees()[0] == "<session-summary>"
    again = talked.run("compact", "a", "--redo", "--json")
    assert (again.code, again.error["code"]) == (2, "usage")


def test_up_to_a_message_and_wrong_ones(talked: Shell) -> None:
    assert talked.good("compact", "a", "--up-to", "2", "--json").json["last"] == 2
    for wrong in ("0", "7", "x"):
        result = talked.run("compact", "a", "--up-to", wrong, "--json")
        assert (result.code, result.error["code"]) == (3, "message_not_found")
    assert talked.run("compact", "a", "--up-to", "1").code == 2
    assert talked.run("compact", "a", "--undo", "--dry-run").code == 2
    assert talked.run("compact", "b").code == 3


def test_the_summary_can_be_edited_before_it_applies(talked: Shell, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/half/all/" "$1"\n', encoding="utf-8")
    editor.chmod(0o700)
    env = {"EDITOR": str(editor), "VISUAL": None}
    assert "all of it" in talked.good("compact", "a", "--edit", "--json", env=env).json["summary"]
    before = talked.file("a").read_bytes()
    talked.good("send", "-s", "a", "more")
    before = talked.file("a").read_bytes()
    for bad in ("false", "/nowhere/editor", ""):
        assert talked.run("compact", "a", "--edit", env={"EDITOR": bad, "VISUAL": None}).code == 2
    assert talked.file("a").read_bytes() == before


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ({"chunks": [" "]}, 7),
        ({"chunks": [], "fails": {"code": "provider_auth", "message": "no"}}, 8),
        ({"chunks": [], "fails": {"code": "provider_rate_limited", "message": "no"}}, 7),
        ({"chunks": [SUMMARY], "ends": False}, 7),
    ],
)
def test_a_summariser_that_fails_changes_nothing(talked: Shell, reply: dict[str, object], code: int) -> None:
    talked.script([reply])
    before = talked.file("a").read_bytes()
    result = talked.run("compact", "a", "--json")
    assert (result.code, result.out) == (code, "")
    assert talked.file("a").read_bytes() == before


def test_ctrl_c_leaves_the_file_byte_identical(program: Program) -> None:
    program.script([{"chunks": [LONG]}])
    for prompt in ("one", "two"):
        program.good("send", "-s", "a", prompt)
    program.script([{"chunks": ["## Goal\n"] * 1000, "delay": 0.05}], log=str(program.place / "log"))
    before = program.file("a").read_bytes()
    process = program.start("compact", "a")
    assert process.stderr is not None
    assert process.stderr.readline() == b"shipchat: summarising\n"
    result = end(process, signal.SIGINT)
    assert result.code == 130
    assert "Traceback" not in result.err
    assert program.file("a").read_bytes() == before
    program.script([{"echo": True}])
    program.good("send", "-s", "a", "go on")


def test_a_session_compacts_by_itself_between_programs(program: Program) -> None:
    """Each turn is a program of its own; nothing but the file carries over."""
    program.script([{"chunks": [LONG]}], window=1000, max_output=200)
    for n in range(6):
        program.good("send", "-s", "a", f"prompt {n}")
    program.script([{"chunks": [SUMMARY + "\n"]}], window=1000, max_output=200)
    result = program.good("send", "-s", "a", "now", "--output", "events")
    assert '"compaction_finished"' in result.out
    sees = program.good("show", "a", "--what-the-model-sees", "--json").json
    assert sees["starts_at"] > 1
    assert len(program.texts("a")) == 14


def test_the_config_says_when_and_how(talked: Shell) -> None:
    prompt = talked.place / "config" / "summary.txt"
    prompt.parent.mkdir(exist_ok=True)
    env = {
        "SHIPCHAT_COMPACTION_PROMPT_FILE": "summary.txt",
        "SHIPCHAT_COMPACTION_INSTRUCTIONS": "Keep hosts.",
    }
    missing = talked.run("compact", "a", "--json", env=env)
    assert (missing.code, missing.error["code"]) == (2, "config_invalid")
    log = talked.place / "log"
    talked.script([{"chunks": [SUMMARY]}], log=str(log))
    prompt.write_text("My own way, {words} words:\n{headings}", encoding="utf-8")
    talked.good("compact", "a", env=env)
    asked = log.read_text(encoding="utf-8")
    assert "My own way, " in asked
    assert "## Critical context" in asked
    assert "Keep hosts." in asked


def test_off_fails_before_the_call_with_its_own_exit_code(shell: Shell) -> None:
    log = shell.place / "log"
    shell.script([{"chunks": [LONG]}], window=1000, max_output=200, log=str(log))
    env = {"SHIPCHAT_COMPACTION_MODE": "off"}
    n, result = 0, shell.good("send", "-s", "a", "prompt 0", env=env)
    while result.code == 0 and n < 20:
        n += 1
        result = shell.run("send", "-s", "a", f"prompt {n}", env=env)
    assert result.code == 9
    assert "(context_overflow)" in result.err
    assert len(log.read_text(encoding="utf-8").splitlines()) == n
    shell.script([{"chunks": [LONG]}], window=1000, max_output=200)
    again = shell.good("send", "-s", "a", "more", env=env | {"SHIPCHAT_OVERFLOW": "drop-oldest"})
    assert "the model sees from message" in again.err
