"""The local provider: with the real model, and with a stand-in worker whose bytes a test chooses."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from shipchat.core.errors import ContextOverflow, ModelMissing, ProviderUnavailable
from shipchat.core.events import StreamEnded, StreamEvent, TextDelta
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import ModelRequest, Provider
from shipchat.providers import local_server
from shipchat.providers.local import NOTE, LocalProvider
from shipchat.providers.local_models import LocalModels
from shipchat.providers.local_server import LocalServer, ServerSettings
from tests.providers.test_local_chat import REPLY
from tests.providers.test_sending import user

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="unix sockets and signals")
ROOT = Path(__file__).parents[2]
DEADLINE = 60.0


def ask(text: str, *, model: str = "smollm2", max_tokens: int | None = 16) -> ModelRequest:
    return ModelRequest(model, "You are brief.", (user(text),), max_tokens=max_tokens)


async def reply(provider: Provider, request: ModelRequest) -> list[StreamEvent]:
    async with asyncio.timeout(DEADLINE):
        return [event async for event in provider.stream(request)]


def text(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def server_of(provider: LocalProvider, model: str = "smollm2") -> LocalServer:
    return provider._starts[model].result()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 -- other processes set no events of ours
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):  # a zombie waits for a parent that may be slow to reap
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    return True


@pytest.fixture
async def provider(local_model_dir: Path, tmp_path: Path) -> AsyncIterator[LocalProvider]:
    provider = LocalProvider(LocalModels(local_model_dir), context=2048)
    yield provider
    await provider.close()


@pytest.mark.model
async def test_a_reply_streams_and_ends_by_the_servers_word(provider: LocalProvider) -> None:
    events = await reply(provider, ask("Say hello."))
    assert len(events) > 3
    assert all(isinstance(event, TextDelta) for event in events[:-1])
    assert text(events).strip()
    ended = events[-1]
    assert isinstance(ended, StreamEnded)
    assert ended.stop_reason in ("stop", "length")
    assert ended.usage is not None
    assert ended.usage.input_tokens > 10
    assert 0 < ended.usage.output_tokens <= 16
    # The same server, and its prefix cache, serve the next request.
    pid = server_of(provider).pid
    again = (await reply(provider, ask("Say hello.")))[-1]
    assert isinstance(again, StreamEnded)
    assert again.usage is not None
    assert again.usage.cache_read_tokens > 10
    assert server_of(provider).pid == pid
    assert await provider.info("smollm2") == ModelInfo(
        ModelRef("local", "smollm2"), 2048, 1024, NOTE, tokens_per_o200k=1.15
    )


@pytest.mark.model
async def test_closing_a_reply_frees_the_server_at_once(provider: LocalProvider) -> None:
    async with aclosing(provider.stream(ask("Count from 1 to 1000.", max_tokens=1024))) as stream:
        async for _ in stream:
            break
    begun = time.monotonic()
    await reply(provider, ask("Count from 1 to 1000.", max_tokens=1))
    # Left alone it would have counted on for half a minute.
    assert time.monotonic() - begun < 5


@pytest.mark.model
async def test_closing_while_a_long_prompt_is_read_frees_it_too(provider: LocalProvider) -> None:
    prompt = " ".join(f"word{number}" for number in range(450))
    stream = provider.stream(ask(prompt))
    first = asyncio.ensure_future(anext(stream))
    await until(lambda: "smollm2" in provider._starts and provider._starts["smollm2"].done())
    await asyncio.wait({first}, timeout=0.5)  # long enough for it to be in the midst of reading
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    await stream.aclose()
    begun = time.monotonic()
    await reply(provider, ask("Hi", max_tokens=1))
    # One batch is 64 tokens; the whole prompt would have taken 10 s and more.
    assert time.monotonic() - begun < 5


@pytest.mark.model
async def test_a_prompt_beyond_the_window_is_an_overflow(provider: LocalProvider) -> None:
    with pytest.raises(ContextOverflow, match=r"more than the local model's window of 2048"):
        await reply(provider, ask("hello world " * 2000))
    assert text(await reply(provider, ask("Hi")))


@pytest.mark.model
async def test_a_killed_worker_is_told_and_the_next_request_starts_another(provider: LocalProvider) -> None:
    stream = aiter(provider.stream(ask("Count from 1 to 1000.", max_tokens=1024)))
    await anext(stream)
    pid = server_of(provider).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ProviderUnavailable, match=r"process has ended \(killed by signal 9"):
        async for _ in stream:
            pass
    assert text(await reply(provider, ask("Hi")))
    assert server_of(provider).pid != pid


@pytest.mark.model
async def test_the_socket_is_private_and_goes_with_the_server(local_model_dir: Path) -> None:
    provider = LocalProvider(LocalModels(local_model_dir), context=512)
    await provider.warm("smollm2")
    server = server_of(provider)
    directory, pid = server._directory, server.pid
    assert directory is not None
    assert pid is not None
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in directory.iterdir()] == [
        ("s.sock", 0o700)
    ]
    await provider.close()
    assert not directory.exists()
    assert not alive(pid)
    with pytest.raises(ProviderUnavailable, match="closed"):
        await reply(provider, ask("Hi"))


@pytest.mark.model
async def test_over_tcp_strangers_are_refused(local_model_dir: Path) -> None:
    server = LocalServer(
        ServerSettings(LocalModels(local_model_dir).find("smollm2").path, 512, over_tcp=True)
    )
    await server.start()
    try:
        assert server.client.base_url.host == "127.0.0.1"
        body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        key = server.client.headers.pop("authorization")
        refused = await server.client.post("/v1/chat/completions", json=body)
        assert refused.status_code == 401
        answered = await server.client.post("/v1/chat/completions", json=body, headers={"authorization": key})
        assert answered.status_code == 200
    finally:
        await server.stop()


@pytest.mark.model
async def test_the_worker_ends_with_its_parent_however_that_ends(
    local_model_dir: Path, tmp_path: Path
) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from shipchat.providers.local_models import LocalModels\n"
        "from shipchat.providers.local_server import LocalServer, ServerSettings\n"
        "async def main():\n"
        "    path = LocalModels(Path(sys.argv[1])).find('smollm2').path\n"
        "    server = LocalServer(ServerSettings(path, 512, Path(sys.argv[2])))\n"
        "    await server.start()\n"
        "    print(server.pid, flush=True)\n"
        "    sys.stdin.read()\n"
        "asyncio.run(main())\n"
    )
    runtime = tmp_path if len(str(tmp_path)) < 70 else None
    with subprocess.Popen(  # noqa: ASYNC220 -- starting it takes a millisecond
        [sys.executable, "-c", program, str(local_model_dir), str(runtime or "/tmp")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(await asyncio.to_thread(parent.stdout.readline))
        assert alive(pid)
        parent.kill()
        parent.wait()
    await until(lambda: not alive(pid))
    if runtime is not None:
        assert list(runtime.iterdir()) == []


@pytest.mark.model
async def test_one_start_serves_all_who_wait_and_outlives_who_gives_up(provider: LocalProvider) -> None:
    impatient = asyncio.ensure_future(provider.warm("smollm2"))
    patient = asyncio.ensure_future(reply(provider, ask("Hi", max_tokens=1)))
    await until(lambda: "smollm2" in provider._starts)
    impatient.cancel()
    assert len(await patient) >= 1
    assert impatient.cancelled()


@pytest.mark.model
async def test_a_start_that_is_called_off_leaves_no_process(local_model_dir: Path) -> None:
    server = LocalServer(ServerSettings(LocalModels(local_model_dir).find("smollm2").path, 512))
    start = asyncio.ensure_future(server.start())
    await until(lambda: server.pid is not None)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert server.pid is not None
    assert not alive(server.pid)
    assert server._directory is not None
    assert not server._directory.exists()


@pytest.mark.model
async def test_closing_the_provider_ends_a_start(local_model_dir: Path) -> None:
    provider = LocalProvider(LocalModels(local_model_dir), context=512)
    waiting = asyncio.ensure_future(provider.warm("smollm2"))
    await until(lambda: "smollm2" in provider._starts)
    await provider.close()
    with pytest.raises(ProviderUnavailable, match="stopped while it started"):
        await waiting


async def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    provider = LocalProvider(LocalModels(tmp_path))
    with pytest.raises(ModelMissing, match="has not been fetched"):
        await reply(provider, ask("Hi"))
    with pytest.raises(ModelMissing, match="has not been fetched"):
        await provider.info("smollm2")
    with pytest.raises(ModelMissing, match="there is no model local/nothing"):
        await provider.info("nothing")
    await provider.close()


async def test_without_the_extra_the_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "find_spec", lambda _: None)
    provider = stand_in(tmp_path, monkeypatch, {"reply": ""})
    with pytest.raises(ModelMissing, match=r"pip install 'shipchat\[local\]'"):
        await reply(provider, ask("Hi", model="raw"))
    with pytest.raises(ModelMissing, match=r"pip install 'shipchat\[local\]'"):
        await provider.info("raw")
    await provider.close()


async def test_a_damaged_model_file_does_not_start(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + b"junk" * 100)
    models = LocalModels(tmp_path / "models")
    models.add_file(path, "bad")
    provider = LocalProvider(models)
    for _ in range(2):  # a start that failed is tried again, not remembered
        with pytest.raises(ProviderUnavailable, match="did not start: Failed to init") as raised:
            await reply(provider, ask("Hi", model="bad"))
        assert "shipchat models remove" in raised.value.advice[0]
    await provider.close()


# --- A stand-in worker: any bytes at all ---


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: dict[str, Any]) -> LocalProvider:
    model = tmp_path / "raw.gguf"
    model.write_bytes(b"GGUF" + json.dumps(script).encode())
    monkeypatch.setattr(local_server, "_WORKER", Path(__file__).with_name("raw_worker.py"))
    models = LocalModels(tmp_path / "models")
    models.add_file(model, "raw")
    return LocalProvider(models)


@pytest.fixture
def with_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_server, "find_spec", lambda _: object())


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_connection_cut_at_any_byte_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_spec: None, chunked: bool
) -> None:
    monkeypatch.setattr(local_server, "DEATH_SECONDS", 0.0)  # this worker lives on
    provider = stand_in(tmp_path, monkeypatch, {"reply": REPLY.decode(), "chunked": chunked})
    seen: list[StreamEvent] = []
    for _ in range(len(REPLY)):
        events: list[StreamEvent] = []

        async def collect(events: list[StreamEvent] = events) -> None:
            async for event in provider.stream(ask("Hi", model="raw")):
                events.append(event)  # noqa: PERF401 -- what came before the failure is looked at

        with pytest.raises(ProviderUnavailable, match=r"^the stream broke off: "):
            await collect()
        assert events[: len(seen)] == seen  # what had arrived is handed on before the failure
        seen = events
    assert len(seen) == 3
    whole = await reply(provider, ask("Hi", model="raw"))
    assert isinstance(whole[-1], StreamEnded)
    await provider.close()


async def test_a_worker_that_dies_leaves_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_spec: None
) -> None:
    provider = stand_in(tmp_path, monkeypatch, {"reply": REPLY.decode(), "die": True})
    # It dies at its first connection, the question for its window, and again at the request.
    with pytest.raises(ProviderUnavailable, match=r"process has ended \(ended with code 9: a cry for help\)"):
        await reply(provider, ask("Hi", model="raw"))
    await provider.close()


@pytest.mark.parametrize(
    ("script", "words"), [({"error": "no such luck"}, "no such luck"), ({"mute": True}, "last words")]
)
async def test_a_worker_that_does_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_spec: None, script: dict[str, Any], words: str
) -> None:
    provider = stand_in(tmp_path, monkeypatch, script)
    with pytest.raises(ProviderUnavailable, match=f"did not start: {words}"):
        await reply(provider, ask("Hi", model="raw"))
    await provider.close()


async def test_a_long_runtime_directory_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_spec: None
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    provider = stand_in(tmp_path, monkeypatch, {"reply": REPLY.decode()})
    provider._runtime_directory = long
    await provider.warm("raw")
    directory = server_of(provider, "raw")._directory
    assert directory is not None
    assert long not in directory.parents
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(str(directory / "s.sock"))
    await provider.close()
