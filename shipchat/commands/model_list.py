"""Which models can be chosen, as options; what a provider says of one, and fetching one, is left to others."""

from typing import TYPE_CHECKING

from shipchat.commands.command import Option
from shipchat.commands.services import Services
from shipchat.core.errors import ConfigInvalid

if TYPE_CHECKING:
    from shipchat.providers.offered import OfferedModel


def model_options(services: Services, current: str, *, ask: bool = True) -> list[Option]:
    """Return the models that can be chosen, by provider: local ones, those of servers, those of the config.

    Blocks: reads a directory and, with `ask`, looks for keys and for servers on this machine (up to 0.3 s).
    """
    found: dict[str, Option] = {}

    def add(model: str, detail: str = "") -> None:
        provider, _, name = model.partition("/")
        found.setdefault(model, Option(model, name, detail, provider, model == current))

    local = services.models.local
    try:
        installed = {one.name: one for one in local.installed()}
    except ConfigInvalid:  # its register can't be read: the catalogue can still be offered
        installed = {}
    for name in dict.fromkeys((*local.catalogue, *installed)):
        known = local.catalogue.get(name)
        if name in installed:
            add(f"local/{name}", "on this machine · free, private, often wrong")
        elif known is not None:
            add(f"local/{name}", f"to be fetched once · {known.download_size / 1e6:.0f} MB")
    for offered in _offered(services) if ask else ():
        add(offered.model, detail_of(offered))
    for provider in services.settings.providers.values():
        for name in provider.models:
            add(f"{provider.name}/{name}", "from the config")
    add(services.settings.default_model, "the default")
    add(current)
    return list(found.values())


def _offered(services: Services) -> "list[OfferedModel]":
    try:
        return list(services.models.offered())
    except ConfigInvalid:  # the file of keys can't be read: the others can still be offered
        return []


def detail_of(model: "OfferedModel") -> str:
    """Return what is known of a model in a few words: its window, its price, where requests go.

    >>> from shipchat.providers.offered import OfferedModel
    >>> detail_of(OfferedModel("x/y", 200_000, price=(3.0, 15.0), note="at gate"))
    '200k · $3 in, $15 out per million · at gate'
    """
    words: list[str] = []
    if model.window is not None:
        words.append(_tokens(model.window))
    if model.price is not None:
        read, written = (f"{price:g}" for price in model.price)
        words.append(f"${read} in, ${written} out per million")
    if model.note:
        words.append(model.note)
    return " · ".join(words)


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{round(count / 1e6, 2):g}M"
    return f"{round(count / 1000)}k" if count >= 1000 else str(count)


def is_fetched(services: Services, model: str) -> bool:
    """Return whether `model` needs no fetching: it is not local, or it is here."""
    provider, _, name = model.partition("/")
    if provider != "local":
        return True
    return any(one.name == name for one in services.models.local.installed())
