"""`config path` and `config show`: where things are kept, and every setting with where it came from."""

from typing import Any
from urllib.parse import urlsplit

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.layout import HelpfulCommand, HelpfulGroup
from shipchat.cli.printing import line, note, print_json, print_table

app = typer.Typer(cls=HelpfulGroup, rich_markup_mode=None, add_completion=False)


@app.callback(invoke_without_command=True)
def config(context: typer.Context, as_json: Json = False) -> None:
    """Show settings and where things are kept.

    Without a command, the settings are shown. They come from config.toml, then SHIPCHAT_* variables, then options of the command; the last one wins.

    Examples:
      shipchat config show
      shipchat config path
    """
    if context.invoked_subcommand is None:
        show(as_json)


@app.command(cls=HelpfulCommand)
def path(as_json: Json = False) -> None:
    """Print the directories and files that are used.

    Examples:
      shipchat config path
    """
    from shipchat.config.paths import directories

    where = directories()
    found = {
        "config": None if where.config_file is None else str(where.config_file),
        "data": str(where.data),
        "sessions": str(where.sessions),
        "models": str(where.models),
        "cache": str(where.cache),
        "reports": str(where.reports),
    }
    if as_json:
        print_json(found | {"data_origin": where.data_origin, "config_origin": where.config_origin})
        return
    for name, value in found.items():
        origin = {"config": where.config_origin, "data": where.data_origin}.get(name, "default")
        line(
            f"{name:<9} {value or '(no home directory)'}{'' if origin == 'default' else f'   from {origin}'}"
        )
    for text in where.notes:
        note(f"shipchat: {text}")


@app.command(cls=HelpfulCommand)
def show(as_json: Json = False) -> None:
    """Print every setting, its value and where that came from.

    Examples:
      shipchat config show
      SHIPCHAT_THEME=paper shipchat config show
    """
    from shipchat.config.settings import load_settings, setting_table, unknown_variables

    settings = load_settings()
    rows = []
    for info in setting_table():
        table, _, name = info.name.rpartition(".")
        value = getattr(getattr(settings, table) if table else settings, name)
        rows.append((info, value, settings.origin(info.name)))
    providers = {name: _provider_value(one) for name, one in settings.providers.items()}
    warnings = [
        *settings.warnings,
        *(f"{name} is set, and no setting of ours" for name in unknown_variables()),
    ]
    if as_json:
        named = {info.name: {"value": value, "origin": origin} for info, value, origin in rows}
        print_json({"settings": named, "providers": providers, "warnings": warnings})
        return
    print_table(
        ("SETTING", "VALUE", "FROM", "MEANING"),
        [(info.name, _shown(value), origin, _meaning(info)) for info, value, origin in rows],
        flexible=3,
    )
    for name, values in providers.items():
        given = ", ".join(
            f"{key} = {_shown(value)}" for key, value in values.items() if value not in (None, [])
        )
        line(f"providers.{name}: {given}")
    for warning in warnings:
        note(f"shipchat: {warning}")


def _meaning(info: Any) -> str:
    return f"{info.about} ({' or '.join(info.choices)})" if info.choices else info.about


def _shown(value: Any) -> str:
    match value:
        case None:
            return "unset"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return " ".join(map(str, value))
        case _:
            return str(value)


def _provider_value(provider: Any) -> dict[str, Any]:
    return {
        "kind": provider.kind,
        "base_url": without_secrets(provider.base_url),
        "api_key_env": provider.api_key_env,
        "models": list(provider.models),
        "context_window": provider.context_window,
        "max_output": provider.max_output,
    }


def without_secrets(url: str) -> str:
    """Return `url` without user, password, query and fragment: the places where keys are put."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    hidden = "…@" if "@" in parts.netloc else ""
    query = "?…" if parts.query else ""
    return f"{parts.scheme}://{hidden}{host}{parts.path}{query}"
