import pytest

from tests.cli.conftest import Shell


@pytest.fixture
def talked(shell: Shell) -> Shell:
    shell.script([{"chunks": ["R"]}])
    for prompt in ("one", "two", "three"):
        shell.good("send", "-s", "a", prompt)
    return shell


@pytest.mark.parametrize(
    ("wanted", "texts"),
    [
        ("1..2", ["one", "R"]),
        ("3..", ["two", "R", "three", "R"]),
        ("..1", ["one"]),
        ("5", ["three"]),
        ("-2", ["three", "R"]),
        ("-99", ["one", "R", "two", "R", "three", "R"]),
        ("5..99", ["three", "R"]),
    ],
)
def test_a_range_of_messages(talked: Shell, wanted: str, texts: list[str]) -> None:
    shown = talked.good("show", "a", "--messages", wanted, "--json").json
    assert [message["text"] for message in shown["messages"]] == texts
    assert shown["total_messages"] == 6


@pytest.mark.parametrize(
    ("wanted", "code"), [("7", 3), ("0", 2), ("x", 2), ("3..2", 2), ("..", 0), ("1..x", 2)]
)
def test_a_range_that_is_none(talked: Shell, wanted: str, code: int) -> None:
    assert talked.run("show", "a", "--messages", wanted).code == code


def test_text_says_who_and_when_and_what_is_not_complete(talked: Shell) -> None:
    talked.script([{"chunks": ["half"], "fails": {"code": "provider_rejected", "message": "no"}}])
    talked.run("send", "-s", "a", "four")
    lines = talked.good("show", "a", "--messages", "7..").lines
    assert lines[:2] == ["one", "a · 8 messages"]
    assert lines[3].startswith("you 7 · ")
    assert lines[4] == "four"
    assert lines[6].startswith("scripted/echo 8 · ")
    assert lines[7:] == ["half", "[failed: no (provider_rejected)]"]


def test_markdown(talked: Shell) -> None:
    assert talked.good("show", "a", "--format", "markdown", "--messages", "1..2").out == (
        "# one\n\n## 1. You\n\none\n\n## 2. scripted/echo\n\nR\n"
    )


def test_json_messages_have_the_documented_fields(talked: Shell) -> None:
    first, second = talked.good("show", "a", "-f", "json", "--messages", "1..2").json["messages"]
    assert {name: value for name, value in first.items() if name not in ("id", "at")} == {
        "position": 1,
        "parent": None,
        "role": "user",
        "text": "one",
        "parts": [{"type": "text", "text": "one"}],
    }
    assert {name: value for name, value in second.items() if name not in ("id", "at")} == {
        "position": 2,
        "parent": first["id"],
        "role": "assistant",
        "model": "scripted/echo",
        "status": "complete",
        "stop_reason": "stop",
        "usage": None,
        "failure": None,
        "text": "R",
        "parts": [{"type": "text", "text": "R"}],
    }


def test_messages_of_a_resumed_session_are_there_before_typing(talked: Shell) -> None:
    out = talked.good("resume", "a", "--read-only")
    assert "a · 6 messages" in out.out
    assert out.err == "(2 earlier messages: shipchat show a)\n"
    assert [line for line in out.lines if line in ("one", "two", "three")] == ["one", "two", "three"]
