import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from tests.cli.program import DEADLINE, Program, Result, end, read_until
from tests.cli.test_environment import drained


def test_lines_from_a_pipe_are_sent_one_by_one(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    result = program.good("resume", "a", stdin="two\n\nthree\r\n")
    assert [text for text in program.texts("a") if "\n" not in text] == ["one", "two", "three"]
    assert result.out.endswith("user: three\n")
    assert result.err == ""


def test_the_first_failing_line_of_a_pipe_ends_it(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    program.script([{"fails": {"code": "provider_auth", "message": "no key"}}])
    result = program.run("resume", "a", stdin="two\nthree\n")
    assert (result.code, result.err) == (8, "shipchat: no key (provider_auth)\n")
    assert program.texts("a")[2:] == ["two", ""]


def test_fork_and_open_goes_on_with_the_copy(program: Program) -> None:
    program.good("send", "-s", "a", "one")
    before = program.file("a").read_bytes()
    result = program.good("fork", "a", "--key", "b", "--open", stdin="two\n")
    assert result.lines[0] == "b"
    assert program.texts("b")[2] == "two"
    assert program.file("a").read_bytes() == before


def test_nothing_is_stored_twice_over_interrupts_and_resumes(program: Program) -> None:
    program.script([{"chunks": ["begun", *["…"] * 1000], "delay": 0.02}])
    for cycle in range(3):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "shipchat",
                *(("send", "-s", "a", "x") if cycle == 0 else ("resume", "a")),
            ],
            env=program.env | {"TERM": "dumb"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        if cycle:
            wait_for(ours, b"> ")
            os.write(ours, b"more\n")
        wait_for(ours, "begun…".encode())
        process.send_signal(signal.SIGINT)
        wait_for(ours, b"interrupted, what had arrived is saved")
        if cycle:
            wait_for(ours, b"> ")
            # At the prompt it ends nothing. Python loses one that comes between the prompt and its wait for keys.
            ends = time.monotonic() + DEADLINE
            while True:
                process.send_signal(signal.SIGINT)
                if comes(ours, 1.0) or time.monotonic() > ends:
                    break
            wait_for(ours, b"> ")
            os.write(ours, b"\x04")
        drained(ours)
        os.close(ours)
        assert process.wait(DEADLINE) == (0 if cycle else 130)
    messages = program.good("show", "a", "--json").json["messages"]
    assert [(one["role"], one.get("status")) for one in messages] == [
        ("user", None),
        ("assistant", "interrupted"),
    ] * 3
    assert len({one["id"] for one in messages}) == 6


def comes(descriptor: int, seconds: float) -> bool:
    """Say whether a terminal has something to read within so many seconds."""
    return bool(select.select([descriptor], [], [], seconds)[0])


def wait_for(descriptor: int, wanted: bytes) -> None:
    """Read a terminal until `wanted` has come; the rest stays for the next call."""
    seen = b""
    ends = time.monotonic() + DEADLINE
    while wanted not in seen:
        assert comes(descriptor, max(ends - time.monotonic(), 0)), f"{wanted!r} did not come; {seen!r} did"
        byte = os.read(descriptor, 1)
        assert byte, seen
        seen += byte


def test_a_killed_reply_is_shown_marked_and_becomes_a_message_of_the_next_turn(program: Program) -> None:
    program.script([{"chunks": ["begun ", *["…"] * 1000], "delay": 0.05}])
    process = program.start("send", "-s", "a", "one")
    read_until(process, "begun ……".encode())
    while_running = until(lambda: program.good("show", "a"), lambda shown: "begun" in shown.out)
    assert f"A turn is running: pid {process.pid} on" in while_running.err
    assert program.good("show", "a", "--json").json["running"]["pid"] == process.pid
    end(process)

    stored = program.file("a").read_bytes()
    for command in (("show", "a"), ("resume", "a", "--read-only")):
        shown = program.good(*command)
        assert shown.err == ""
        assert shown.lines[-2].startswith("begun ")
        assert shown.lines[-1] == "[interrupted: the reply is not complete]"
    assert program.file("a").read_bytes() == stored
    before = program.texts("a")

    program.script([{"echo": True}])
    assert "A reply was cut off" in program.good("send", "-s", "a", "two").err
    messages = program.good("show", "a", "--json").json["messages"]
    assert [one["text"] for one in messages[:2]] == before
    assert [one.get("status") for one in messages] == [None, "interrupted", None, "complete"]


def until(look: Callable[[], Result], seen: Callable[[Result], bool]) -> Result:
    """Look again and again, until it is there."""
    ends = time.monotonic() + DEADLINE
    while time.monotonic() < ends:
        result = look()
        if seen(result):
            return result
    raise AssertionError(f"it never came: {look()}")


def test_last_and_a_name_contradict_each_other(program: Program) -> None:
    program.good("new", "a")
    assert program.run("resume", "a", "--last").code == 2
