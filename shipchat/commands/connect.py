"""Setting up who answers: tries a vendor's key or a server's address, and keeps it only once it works.

What is asked and shown is the front end's; where keys and settings are kept is `config`'s.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipchat.commands.services import Services
from shipchat.config.credentials import FoundKey
from shipchat.config.edit import add_table
from shipchat.config.settings import ProviderSettings
from shipchat.core.errors import (
    ConfigInvalid,
    ModelMissing,
    ProviderAuth,
    ProviderError,
    ProviderRejected,
    UsageError,
)

if TYPE_CHECKING:
    from shipchat.providers.offered import OfferedModel
    from shipchat.providers.server import Server

VENDORS: Final = {"anthropic": ("Anthropic", "ANTHROPIC_API_KEY"), "openai": ("OpenAI", "OPENAI_API_KEY")}
"""The vendors by their providers' names: what people call them, and the variable that their key may be in."""

_MOST_MODELS: Final = 50  # of a server's list that go into the config


@dataclass(frozen=True, slots=True)
class Connected:
    """A provider that can be asked: `model` (`provider/model`) is the one to begin with, `models` are all it lists.

    `untried` says why the key could not be tried, empty when it was.
    """

    provider: str
    model: str
    models: tuple[str, ...] = ()
    untried: str = ""


def found_key(services: Services, provider: str) -> FoundKey | None:
    """Return the key that a vendor has already. Blocks. Raises ConfigInvalid when the file of keys can't be read."""
    return services.models.credentials.find(provider, VENDORS[provider][1])


async def connect_vendor(services: Services, provider: str, key: str | None) -> Connected:
    """Try the vendor's `key` (None: the one that is found), keep it, and let the vendor be asked with it.

    Without a network the key is kept untried. Raises UsageError for what can't be a key, ProviderAuth when it is
    refused, StoreUnavailable when it can't be kept; nothing is kept then.
    """
    models = services.models
    server = models.registry.servers().get(provider)
    if server is None:
        raise ModelMissing(f"there is no provider {provider!r} here")
    if key is not None:
        key = _checked(key)
        server = replace(server, key=_always(key))
    from shipchat.providers.catalog import usual

    listed: list[OfferedModel] = []
    untried = ""
    try:
        listed = await _probe(server)
    except (ProviderAuth, ProviderRejected):
        raise
    except ProviderError as error:
        untried = str(error)
    if key is not None:
        await asyncio.to_thread(models.credentials.keep, provider, key)
    await models.registry.renew(provider)
    names = [one.model.partition("/")[2] for one in listed]
    model = usual(server.kind, names)
    if model is None:
        raise ModelMissing(f"{provider} lists no models")
    return Connected(provider, f"{provider}/{model}", tuple(one.model for one in listed), untried)


async def connect_server(services: Services, address: str, key: str | None = None) -> Connected:
    """Try the OpenAI-compatible server at `address`, write it to the config, and let it be asked.

    Raises UsageError for no address, ProviderAuth when it wants a key (another than `key`), ProviderError when it
    does not answer, ModelMissing when it lists no model, ConfigInvalid and StoreUnavailable when it can't be kept.
    """
    url = checked_address(address)
    models, path = services.models, services.directories.config_file
    if path is None:
        raise ConfigInvalid("there is no place for a config file: no home directory was made out")
    servers = models.registry.servers()
    same = next((one for one in servers.values() if one.base_url == url and not one.found_here), None)
    name = same.name if same is not None else _name_for(url, servers)
    given = ProviderSettings(name=name, kind="openai", base_url=url)
    server = _server_of(services, given)
    if key is not None:
        key = _checked(key)
        server = replace(server, key=_always(key))
    listed = await _probe(server)
    if not listed:
        raise ModelMissing(f"{server.host} answers, but lists no models")
    names = tuple(one.model.partition("/")[2] for one in listed)[:_MOST_MODELS]
    if key is not None:
        await asyncio.to_thread(models.credentials.keep, name, key)
    if same is None:
        await asyncio.to_thread(_write, path, name, url, names)
    models.registry.add_server(_server_of(services, replace(given, models=names)))
    await models.registry.renew(name)
    return Connected(name, f"{name}/{names[0]}", tuple(f"{name}/{one}" for one in names))


def checked_address(text: str) -> str:
    """Return the address in `text` as an URL. Raises UsageError.

    >>> checked_address(" localhost:8080/v1/ ")
    'http://localhost:8080/v1'
    """
    from urllib.parse import urlsplit

    text = text.strip()
    local = text.startswith(("localhost", "127.", "[::1]"))
    url = text if "://" in text else f"{'http' if local else 'https'}://{text}"
    url = url.rstrip("/")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if not host or parts.scheme not in ("http", "https") or not url.isprintable() or " " in url:
        raise UsageError("that is no address: one looks like http://127.0.0.1:8080/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError("the address must hold no password and no key; a key is asked for when it is needed")
    return f"{url}/v1" if not parts.path else url


def _name_for(url: str, taken: Collection[str]) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = (parts.hostname or "").casefold()
    here = host == "localhost" or host.startswith("127.") or host == "::1"
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in host).strip("-")
    first = f"here-{parts.port or 80}" if here else plain[:40] or "server"
    return next(name for name in (first, *(f"{first}-{n}" for n in range(2, 1000))) if name not in taken)


def _write(path: Path, name: str, url: str, models: tuple[str, ...]) -> None:
    add_table(path, "providers", name, {"kind": "openai", "base_url": url, "models": models})


def _checked(key: str) -> str:
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError("that is no API key: a key is one word of plain characters")
    return key


def _always(key: str) -> Callable[[], str]:
    return lambda: key


def _server_of(services: Services, given: ProviderSettings) -> "Server":
    from shipchat.providers.servers import known_servers

    def find(provider: str, variable: str | None) -> str | None:
        found = services.models.credentials.find(provider, variable)
        return None if found is None else found.key

    settings = services.settings
    made = known_servers({given.name: given}, find, stall=settings.stall_timeout, effort=settings.effort)
    return made[given.name]


async def _probe(server: "Server") -> "list[OfferedModel]":
    from shipchat.providers.offered import probe

    return await probe(server)
