"""The command line as a whole: finds the command, runs it, turns whatever goes wrong into one line and an exit code."""

import importlib
import itertools
import os
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from shipchat.cli.layout import HelpfulCommand, HelpfulGroup
from shipchat.cli.table import COMMANDS, CommandRow
from shipchat.cli.told import told
from shipchat.core.errors import UsageError
from shipchat.version import __version__

_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_ROWS: Final = {row.name: row for row in COMMANDS}


class LazyCommands(HelpfulGroup):
    """The root group: its overview comes from the table, its commands are imported one by one."""

    # Typer hands a context to each of these; the table needs none.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all commands in the order of the table."""
        return [*_ROWS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command with this name, importing its module; None when there is none."""
        row = _ROWS.get(cmd_name)
        if row is None:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _load(row)
        return self.commands[cmd_name]

    def rows(self, ctx: Any) -> list[tuple[str, str, str]]:  # noqa: ARG002
        """Return group, name and help of each command without importing any."""
        return [(row.panel, row.name, row.about) for row in COMMANDS]


def _load(row: CommandRow) -> Any:
    module = importlib.import_module(row.module)
    if row.function is None:
        command = get_command(module.app)
    else:
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(row.name, cls=HelpfulCommand, context_settings=_SETTINGS)(getattr(module, row.function))
        command = get_command(one)
    command.name = row.name
    return command


def _print_version(given: bool) -> None:
    if given:
        print(f"shipchat {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="shipchat", cls=LazyCommands, rich_markup_mode=None, context_settings=_SETTINGS, add_completion=True
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 -- its callback answers
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Chat with language models in the terminal. Every word is kept, found again and undoable.

    Examples:
      shipchat send "Why is the sky blue?"     a new session
      shipchat send -s work "And at sunset?"   the session named work
      git diff | shipchat send "Review this"   prompt and input together
      shipchat list                            what there is
      shipchat resume -                        go on with the newest
      shipchat fork work --from-message 2      try another way; work stays as it is
    """
    if context.invoked_subcommand is not None:
        return
    from shipchat.cli.screen import has_screen, show_screen

    if not has_screen():
        print(context.get_help())
        return
    raise typer.Exit(show_screen())


def run(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name and return the exit code; errors are printed, never raised.

    BrokenPipeError and KeyboardInterrupt pass through: they end the program wherever they happen.
    """
    command = get_command(app)
    if os.environ.get("_SHIPCHAT_COMPLETE"):
        command.main(prog_name="shipchat")
    try:
        with command.make_context("shipchat", list(arguments)) as context:
            result = command.invoke(context)
        return result if isinstance(result, int) else 0
    except typer.Exit as stop:
        return stop.exit_code
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except typer.TyperException as error:
        return told(_usage(error), as_json=wants_json(arguments))
    except Exception as error:  # noqa: BLE001 -- the last line of defence: a user sees one line, not a traceback
        return told(error, arguments, as_json=wants_json(arguments))


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether these arguments ask for JSON, even when they make no sense otherwise."""
    options = list(arguments)
    if "--" in options:
        options = options[: options.index("--")]
    after = dict(itertools.pairwise(options))
    return (
        "--json" in options
        or {after.get("--output"), after.get("-o")} & {"json", "events"} != set()
        or "json" in (after.get("--format"), after.get("-f"))
        or not {"--output=json", "--output=events", "--format=json"}.isdisjoint(options)
    )


def _usage(error: typer.TyperException) -> UsageError:
    """Return typer's complaint about the arguments as one of ours."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "shipchat"
    text = " ".join(error.format_message().split()).rstrip(".")
    return UsageError(text[:1].lower() + text[1:], advice=(f"{path} --help shows how it is used.",))
