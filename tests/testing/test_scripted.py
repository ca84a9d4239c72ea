"""The scripted provider does exactly what its script says, in a process and through the environment."""

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest

from shipchat.core.errors import ConfigInvalid, ProviderRateLimited, ProviderRejected
from shipchat.core.events import StreamEnded, StreamEvent, TextDelta
from shipchat.core.messages import Usage
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import ModelRequest, Provider
from shipchat.providers.registry import ProviderSettings, Registry, factories_from
from shipchat.testing.scripted import Reply, ScriptedProvider, from_environment, from_file
from tests.providers.test_sending import assistant, user

REQUEST = ModelRequest("any", "Be brief.", (user("Hi"), assistant("Hello."), user("Bye")))


async def reply(provider: Provider) -> list[StreamEvent]:
    return [event async for event in provider.stream(REQUEST)]


async def test_texts_steps_and_functions_are_answered_in_order() -> None:
    usage = Usage(input_tokens=3)
    provider = ScriptedProvider(
        ["one", ["t", "wo"], lambda request: f"three of {request.model}", Reply(("x",), "length", usage)]
    )
    assert await reply(provider) == [TextDelta("one"), StreamEnded("stop")]
    assert await reply(provider) == [TextDelta("t"), TextDelta("wo"), StreamEnded("stop")]
    assert await reply(provider) == [TextDelta("three of any"), StreamEnded("stop")]
    assert await reply(provider) == [TextDelta("x"), StreamEnded("length", usage)]
    with pytest.raises(ProviderRejected, match="the script has 4 replies; this is request 5"):
        await reply(provider)
    assert provider.requests == [REQUEST] * 5
    assert provider.cancelled == 0


async def test_a_gate_stops_a_reply_at_an_exact_place() -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider([["before", gate, "after"]])
    stream = aiter(provider.stream(REQUEST))
    assert await anext(stream) == TextDelta("before")
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert await waiting == TextDelta("after")
    assert [event async for event in stream] == [StreamEnded("stop")]


async def test_errors_ends_and_cancels() -> None:
    provider = ScriptedProvider(
        [
            ["half", ProviderRateLimited("slow down")],
            Reply(("half",), ends=False),
            [StreamEnded("refusal"), "no"],
            "x",
        ]
    )
    with pytest.raises(ProviderRateLimited):
        await reply(provider)
    assert await reply(provider) == [TextDelta("half")]
    assert await reply(provider) == [StreamEnded("refusal")]
    assert provider.cancelled == 0
    async with aclosing(provider.stream(REQUEST)) as stream:
        await anext(stream)
    assert provider.cancelled == 1
    await provider.close()
    assert provider.closed


async def test_a_script_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    script = {
        "replies": [
            {
                "chunks": ["a", "b"],
                "delay": 0.001,
                "first_delay": 0.001,
                "stop_reason": "length",
                "usage": {"output_tokens": 2},
            },
            {"chunks": ["c"], "fails": {"code": "provider_rate_limited", "message": "slow"}},
            {"chunks": ["d"], "ends": False},
            {"echo": True},
        ],
        "repeat_last": True,
        "window": 512,
        "log": str(log),
    }
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    monkeypatch.setenv("SHIPCHAT_TEST_SCRIPT", str(path))
    extra = factories_from("scripted=shipchat.testing.scripted:from_environment")
    registry = Registry(ProviderSettings(models_directory=tmp_path, extra=extra))
    provider = registry.provider_for(ModelRef("scripted", "any"))
    assert await reply(provider) == [
        TextDelta("a"),
        TextDelta("b"),
        StreamEnded("length", Usage(output_tokens=2)),
    ]
    with pytest.raises(ProviderRateLimited, match="slow"):
        await reply(provider)
    assert await reply(provider) == [TextDelta("d")]
    sent = "system: Be brief.\nuser: Hi\nassistant: Hello.\nuser: Bye"
    for _ in range(2):
        assert await reply(provider) == [TextDelta(sent), StreamEnded("stop")]
    assert await provider.info("any") == ModelInfo(
        ModelRef("scripted", "any"), 512, 4096, note="a script, for tests"
    )
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert lines == [{"model": "any", "sent": sent}] * 5
    await registry.close_all()


def test_a_bad_script_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "script.json"
    for content in (
        "{",
        "[]",
        "{}",
        '{"replies": [{"fails": {"code": "nonsense"}}]}',
        '{"replies": [], "x": 1}',
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigInvalid, match=r"script\.json"):
            from_file(path)
    monkeypatch.delenv("SHIPCHAT_TEST_SCRIPT", raising=False)
    with pytest.raises(ConfigInvalid, match="SHIPCHAT_TEST_SCRIPT"):
        from_environment()
