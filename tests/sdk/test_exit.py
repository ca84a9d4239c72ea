"""A program that uses the API ends as any program does: in time, quietly, with everything closed and stored."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import asyncio, sys, threading
from shipchat import Agent, FileSessionStore
from shipchat.testing.scripted import Pause, ScriptedProvider

class Closing(ScriptedProvider):
    async def close(self):
        await asyncio.to_thread(print, "closed")

provider = Closing([["one ", Pause(0.3), "two"]])
agent = Agent(provider=provider, session_store=FileSessionStore(sys.argv[1]), session_id="a")
"""


def run(code: str, place: Path) -> tuple[str, str, int]:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", HEAD + code, str(place)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout, done.stderr, done.returncode


def stored(place: Path) -> list[tuple[str, str]]:
    from shipchat import FileSessionStore
    from shipchat.sdk import get_session_messages

    messages = get_session_messages(FileSessionStore(place), "a")
    return [(message.text, getattr(message, "status", "prompt")) for message in messages]


def test_an_agent_that_was_never_used_leaves_nothing(tmp_path: Path) -> None:
    assert run("", tmp_path / "s") == ("", "", 0)
    assert not (tmp_path / "s").exists()


def test_providers_are_closed_at_the_end(tmp_path: Path) -> None:
    assert run("print(agent.run('Hi'))", tmp_path / "s") == ("one two\nclosed\n", "", 0)


def test_a_loop_of_the_users_own_makes_no_difference(tmp_path: Path) -> None:
    assert run("print(asyncio.run(agent.arun('Hi')))", tmp_path / "s") == ("one two\nclosed\n", "", 0)


def test_a_turn_in_another_thread_is_waited_for(tmp_path: Path) -> None:
    code = "threading.Thread(target=lambda: print(agent.run('Hi'))).start()\nimport time\ntime.sleep(0.1)"
    output, errors, code_ = run(code, tmp_path / "s")
    assert (sorted(output.split("\n")), errors, code_) == (["", "closed", "one two"], "", 0)
    assert stored(tmp_path / "s") == [("Hi", "prompt"), ("one two", "complete")]


def test_packets_that_nobody_reads_any_more_are_stored(tmp_path: Path) -> None:
    code = "packets = agent.chat_session().stream_packets('Hi')\nnext(packets)\npackets.close()"
    assert run(code, tmp_path / "s") == ("closed\n", "", 0)
    assert stored(tmp_path / "s") == [("Hi", "prompt"), ("one two", "complete")]


def test_an_exception_of_the_programs_own_interrupts_its_stream(tmp_path: Path) -> None:
    code = "for event in agent.chat_session().stream('Hi'):\n    if event.type == 'text_delta': raise SystemExit(5)"
    assert run(code, tmp_path / "s") == ("closed\n", "", 5)
    assert stored(tmp_path / "s") == [("Hi", "prompt"), ("one ", "interrupted")]


def test_ctrl_c_interrupts_the_turn_and_keeps_what_had_arrived(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "chat = agent.chat_session()\n"
        "kill = lambda event: event.type == 'text_delta' and os.kill(os.getpid(), signal.SIGINT)\n"
        "chat.on_event(kill)\n"
        "try: chat.send('Hi')\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    assert run(code, tmp_path / "s") == ("stopped\nclosed\n", "", 0)
    assert stored(tmp_path / "s") == [("Hi", "prompt"), ("one ", "interrupted")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_forked_child_has_a_loop_of_its_own(tmp_path: Path) -> None:
    code = (
        "import os, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)  # forking with threads: newer Pythons advise against it\n"
        "print(agent.run('Hi'), flush=True)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    fresh = Agent(provider=ScriptedProvider(['in the child']), session_store=agent.session_store, session_id='b')\n"
        "    print(fresh.run('Hi'), flush=True)\n"
        "    sys.exit(0)\n"
        "os.waitpid(child, 0)\n"
    )
    assert run(code, tmp_path / "s") == ("one two\nin the child\nclosed\n", "", 0)
