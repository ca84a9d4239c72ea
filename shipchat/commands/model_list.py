"""Which models can be chosen, as options; what a provider says of one, and fetching one, is left to others."""

from shipchat.commands.command import Option
from shipchat.commands.services import Services
from shipchat.core.errors import ConfigInvalid


def model_options(services: Services, current: str) -> list[Option]:
    """Return the models that are here, can be fetched or are named in the config, by provider. Reads a directory."""
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
    for provider in services.settings.providers.values():
        for name in provider.models:
            add(f"{provider.name}/{name}", "from the config")
    add(services.settings.default_model, "the default")
    add(current)
    return list(found.values())


def is_fetched(services: Services, model: str) -> bool:
    """Return whether `model` needs no fetching: it is not local, or it is here."""
    provider, _, name = model.partition("/")
    if provider != "local":
        return True
    return any(one.name == name for one in services.models.local.installed())
