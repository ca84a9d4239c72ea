import json
import os
import re
import signal
import subprocess
import time

import pytest

from tests.cli.conftest import Shell
from tests.cli.program import Program, end, read_until


@pytest.fixture
def program(shell: Shell) -> Shell:
    """In this process wherever a test starts no process and pipes nothing in."""
    return shell


ECHO = "system: S\nuser: "


def test_without_a_session_a_new_one_is_made_and_told(program: Program) -> None:
    result = program.good("send", "Hello there")
    assert result.out == ECHO + "Hello there\n"
    found = re.fullmatch(r"shipchat: new session (\S+) \(go on: shipchat send -s \1 …\)\n", result.err)
    assert found is not None
    assert program.texts(found[1]) == ["Hello there", ECHO + "Hello there"]
    document = json.loads(program.file(found[1]).read_bytes())
    assert [entry["role"] for entry in document["entries"] if entry["type"] == "message"] == [
        "user",
        "assistant",
    ]


def test_a_key_is_made_on_first_use_and_gone_on_with(program: Program) -> None:
    first = program.good("send", "-s", "work", "one")
    assert first.err == "shipchat: new session work\n"
    second = program.good("send", "-s", "work", "two")
    assert second.err == ""
    assert second.out == f"system: S\nuser: one\nassistant: {ECHO}one\nuser: two\n"
    assert program.keys() == ["work"]


def test_the_beginning_of_a_key_is_not_that_session(program: Program) -> None:
    program.good("send", "-s", "workshop", "one")
    program.good("send", "-s", "work", "two")
    assert sorted(program.keys()) == ["work", "workshop"]


def test_a_title_names_a_session_to_go_on_with(program: Program) -> None:
    program.good("new", "a", "--title", "my chat")
    assert program.good("send", "-s", "my chat", "one").err == ""
    assert program.texts("a") == ["one", ECHO + "one"]
    refused = program.run("send", "-s", "no such title", "one")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("shipchat: 'no such title' can't be a session key:")
    assert program.keys() == ["a"]


def test_prompt_and_standard_input_go_together(program: Program) -> None:
    result = program.good("send", "-s", "a", "Review this", stdin="line 1\nline 2\n")
    assert program.texts("a")[0] == "Review this\n\nline 1\nline 2"
    assert result.err == "shipchat: new session a\n"


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_standard_input_alone_is_the_prompt(program: Program, arguments: tuple[str, ...]) -> None:
    program.good("send", "-s", "a", *arguments, stdin="from the pipe\n")
    assert program.texts("a")[0] == "from the pipe"


def test_standard_input_in_another_encoding_is_read(program: Program) -> None:
    program.good("send", "-s", "a", stdin="\ufeffé".encode())
    assert program.texts("a")[0] == "é"
    latin = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    program.good("send", "-s", "b", stdin=b"caf\xe9", env=latin)
    assert program.texts("b")[0] == "caf\ufffd"


@pytest.mark.parametrize("prompt", ["", " ", "\n\t", "\u00a0", "\u200b"])
def test_a_prompt_without_anything_in_it_is_refused_and_makes_nothing(program: Program, prompt: str) -> None:
    result = program.run("send", "-s", "a", prompt)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[0] == "shipchat: there is nothing to send: the prompt is empty (usage)"
    assert program.keys() == []


def test_a_silent_open_pipe_is_left_unread(program: Program) -> None:
    reading, writing = os.pipe()
    try:
        process = program.start("send", "-s", "a", "hi", stdin=reading)
        out, err = process.communicate(timeout=30)
    finally:
        os.close(reading)
        os.close(writing)
    assert (process.returncode, out.decode()) == (0, ECHO + "hi\n")
    assert "standard input stayed silent and was left unread (--stdin waits for it)" in err.decode()


def test_standard_input_is_waited_for_when_asked(program: Program) -> None:
    process = program.start("send", "-s", "a", "Sum up", "--stdin", stdin=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.5)  # far longer than the half second after which a silent pipe is left alone
    out, _ = process.communicate(b"late", timeout=30)
    assert out.decode() == ECHO + "Sum up\n\nlate\n"


def test_json_is_one_document(program: Program) -> None:
    program.script([{"chunks": ["Hel", "lo"], "usage": {"input_tokens": 3, "output_tokens": 2}}])
    result = program.good("send", "-s", "a", "hi", "--output", "json")
    messages = program.good("show", "a", "--json").json["messages"]
    assert result.json == {
        "key": "a",
        "model": "scripted/echo",
        "status": "complete",
        "output": "Hello",
        "message_id": messages[1]["id"],
        "position": 2,
        "stop_reason": "stop",
        "usage": {
            "input_tokens": 3,
            "output_tokens": 2,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "reasoning_tokens": 0,
        },
        "saved": True,
        "notices": [],
        "error": None,
        "exit_code": 0,
    }


def test_events_are_one_line_each_with_one_last(program: Program) -> None:
    program.script([{"chunks": ["Hel", "lo"]}])
    lines = [json.loads(line) for line in program.good("send", "-s", "a", "hi", "-o", "events").lines]
    assert [line["type"] for line in lines] == [
        "turn_started",
        "message_saved",
        "reply_started",
        "text_delta",
        "text_delta",
        "message_saved",
        "turn_completed",
    ]
    assert [line["text"] for line in lines if line["type"] == "text_delta"] == ["Hel", "lo"]
    assert all(isinstance(line["message"], str) for line in lines)
    assert lines[-1]["reply"]["text"] == "Hello"


def test_model_system_and_limit_are_taken(program: Program) -> None:
    program.good("send", "-s", "a", "one", "-m", "scripted/other", "--system", "Be short.")
    shown = program.good("show", "a", "--json").json
    assert (shown["model"], shown["system"]) == ("scripted/other", "Be short.")
    assert shown["messages"][1]["text"] == "system: Be short.\nuser: one"
    program.good("send", "-s", "a", "two")
    assert program.good("show", "a", "--json").json["messages"][3]["model"] == "scripted/other"
    refused = program.run("send", "-s", "b", "one", "-m", "gpt")
    assert (refused.code, program.keys()) == (2, ["a"])
    assert program.run("send", "-s", "b", "one", "--max-tokens", "0").code == 2


def test_a_private_turn_leaves_nothing(program: Program) -> None:
    result = program.good("send", "hi", "--no-save", "-o", "json")
    assert (result.json["output"], result.json["key"], result.json["saved"]) == (ECHO + "hi", None, False)
    assert result.err == "shipchat: a private session; nothing of this is kept\n"
    assert program.keys() == []
    assert [path for path in program.data.rglob("*") if path.is_file()] == []


def test_a_fork_knows_the_session_and_leaves_no_trace_in_it(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    before = program.file("a").read_bytes()
    result = program.good("send", "-s", "a", "--mode", "fork", "aside")
    assert result.out == f"system: S\nuser: one\nassistant: {ECHO}one\nuser: aside\n"
    assert result.err == "shipchat: a copy of a is asked; nothing of this is kept\n"
    assert program.file("a").read_bytes() == before
    assert program.keys() == ["a"]


def test_a_fork_of_an_unknown_key_runs_without_history_and_makes_nothing(program: Program) -> None:
    assert program.good("send", "-s", "nope", "--mode", "fork", "aside").out == ECHO + "aside\n"
    assert program.keys() == []
    assert program.run("send", "--mode", "fork", "aside").code == 2


def test_a_turn_elsewhere_is_named_at_once_and_a_fork_is_not_stopped_by_it(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    program.script([{"chunks": ["begun ", *["…"] * 1000], "delay": 0.1}])
    holder = program.start("send", "-s", "a", "two")
    read_until(holder, b"begun")
    program.script([{"echo": True}])
    began = time.monotonic()
    refused = program.run("send", "-s", "a", "three", "-o", "json")
    took = time.monotonic() - began
    assert (refused.code, refused.out) == (4, "")
    assert refused.error["code"] == "session_held"
    assert refused.error["details"]["holder"]["pid"] == holder.pid
    assert refused.error["details"]["holder"]["program"] == "shipchat send"
    assert took < 10  # no waiting for the turn, which takes 100 s
    assert f"held by pid {holder.pid} on" in program.run("send", "-s", "a", "three").err
    newest = program.run("resume", "--last", stdin="three\n")
    assert newest.code == 4
    assert f"held by pid {holder.pid} on" in newest.err
    assert "shipchat fork a" in newest.err
    assert program.good("list", "--running", "--json").json[0]["running"]["pid"] == holder.pid
    assert program.good("send", "-s", "a", "--mode", "fork", "aside").out.endswith("aside\n")
    end(holder)
    assert program.good("send", "-s", "a", "four").out.endswith("user: four\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_reply_and_what_had_arrived_is_kept(
    program: Program, number: int, code: int
) -> None:
    program.script([{"chunks": ["begun ", *["…"] * 1000], "delay": 0.1}])
    process = program.start("send", "-s", "a", "two")
    read_until(process, b"begun")
    for _ in range(2):
        process.send_signal(number)
    result = end(process, number)
    assert result.code == code
    assert "shipchat: interrupted, what had arrived is saved; go on: shipchat resume a\n" in result.err
    messages = program.good("show", "a", "--json").json["messages"]
    assert [(one["role"], one.get("status")) for one in messages] == [
        ("user", None),
        ("assistant", "interrupted"),
    ]
    assert messages[1]["text"].startswith("begun ")
    assert program.keys() == ["a"]
    program.script([{"echo": True}])
    assert program.good("send", "-s", "a", "three").code == 0


def test_output_that_nobody_reads_ends_it_quietly_and_the_reply_is_kept(program: Program) -> None:
    program.script([{"chunks": ["begun ", *["…"] * 1000], "delay": 0.05}])
    process = program.start("send", "-s", "a", "two")
    read_until(process, b"begun")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.decode()) == (141, "shipchat: new session a\n")
    assert program.texts("a")[1].startswith("begun ")


@pytest.mark.parametrize(
    ("fails", "code"),
    [
        ("provider_unavailable", 7),
        ("provider_rate_limited", 7),
        ("provider_rejected", 7),
        ("provider_auth", 8),
        ("context_overflow", 9),
    ],
)
def test_a_failing_model_has_an_exit_code_and_a_line(program: Program, fails: str, code: int) -> None:
    program.script([{"chunks": ["half"], "fails": {"code": fails, "message": "no luck"}}])
    result = program.run("send", "-s", "a", "hi")
    assert (result.code, result.out) == (code, "half\n")
    assert f"shipchat: no luck ({fails})" in result.err.splitlines()
    assert program.good("show", "a", "--json").json["messages"][1]["failure"] == {
        "code": fails,
        "message": "no luck",
    }
    document = program.run("send", "-s", "a", "again", "-o", "json")
    assert (document.code, document.json["exit_code"], document.json["status"]) == (code, code, "failed")
    assert document.json["error"] == {"code": fails, "message": "no luck"}
    events = program.run("send", "-s", "a", "again", "-o", "events")
    assert (events.code, json.loads(events.lines[-1])["type"]) == (code, "turn_failed")


def test_a_stream_that_merely_stops_is_a_failure(program: Program) -> None:
    program.script([{"chunks": ["half"], "ends": False}])
    result = program.run("send", "-s", "a", "hi")
    assert (result.code, result.out) == (7, "half\n")
    assert "(provider_unavailable)" in result.err


def test_a_provider_that_is_not_there_is_said(program: Program) -> None:
    result = program.run("send", "-s", "a", "hi", "-m", "nowhere/x")
    assert result.code == 8
    assert result.err.startswith("shipchat: there is no provider 'nowhere'")


def test_a_local_model_that_was_not_fetched_is_said_with_the_command(program: Program) -> None:
    result = program.run("send", "-s", "a", "hi", "-m", "local/smollm2")
    assert (result.code, result.out) == (8, "")
    assert "(model_missing)" in result.err


def test_what_a_pipe_gets_is_the_text_as_it_came(program: Program) -> None:
    program.script([{"chunks": ["a\x1b]52;c;aGk=\x07b\n"]}])
    assert program.good("send", "hi").out == "a\x1b]52;c;aGk=\x07b\n"


def test_an_archived_session_comes_back_with_a_notice(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    program.good("archive", "a")
    assert "is back in the list" in program.good("send", "-s", "a", "two").err
    assert [row["key"] for row in program.good("list", "--json").json] == ["a"]
