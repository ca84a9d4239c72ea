"""`keys set`, `list`, `remove`: the keys of providers, which are never arguments and never shown whole."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.layout import HelpfulCommand, HelpfulGroup
from shipchat.cli.printing import line, note, print_json, print_table
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services

app = typer.Typer(cls=HelpfulGroup, rich_markup_mode=None, add_completion=False)

Provider = Annotated[
    str,
    typer.Argument(
        metavar="PROVIDER", help="anthropic, openai or a provider of the config.", show_default=False
    ),
]


@app.callback(invoke_without_command=True)
def keys(context: typer.Context, as_json: Json = False) -> None:
    """Keep, list and remove the keys of providers.

    Without a command, they are listed. A key comes from the provider's environment variable, else from the system
    keyring, else from a file that only you can read.

    Examples:
      shipchat keys set anthropic          asks for the key and does not show it
      pass show openai | shipchat keys set openai
      shipchat keys list
    """
    if context.invoked_subcommand is None:
        list_keys(as_json)


@app.command("set", cls=HelpfulCommand)
def set_key(
    provider: Provider,
    keyring: Annotated[
        bool, typer.Option("--keyring", help="Keep it in the system keyring instead of a file.")
    ] = False,
) -> None:
    """Keep the key of a provider.

    It is asked for without being shown, or read from standard input: never given as an argument, where others could
    see it.

    Examples:
      shipchat keys set anthropic
      shipchat keys set openai < key.txt
    """
    services = open_services("keys")
    variable = _variable(services, provider)
    place = services.models.credentials.keep(provider, _asked(provider), in_keyring=keyring)
    note(f"The key for {provider} is in {place}")
    found = services.models.credentials.find(provider, variable)
    if found is not None and found.origin.startswith("variable"):
        note(f"{variable} is set too, and goes before it.")


@app.command("list", cls=HelpfulCommand)
def list_keys(as_json: Json = False) -> None:
    """List which keys there are and where each comes from; only the last characters are shown.

    Examples:
      shipchat keys list
    """
    services = open_services("keys")
    rows: list[dict[str, Any]] = []
    servers = services.models.registry.servers()
    credentials = services.models.credentials
    for name in dict.fromkeys((*servers, *credentials.names())):
        server = servers.get(name)
        variable = server.key_variable if server else None
        found = credentials.find(name, variable)
        if found is None and variable is None:
            continue  # it needs none and has none
        rows.append(
            {
                "provider": name,
                "key": None if found is None else found.masked,
                "from": None if found is None else found.origin,
                "variable": variable,
                "url": server.url if server else None,
            }
        )
    if as_json:
        print_json(rows)
        return
    print_table(
        ("PROVIDER", "KEY", "FROM", "FOR"),
        [
            (
                row["provider"],
                row["key"] or "none",
                row["from"] or f"(set {row['variable']}, or: shipchat keys set {row['provider']})",
                row["url"] or "",
            )
            for row in rows
        ],
        flexible=2,
    )


@app.command(cls=HelpfulCommand)
def remove(provider: Provider) -> None:
    """Remove the key of a provider from the file and the keyring; a variable is yours to unset.

    Examples:
      shipchat keys remove openai
    """
    removed = open_services("keys").models.credentials.remove(provider)
    if not removed:
        raise UsageError(
            f"there is no key for {provider} to remove", advice=("shipchat keys list shows what there is.",)
        )
    line(f"removed from {' and '.join(removed)}")


def _variable(services: "Services", provider: str) -> str | None:
    server = services.models.registry.servers().get(provider)
    if server is None:
        raise UsageError(
            f"there is no provider {provider!r}",
            advice=("anthropic, openai, or one that the config describes in [providers.NAME].",),
            details={"provider": provider},
        )
    return server.key_variable


def _asked(provider: str) -> str:
    if not sys.stdin.isatty():
        text = sys.stdin.read(10_000)
        if len(text.split()) != 1:
            raise UsageError(
                "standard input must be the key and nothing else",
                advice=(f"For example: shipchat keys set {provider} < key.txt",),
            )
        return text
    import getpass

    try:
        return getpass.getpass(f"Key for {provider} (not shown): ")
    except EOFError:
        raise UsageError("no key was given", advice=("Nothing was changed.",)) from None
