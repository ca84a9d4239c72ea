"""Which provider answers for a name: a table of factories, each called once, when first needed.

Importing this imports no provider: a factory imports its own. How a provider works is its module's affair, and
which settings there are is `config`'s; here they are plain values, handed in.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from shipchat.core.errors import ConfigInvalid, ModelMissing
from shipchat.core.models import ModelRef
from shipchat.core.protocols import Provider

if TYPE_CHECKING:
    from shipchat.providers.server import Server

ProviderFactory: TypeAlias = Callable[[], Provider]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """What providers need to know. `models_directory` holds local models, `context` overrides their window (tokens).

    `runtime_directory` is where sockets are made, None for the system's choice. `servers` are those that are asked
    over HTTP, by name (see `servers.known_servers`). `extra` are more providers by name (an embedder's own, a
    test's); a name of ours is replaced by it.
    """

    models_directory: Path
    context: int | None = None
    runtime_directory: Path | None = None
    servers: Mapping[str, "Server"] = field(default_factory=dict)
    extra: Mapping[str, ProviderFactory] = field(default_factory=dict)


def _local(settings: ProviderSettings) -> Provider:
    from shipchat.providers.local import LocalProvider
    from shipchat.providers.local_models import LocalModels

    return LocalProvider(
        LocalModels(settings.models_directory),
        context=settings.context,
        runtime_directory=settings.runtime_directory,
    )


FACTORIES: Final[Mapping[str, Callable[[ProviderSettings], Provider]]] = {"local": _local}
"""The providers that come with shipchat, by the name before the slash."""


def provider_of(server: "Server") -> Provider:
    """Return the provider that asks `server`. Imports no SDK."""
    if server.kind == "anthropic":
        from shipchat.providers.anthropic import anthropic_provider

        return anthropic_provider(server)
    from shipchat.providers.openai import openai_provider

    return openai_provider(server)


class Registry:
    """Lends providers by name and closes them all. Not for several threads at once."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings
        self._made: dict[str, Provider] = {}

    def names(self) -> list[str]:
        """Return the names that `provider_for` knows."""
        return sorted({*FACTORIES, *self._settings.servers, *self._settings.extra})

    def servers(self) -> Mapping[str, "Server"]:
        """Return the servers that are asked over HTTP, by name."""
        return self._settings.servers

    def provider_for(self, ref: ModelRef) -> Provider:
        """Return the provider of `ref`, the same one each time.

        Cheap for those of ours: an SDK is imported, in a thread, by the first request. The first call for one from
        outside imports its module. Raises ModelMissing for an unknown name; whether the provider has the model
        shows when it is asked.
        """
        made = self._made.get(ref.provider)
        if made is not None:
            return made
        if ref.provider in self._settings.extra:
            provider = self._settings.extra[ref.provider]()
        elif ref.provider in self._settings.servers:
            provider = provider_of(self._settings.servers[ref.provider])
        elif ref.provider in FACTORIES:
            provider = FACTORIES[ref.provider](self._settings)
        else:
            raise ModelMissing(
                f"there is no provider {ref.provider!r}, which the model {ref} asks for",
                advice=(f"Providers here: {', '.join(self.names())}. shipchat models lists their models.",),
                details={"model": str(ref), "providers": list(self.names())},
            )
        # Two threads may have made one each; the first stays.
        return self._made.setdefault(ref.provider, provider)

    def add_server(self, server: "Server") -> None:
        """Let `server` be asked as well, or in place of the one of the same name (whose provider `renew` drops)."""
        self._settings = replace(self._settings, servers={**self._settings.servers, server.name: server})

    async def renew(self, name: str) -> None:
        """Drop the provider `name` made so far, which holds an old key or address; the next one is made anew."""
        made = self._made.pop(name, None)
        if made is not None:
            await made.close()

    async def close_all(self) -> None:
        """Close every provider that was made. One that fails to close does not keep the others open."""
        made = list(self._made.values())
        self._made.clear()
        results = await asyncio.gather(*(provider.close() for provider in made), return_exceptions=True)
        failures = [result for result in results if isinstance(result, BaseException)]
        if failures:
            raise failures[0]


def factories_from(text: str) -> dict[str, ProviderFactory]:
    """Return the providers that `text` names: `name=module:factory`, several separated by commas.

    This is how a provider of one's own is plugged in from outside (an environment variable that bootstrap reads;
    the tests' scripted provider comes this way). A factory takes no arguments and returns a
    `core.protocols.Provider`; its module is imported when the provider is first needed.

    Raises ConfigInvalid when the text has another form, and, once it is needed, when it can't be imported.
    """
    factories: dict[str, ProviderFactory] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, equals, place = item.partition("=")
        module, colon, attribute = place.partition(":")
        if not (name and equals and module and colon and attribute):
            raise ConfigInvalid(f"{item!r} is no provider: it is written name=module:factory")
        factories[name] = _imported(module, attribute)
    return factories


def _imported(module: str, attribute: str) -> ProviderFactory:
    def make() -> Provider:
        try:
            factory = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise ConfigInvalid(f"the provider {module}:{attribute} can't be imported: {error}") from error
        provider: Provider = factory()
        return provider

    return make
