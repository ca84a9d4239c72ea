"""Both adapters against a real server, llama.cpp: what it sends is what we read, and hanging up frees it."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shipchat.core.errors import ContextOverflow, ProviderAuth
from shipchat.core.events import StreamEnded, TextDelta
from shipchat.core.protocols import ModelRequest
from shipchat.providers.local_models import LocalModels
from shipchat.providers.local_server import LocalServer, ServerSettings
from shipchat.providers.remote import RemoteProvider
from tests.model_fixture import local_model_dir
from tests.providers.wires import ANTHROPIC, CHAT, Wire, assistant, collect, request, text_of, user

__all__ = ["local_model_dir"]

pytestmark = pytest.mark.model


@pytest.fixture
async def server(local_model_dir: Path) -> AsyncIterator[LocalServer]:
    model = LocalModels(local_model_dir).find("smollm2")
    made = LocalServer(ServerSettings(model.path, 2048, over_tcp=True))
    await made.start()
    yield made
    await made.stop()


def asked_at(server: LocalServer, wire: Wire) -> RemoteProvider:
    url = str(server.client.base_url).rstrip("/")
    key = server.client.headers["authorization"].removeprefix("Bearer ")
    return wire.provider(url, key=lambda: key)


@pytest.mark.parametrize("wire", [ANTHROPIC, CHAT], ids=lambda wire: wire.name)
async def test_it_answers_goes_on_and_is_interrupted(server: LocalServer, wire: Wire) -> None:
    provider = asked_at(server, wire)
    talk = (user("Say hello."), assistant("Hello!"), user("Say goodbye."))
    asked = request(*talk, system="Answer in one word.", max_tokens=30)
    events, error = await collect(provider, asked)
    assert error is None
    assert text_of(events).strip()
    ended = events[-1]
    assert isinstance(ended, StreamEnded)
    assert ended.usage is not None
    assert ended.usage.input_tokens > 10
    assert ended.usage.output_tokens >= 1

    stream = provider.stream(dataclasses.replace(asked, max_tokens=1500, messages=(user("Count to 1000."),)))
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    began = time.monotonic()
    await stream.aclose()
    assert time.monotonic() - began < 0.2
    again, error = await asyncio.wait_for(collect(provider, asked), 30)
    assert error is None
    assert isinstance(again[-1], StreamEnded)

    _, error = await collect(provider, ModelRequest(model="m", system="", messages=(user("word " * 5000),)))
    assert isinstance(error, ContextOverflow)
    listed = await provider.models()
    assert len(listed) == 1
    if wire is ANTHROPIC:
        assert await provider.count_tokens(asked) == ended.usage.input_tokens
    if wire is CHAT:
        assert (await provider.info(listed[0].name)).window == server.window
    await provider.close()
    stranger = wire.provider(str(server.client.base_url).rstrip("/"), key=lambda: "wrong")
    _, error = await collect(stranger, asked)
    await stranger.close()
    assert isinstance(error, ProviderAuth)
