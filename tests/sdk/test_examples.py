"""The examples of the documentation, against a scripted model and against the real local one."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from shipchat import Agent, FileSessionStore, SessionManager, SessionStore
from shipchat.sdk import AgentOptions, list_sessions, query
from shipchat.testing.scripted import ScriptedProvider, sent_text
from tests.model_fixture import local_model_dir

__all__ = ["local_model_dir"]


def test_two_turns_of_a_ticket(store: SessionStore) -> None:
    provider = ScriptedProvider(["A lock.", sent_text])
    agent = Agent(
        model="scripted/one",
        session_store=store,
        session_id="ticket-812",
        system="Be brief.",
        provider=provider,
    )
    assert agent.run("The nightly export fails with a timeout. Find out why.").output == "A lock."
    assert agent.run("What did I ask?").output == (
        "system: Be brief.\n"
        "user: The nightly export fails with a timeout. Find out why.\n"
        "assistant: A lock.\n"
        "user: What did I ask?"
    )


def test_a_chat_that_sends_and_streams(store: SessionStore) -> None:
    agent = Agent(session_store=store, provider=ScriptedProvider(["Hello.", ["It ", "is."]]))
    chat = agent.chat_session(session_id="support-42")
    reply = chat.send("Hi")
    assert (reply.output, reply.message.status, str(reply)) == ("Hello.", "complete", "Hello.")
    assert [event.message for event in chat.stream("Is it you?") if event.type == "text_delta"] == [
        "It ",
        "is.",
    ]
    assert [message.text for message in chat.history()] == ["Hi", "Hello.", "Is it you?", "It is."]


def test_a_manager_lists_forks_and_archives(store: SessionStore) -> None:
    agent = Agent(session_store=store, provider=ScriptedProvider(["one", "two", "three"]))
    agent.chat_session("ticket-811").send("First")
    agent.chat_session("ticket-812").send("Second")
    manager = SessionManager(store)
    assert [info.session_id for info in manager.list_sessions()] == ["ticket-812", "ticket-811"]
    trial = manager.fork(agent, "ticket-812", from_message=1, title="Another way")
    assert trial.send("Third").output == "three"
    assert [message.text for message in trial.history()] == ["Second", "Third", "three"]
    assert [message.text for message in manager.resume(agent, "ticket-812").history()] == ["Second", "two"]
    manager.archive("ticket-811")
    assert [info.title for info in manager.list_sessions()] == ["Another way", "Second"]
    manager.unarchive("ticket-811")
    assert len(manager.list_sessions()) == 3


async def test_options_resume_continue_and_fork(store: SessionStore) -> None:
    provider = ScriptedProvider([sent_text], repeat_last=True)

    async def ask(prompt: str, **more: object) -> tuple[str, str]:
        options = AgentOptions(session_store=store, provider=provider, system="", **more)  # type: ignore[arg-type]  # checked by the dataclass
        events = [event async for event in query(prompt=prompt, options=options)]
        assert events[0].type == "turn_started"
        assert events[-1].type == "turn_completed"
        return events[0].key, events[-1].reply.text

    first, sent = await ask("one", continue_conversation=True)  # an empty store: one is begun
    assert sent == "user: one"
    assert await ask("two", continue_conversation=True) == (
        first,
        "user: one\nassistant: user: one\nuser: two",
    )
    assert (await ask("three", resume=first))[0] == first
    fork, sent = await ask("four", resume=first, fork_session=True)
    assert fork == f"{first}-fork"
    assert sent.startswith("user: one\nassistant: user: one\nuser: two\n")
    assert sent.endswith("\nuser: four")
    assert [(info.session_id, info.message_count) for info in list_sessions(store, limit=10)] == [
        (fork, 8),
        (first, 6),
    ]
    other, sent = await ask("five", session_id="named")
    assert (other, sent) == ("named", "user: five")


SECOND_PROCESS = """
import sys
from shipchat import Agent, FileSessionStore
from shipchat.testing.scripted import ScriptedProvider, sent_text
store = FileSessionStore(sys.argv[1])
agent = Agent(provider=ScriptedProvider([sent_text]), session_store=store, session_id="ticket-812", system="")
print(agent.run("And now?").output)
"""


def test_a_second_process_sees_the_first_ones_turns_and_the_other_way_round(tmp_path: Path) -> None:
    store = FileSessionStore(tmp_path / "sessions")
    agent = Agent(provider=ScriptedProvider(["A lock."]), session_store=store, session_id="ticket-812")
    agent.run("Why?")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SECOND_PROCESS, str(tmp_path / "sessions")],
        capture_output=True,
        text=True,
        check=True,
    )
    sent = "user: Why?\nassistant: A lock.\nuser: And now?"
    assert (done.stdout, done.stderr) == (sent + "\n", "")
    assert [message.text for message in agent.chat_session().history()] == [
        "Why?",
        "A lock.",
        "And now?",
        sent,
    ]


REAL = """
import sys
from shipchat import Agent, FileSessionStore
agent = Agent(
    model="local/smollm2", session_store=FileSessionStore(sys.argv[1]), session_id="ticket-812", max_tokens=20
)
result = agent.run("Say hello.")
assert result.message.status == "complete", result
assert result.usage.output_tokens > 0
for event in agent.chat_session().stream("Say it again."):
    pass
print(event.type, len(agent.chat_session().history()), flush=True)
sys.stdin.read()
"""


def processes_with(text: str) -> list[str]:
    """Return the processes that have `text` in the environment they were started with (Linux)."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if text.encode() in place.read_bytes():
                found.append(place.parent.name)
    return found


@pytest.mark.model
def test_the_real_local_model_answers_a_script_and_leaves_no_process(
    tmp_path: Path, local_model_dir: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "models").symlink_to(local_model_dir)
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", REAL, str(tmp_path / "sessions")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "turn_completed 4\n"
        assert len(processes_with(str(tmp_path))) == 2  # the program and the model
        assert process.communicate(timeout=120) == ("", "")
    assert process.returncode == 0
    assert processes_with(str(tmp_path)) == []
