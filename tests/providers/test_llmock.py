"""The adapters against a second opinion of all three protocols: llmock, a mock server written by others.

It runs as a process of its own. Faults that it can't tell are in test_contract.py.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from shipchat.core.errors import ProviderRateLimited, ProviderUnavailable, ShipchatError
from shipchat.core.events import StreamEnded, ToolCalled
from shipchat.core.protocols import ToolSpec
from tests.providers.wires import ANTHROPIC, CHAT, RESPONSES, Wire, collect, ended, request, text_of, user

pytestmark = pytest.mark.skipif(find_spec("llmock") is None, reason="needs llmock: pip install -e '.[dev]'")

PLACES = {ANTHROPIC.name: "/anthropic", RESPONSES.name: "", CHAT.name: ""}

Mock = Callable[..., str]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    """Return a function that sets what the server does next and returns its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    log = Path(tmp_path_factory.mktemp("llmock") / "log")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "llmock.cli", "serve", "--port", str(port)],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=dict(os.environ),
        )

    def post(path: str, value: object) -> None:
        asked = urllib.request.Request(
            url + path, json.dumps(value).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:
            answer.read()

    def behave(*behaviors: dict[str, Any]) -> str:
        post("/_llmock/reset", {})
        if behaviors:
            post("/_llmock/scenario", {"behaviors": list(behaviors)})
        return url

    deadline = time.monotonic() + 60
    while True:
        try:
            behave()
            break
        except (urllib.error.URLError, ConnectionError):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
    yield behave
    process.terminate()
    process.wait(30)


@pytest.fixture(params=[ANTHROPIC, RESPONSES, CHAT], ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    chosen: Wire = request.param
    return chosen


async def test_a_whole_reply(mock: Mock, wire: Wire) -> None:
    url = mock({"type": "reply", "text": "Nothing is lost."})
    provider = wire.provider(url + PLACES[wire.name])
    events, error = await collect(provider, request(user("Hello there"), system="Be brief."))
    await provider.close()
    assert error is None
    assert text_of(events) == "Nothing is lost."
    (last,) = ended(events)
    assert events[-1] is last
    assert last.usage is not None
    assert last.usage.output_tokens > 0


async def test_a_call_of_a_tool(mock: Mock, wire: Wire) -> None:
    url = mock({"type": "reply", "tool_calls": [{"name": "f", "arguments": {"a": 1}}]})
    provider = wire.provider(url + PLACES[wire.name])
    tool = ToolSpec("f", "Does it.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    events, error = await collect(provider, request(user("Do it"), tools=(tool,)))
    await provider.close()
    assert error is None
    (call,) = [one for one in events if isinstance(one, ToolCalled)]
    assert (call.name, json.loads(call.arguments)) == ("f", {"a": 1})
    assert isinstance(events[-1], StreamEnded)


@pytest.mark.parametrize(
    ("behavior", "kind", "wait"),
    [
        ({"type": "stream_fault", "kind": "truncate", "after_chunks": 3}, ProviderUnavailable, None),
        ({"type": "stream_fault", "kind": "disconnect", "after_chunks": 3}, ProviderUnavailable, None),
        ({"type": "stream_fault", "kind": "malformed", "after_chunks": 3}, ProviderUnavailable, None),
        ({"type": "fail", "status": 429, "retry_after": 2}, ProviderRateLimited, 2.0),
        ({"type": "fail", "status": 529, "retry_after": 2}, ProviderUnavailable, 2.0),
    ],
    ids=["truncate", "disconnect", "malformed", "429", "529"],
)
async def test_faults(
    mock: Mock, wire: Wire, behavior: dict[str, Any], kind: type[ShipchatError], wait: float | None
) -> None:
    provider = wire.provider(mock(behavior) + PLACES[wire.name])
    events, error = await collect(provider, request(user("Hello there")))
    await provider.close()
    assert type(error) is kind
    assert isinstance(error, ProviderRateLimited | ProviderUnavailable)
    assert error.retryable
    assert error.retry_after == wait
    assert ended(events) == []


async def test_a_stall_is_given_up(mock: Mock, wire: Wire) -> None:
    url = mock({"type": "stream_fault", "kind": "stall", "after_chunks": 3, "stall_seconds": 10})
    provider = wire.provider(url + PLACES[wire.name], stall=0.3)
    events, error = await collect(provider, request(user("Hello there")))
    await provider.close()
    assert isinstance(error, ProviderUnavailable)
    assert "sent nothing for 0.3 s" in str(error)
    assert ended(events) == []
