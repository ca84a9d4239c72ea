"""Tools in a turn: run side by side, kept one by one, told to the model, and never left open."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from shipchat import (
    Agent,
    AssistantMessage,
    ContextOverflow,
    FileSessionStore,
    InMemorySessionStore,
    ModelRequest,
    ProviderUnavailable,
    ReplyFailed,
    SessionEvent,
    SessionStore,
    TextDelta,
    TextPart,
    ToolCallPart,
    ToolResult,
    Usage,
    tool,
)
from shipchat.core.events import ToolCalled
from shipchat.core.protocols import FullStore
from shipchat.sessions.tools import MAX_CALLS, shortened
from shipchat.testing.scripted import Reply, ScriptedProvider
from tests.sdk.test_chat import agent_of

UNKNOWN = ToolResult("outcome unknown (interrupted)", is_error=True)


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> Reply:
    steps = [TextDelta(text)] if text else []
    called = [
        ToolCalled(f"c{at}", name, json.dumps(arguments)) for at, (name, arguments) in enumerate(named, 1)
    ]
    return Reply((*steps, *called), stop_reason="tool_use", usage=Usage(input_tokens=10, output_tokens=1))


def weather(city: str) -> str:
    """Tell the weather."""
    return f"rain in {city}"


def broken() -> str:
    raise LookupError("no such place")


def results(message: Any) -> list[ToolResult | None]:
    return [part.result for part in message.parts if isinstance(part, ToolCallPart)]


def test_a_turn_with_tools_is_one_message_for_each_model_call(store: SessionStore) -> None:
    last = Reply(("Rain.",), usage=Usage(input_tokens=30, output_tokens=3))
    provider = ScriptedProvider(
        [calls(("weather", {"city": "Oslo"}), ("broken", {}), text="Let me see."), last]
    )
    agent = Agent(provider=provider, session_store=store, session_id="a", tools=[weather, broken])
    result = agent.run("How is Oslo?")
    assert result.output == "Rain."
    assert result.usage == Usage(input_tokens=40, output_tokens=4)
    prompt, first, second = agent.chat_session().history()
    assert isinstance(first, AssistantMessage)
    assert first.parts == (
        TextPart("Let me see."),
        ToolCallPart("c1", "weather", '{"city": "Oslo"}', ToolResult("rain in Oslo")),
        ToolCallPart("c2", "broken", "{}", ToolResult("LookupError: no such place", is_error=True)),
    )
    assert (first.status, first.stop_reason, first.parent) == ("complete", "tool_use", prompt.id)
    assert (second, second.parent) == (result.message, first.id)
    assert [event.type for event in result.events] == [
        "turn_started", "message_saved",
        "reply_started", "text_delta", "usage_updated", "tool_call_started", "tool_call_started",
        "tool_call_finished", "tool_call_finished", "message_saved",
        "reply_started", "text_delta", "usage_updated", "message_saved", "turn_completed",
    ]  # fmt: skip
    one, two = provider.requests
    assert [spec.name for spec in one.tools] == ["weather", "broken"]
    assert one.messages == (prompt,)
    assert two.messages == (prompt, first)
    assert (two.tools, two.system) == (one.tools, one.system)


def test_the_next_turn_sends_the_calls_and_results_again(store: SessionStore) -> None:
    provider = ScriptedProvider([calls(("weather", {"city": "Oslo"})), "Rain.", "Yes."])
    agent = Agent(provider=provider, session_store=store, session_id="a", tools=[weather])
    agent.run("How is Oslo?")
    agent.run("Sure?")
    assert provider.requests[2].messages == tuple(agent.chat_session().history()[:4])


def test_tools_run_side_by_side() -> None:
    together = threading.Barrier(3, timeout=10)

    def meet(name: str) -> str:
        together.wait()
        return name

    async def join(name: str) -> str:
        await asyncio.to_thread(together.wait)
        return name

    provider = [calls(("meet", {"name": "a"}), ("meet", {"name": "b"}), ("join", {"name": "c"})), "done"]
    result = agent_of(*provider, tools=[meet, join]).run("Go")
    [first] = [
        event.saved for event in result.events if event.type == "message_saved" and event.position == 2
    ]
    assert results(first) == [ToolResult("a"), ToolResult("b"), ToolResult("c")]


def test_coroutine_tools_run_on_the_callers_loop() -> None:
    loops: list[object] = []

    async def where() -> str:
        loops.append(asyncio.get_running_loop())
        return "here"

    agent = agent_of(calls(("where", {})), "one", calls(("where", {})), "two", tools=[where])

    async def main() -> object:
        await agent.arun("Go")
        return asyncio.get_running_loop()

    theirs = asyncio.run(main())
    assert loops == [theirs]
    agent.run("Go")
    assert loops[1] is not theirs


def test_a_tool_that_takes_too_long_and_one_that_says_too_much() -> None:
    never = threading.Event()

    @tool(timeout=0.05)
    def hang() -> None:
        never.wait()

    @tool(timeout=0.05)
    async def sleep() -> None:
        await asyncio.Event().wait()

    @tool(max_output=10)
    def talk() -> str:
        return "abcdefghijklmnopqrstuvwxyz"

    def fail() -> None:
        raise TimeoutError

    agent = agent_of(
        calls(("hang", {}), ("sleep", {}), ("talk", {}), ("fail", {}), ("none", {})),
        "done",
        tools=[hang, sleep, talk, fail],
    )
    agent.run("Go")
    never.set()
    late = ToolResult("nothing came back within 0.05 s; the outcome is unknown", is_error=True)
    assert results(agent.chat_session().history()[1]) == [
        late,
        late,
        ToolResult("abcdefg\n[… 16 of 26 characters left out …]\nxyz"),
        ToolResult("TimeoutError", is_error=True),
        ToolResult("there is no tool 'none'; tools: hang, sleep, talk, fail", is_error=True),
    ]


def test_only_what_is_too_long_is_shortened() -> None:
    assert shortened("x" * 10, 10) == "x" * 10
    assert shortened("", 1) == ""


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(), KeyboardInterrupt()])
def test_no_exception_of_a_tool_ends_the_program(error: BaseException) -> None:
    def leave() -> None:
        raise error

    agent = agent_of(calls(("leave", {})), "done", tools=[leave])
    assert agent.run("Go").output == "done"
    assert results(agent.chat_session().history()[1]) == [
        ToolResult(f"RuntimeError: {error!r}", is_error=True)
    ]


def test_a_model_that_never_stops_is_stopped() -> None:
    ran: list[int] = []

    def again() -> None:
        ran.append(1)

    provider = ScriptedProvider([calls(("again", {}))], repeat_last=True)
    agent = Agent(provider=provider, session_store=InMemorySessionStore(), session_id="a", tools=[again])
    with pytest.raises(ReplyFailed, match="stopped after 50 calls in one turn") as caught:
        agent.run("Go")
    assert (caught.value.code, len(provider.requests), len(ran)) == (
        "too_many_model_calls",
        MAX_CALLS,
        MAX_CALLS - 1,
    )
    history = agent.chat_session().history()
    assert (len(history), results(history[-1])) == (MAX_CALLS + 1, [UNKNOWN])


def test_an_interrupt_while_tools_run_keeps_what_is_done_and_closes_the_rest(store: SessionStore) -> None:
    never = threading.Event()

    def hang() -> None:
        never.wait()

    agent = agent_of(
        calls(("weather", {"city": "Oslo"}), ("hang", {})), "next", store=store, tools=[weather, hang]
    )
    chat = agent.chat_session()

    @chat.on_event
    def stop(event: SessionEvent) -> None:
        if event.type == "tool_call_finished":
            chat.interrupt()

    result = chat.send("Go")
    never.set()
    assert result.events[-1].type == "turn_interrupted"
    assert result.message.status == "interrupted"
    assert results(result.message) == [ToolResult("rain in Oslo"), UNKNOWN]
    assert chat.history()[-1] == result.message
    assert chat.send("Go on").output == "next"


def test_a_stream_that_breaks_off_after_a_call_runs_nothing_and_asks_nobody_again() -> None:
    ran: list[str] = []

    def note(text: str) -> None:
        ran.append(text)

    called = ToolCalled("c1", "note", '{"text": "x"}')
    agent = agent_of([called, ProviderUnavailable("gone", retryable=True)], tools=[note])
    with pytest.raises(ReplyFailed, match="gone") as caught:
        agent.run("Go")
    assert ran == []
    assert caught.value.result is not None
    assert results(caught.value.result.message) == [UNKNOWN]


def test_each_result_is_in_the_draft_before_it_is_told() -> None:
    store = InMemorySessionStore()
    kept: list[list[ToolResult | None]] = []
    gate = threading.Event()

    def slow() -> str:
        gate.wait(10)
        return "late"

    agent = agent_of(
        calls(("slow", {}), ("weather", {"city": "Oslo"})),
        "done",
        store=store,
        session_id="a",
        tools=[slow, weather],
    )
    chat = agent.chat_session()

    @chat.on_event
    def look(event: Any) -> None:
        if event.type == "tool_call_finished" and event.call.name == "weather":
            draft = store.read_turn_draft("a")
            assert draft is not None
            assert draft.reply is not None
            kept.append(results(draft.reply))
            gate.set()

    assert chat.send("Go").output == "done"
    assert kept == [[None, ToolResult("rain in Oslo")]]


CRASHING = """
import os, signal, sys, threading
from shipchat import Agent, FileSessionStore
from shipchat.core.events import ToolCalled
from shipchat.testing.scripted import ScriptedProvider

def quick() -> str:
    return "done and paid"

def hang() -> None:
    threading.Event().wait()

provider = ScriptedProvider([[ToolCalled("c1", "quick", ""), ToolCalled("c2", "hang", "")]])
agent = Agent(provider=provider, session_store=FileSessionStore(sys.argv[1]), session_id="a", tools=[quick, hang])
for event in agent.chat_session().stream("Go"):
    if event.type == "tool_call_finished":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_program_that_is_killed_while_tools_run_loses_no_result(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHING, str(tmp_path / "sessions")], check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    provider = ScriptedProvider(["Go on."])
    store: FullStore = FileSessionStore(tmp_path / "sessions")
    agent = Agent(provider=provider, session_store=store, session_id="a")
    result = agent.run("What happened?")
    assert "recovered" in [event.about for event in result.events if event.type == "notice"]
    _, cut_off, *_ = agent.chat_session().history()
    assert isinstance(cut_off, AssistantMessage)
    assert (cut_off.status, results(cut_off)) == ("interrupted", [ToolResult("done and paid"), UNKNOWN])
    assert provider.requests[0].messages[1] == cut_off


def test_results_that_fill_the_window_are_an_overflow_and_older_turns_are_left_out_first() -> None:
    sent: list[int] = []

    def flood() -> str:
        return "word " * 9_000

    def refuse(request: ModelRequest) -> Reply:
        sent.append(len(request.messages))
        return Reply((ContextOverflow("too long"),))

    provider = ScriptedProvider(
        ["long " * 200, calls(("flood", {})), refuse, refuse, refuse, refuse], window=8_000
    )
    agent = Agent(provider=provider, session_store=InMemorySessionStore(), session_id="a", tools=[flood])
    agent.run("One")
    with pytest.raises(ReplyFailed) as caught:
        agent.run("Two")
    assert caught.value.code == "context_overflow"
    assert set(sent) == {2}  # the prompt and the calls; the turn before is left out
    assert len(agent.chat_session().history()) == 5


def test_a_provider_that_says_too_long_is_asked_with_older_turns_left_out() -> None:
    seen: list[int] = []

    def answer(request: ModelRequest) -> Reply:
        seen.append(len(request.messages))
        return Reply((ContextOverflow("too long"),)) if len(seen) == 1 else Reply(("fits",), ends=True)

    agent = agent_of(answer, answer, tools=[weather])
    assert agent.run("Go").output == "fits"
    assert seen == [1, 1]
