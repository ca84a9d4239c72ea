"""Which models of servers can be chosen, as rows to show: from the config, the catalogue, what runs here, or a vendor.

Local models are listed by `local_models`; how rows are shown is a front end's affair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shipchat.core.errors import ModelMissing
from shipchat.core.models import ModelRef
from shipchat.providers.catalog import ANTHROPIC, OPENAI, KnownModel, known
from shipchat.providers.discovery import FoundServer
from shipchat.providers.registry import Registry
from shipchat.providers.server import Server


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model that can be asked for. `window` and `max_output` in tokens, None where nobody tells.

    `price` is US dollars for a million tokens read and written. `note` says where it was found and where requests go.
    """

    model: str
    window: int | None = None
    max_output: int | None = None
    price: tuple[float, float] | None = None
    note: str = ""


def offered_models(servers: Mapping[str, Server], found: Iterable[FoundServer]) -> list[OfferedModel]:
    """Return the models of `servers` that are configured, of vendors with a key, and those that `found` servers name.

    Blocks (keys are looked up).
    """
    here = {one.name: one for one in found}
    rows: list[OfferedModel] = []
    for name, server in servers.items():
        if server.models:
            rows += [_row(server, model, "from the config") for model in server.models]
        elif name == server.kind and server.key():
            table = ANTHROPIC if server.kind == "anthropic" else OPENAI
            rows += [_row(server, model) for model in table]
        elif server.found_here and name in here:
            rows += [_row(server, one.name, "runs on this machine", one.window) for one in here[name].models]
    return rows


async def listed_models(registry: Registry, name: str) -> list[OfferedModel]:
    """Return what the server `name` itself lists. Raises ModelMissing when there is no such server, ProviderError."""
    from shipchat.providers.remote import RemoteProvider

    provider = registry.provider_for(ModelRef(name, "any"))
    if not isinstance(provider, RemoteProvider):
        raise ModelMissing(
            f"{name} can't be asked for its models", advice=("shipchat models list shows what is known.",)
        )
    return [
        _row(provider.server, one.name, "", one.window, one.max_output) for one in await provider.models()
    ]


async def probe(server: Server) -> list[OfferedModel]:
    """Return what `server` lists when it is asked anew, with the key it has now. Raises ProviderError."""
    from shipchat.providers.registry import provider_of
    from shipchat.providers.remote import RemoteProvider

    provider = provider_of(server)
    assert isinstance(provider, RemoteProvider)  # noqa: S101 -- all that ask a server are
    try:
        return [_row(server, one.name, "", one.window, one.max_output) for one in await provider.models()]
    finally:
        await provider.close()


def _row(
    server: Server, model: str, where: str = "", window: int | None = None, output: int | None = None
) -> OfferedModel:
    row: KnownModel | None = known(server.kind, model) if server.has_vendor_models else None
    return OfferedModel(
        f"{server.name}/{model}",
        server.window or window or (row.window if row else None),
        server.max_output or output or (row.max_output if row else None),
        (row.price.input, row.price.output) if row else None,
        ", ".join(filter(None, (where, server.note))),
    )
