"""Providers by name: made once, lazily, closed together."""

import subprocess
import sys
from pathlib import Path

import pytest

from shipchat.core.errors import ConfigInvalid, ModelMissing
from shipchat.core.models import ModelRef, parse_model
from shipchat.providers.local import LocalProvider
from shipchat.providers.registry import ProviderSettings, Registry, factories_from
from shipchat.testing.scripted import ScriptedProvider


def test_a_provider_is_made_once_and_closed_with_the_registry(tmp_path: Path) -> None:
    made: list[ScriptedProvider] = []

    def factory() -> ScriptedProvider:
        made.append(ScriptedProvider(["hi"]))
        return made[-1]

    registry = Registry(ProviderSettings(models_directory=tmp_path, extra={"scripted": factory}))
    assert made == []
    first = registry.provider_for(ModelRef("scripted", "a"))
    assert first is registry.provider_for(ModelRef("scripted", "b"))
    assert isinstance(registry.provider_for(parse_model("local/smollm2")), LocalProvider)
    assert first is made[0]


async def test_one_that_fails_to_close_does_not_keep_the_others_open(tmp_path: Path) -> None:
    class Stuck(ScriptedProvider):
        async def close(self) -> None:
            raise RuntimeError("stuck")

    good = ScriptedProvider([])
    settings = ProviderSettings(models_directory=tmp_path, extra={"a": lambda: Stuck([]), "b": lambda: good})
    registry = Registry(settings)
    registry.provider_for(ModelRef("a", "x"))
    registry.provider_for(ModelRef("b", "x"))
    with pytest.raises(RuntimeError, match="stuck"):
        await registry.close_all()
    assert good.closed
    await registry.close_all()  # nothing is left to close


def test_an_unknown_provider_is_named_with_those_there_are(tmp_path: Path) -> None:
    registry = Registry(ProviderSettings(models_directory=tmp_path))
    with pytest.raises(ModelMissing) as raised:
        registry.provider_for(ModelRef("nobody", "x"))
    assert "'nobody'" in str(raised.value)
    assert registry.names() == raised.value.details["providers"]
    assert "local" in raised.value.advice[0]


def test_factories_from_text() -> None:
    factories = factories_from("one=shipchat.testing.scripted:nothing, two=no.such.module:x,")
    assert list(factories) == ["one", "two"]
    for factory in factories.values():
        with pytest.raises(ConfigInvalid, match="can't be imported"):
            factory()
    assert factories_from("") == {}


@pytest.mark.parametrize("text", ["x", "a=b", "a=:c", "=a:b", "a=b:"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ConfigInvalid, match="name=module:factory"):
        factories_from(text)


def test_importing_the_registry_and_the_counter_imports_nothing_heavy() -> None:
    program = (
        "import sys, shipchat.providers.registry, shipchat.tokens.o200k;"
        "print([name for name in ('httpx2', 'msgspec', 'tiktoken', 'anthropic', 'openai') if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "[]"
