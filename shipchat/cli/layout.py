"""How `--help` looks: our own layout of typer's commands, plain text with a few bold words on a terminal."""

import inspect
import os
import re
import sys
import textwrap
from typing import Any

from typer.core import TyperCommand, TyperGroup

from shipchat.cli.coercion import lighten
from shipchat.cli.style import bold, dim


class HelpfulCommand(TyperCommand):
    """A command whose docstring is its help: paragraphs are wrapped, lines after `Examples:` are kept."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with light coercion."""
        lighten(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return the whole help page."""
        return _page(self, ctx, [])


class HelpfulGroup(TyperGroup):
    """A group of commands, listed with one line each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse, with light coercion."""
        lighten(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def rows(self, ctx: Any) -> list[tuple[str, str, str]]:
        """Return heading, name and help of each command."""
        found = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                found.append(("Commands", name, _first_line(command.help or "")))
        return found

    def get_help(self, ctx: Any) -> str:
        """Return the whole help page."""
        return _page(self, ctx, self.rows(ctx))


def _page(command: Any, ctx: Any, commands: list[tuple[str, str, str]]) -> str:
    width = _width(ctx)
    about, examples = _split(inspect.cleandoc(command.help or ""))
    usage = " ".join(command.collect_usage_pieces(ctx))
    lines = [*_wrapped(about, width), "", f"{bold('Usage:')} {ctx.command_path} {usage}".rstrip()]
    if examples:
        lines += ["", bold("Examples:"), *_examples(examples, width)]
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, name, text in commands:
        sections.setdefault(heading, []).append((name, text.rstrip(".")))
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            heading = "Arguments" if param.param_type_name == "argument" else "Options"
            sections.setdefault(heading, []).append(_tidy(record))
    for heading, rows in sections.items():
        lines += ["", bold(heading + ":"), *_definitions(rows, width)]
    if commands:
        lines += ["", dim(f"{ctx.command_path} COMMAND --help explains a command and shows examples.")]
    return "\n".join(lines)


def _width(ctx: Any) -> int:
    if sys.stdout.isatty():
        try:
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
        except (OSError, ValueError):
            columns = 80
    else:
        columns = int(os.environ["COLUMNS"]) if os.environ.get("COLUMNS", "").isdigit() else 80
    return max(40, min(columns, ctx.max_content_width or 100)) - 1


def _split(text: str) -> tuple[str, list[str]]:
    about, _, examples = text.partition("Examples:\n")
    return about.strip(), textwrap.dedent(examples).splitlines()


def _examples(lines: list[str], width: int) -> list[str]:
    """Return lines of `command   what it does`, the second parts aligned, muted, and given up where they don't fit."""
    pairs = [[piece.strip() for piece in re.split(r"\s{3,}", line.strip(), maxsplit=1)] for line in lines]
    column = max((len(pair[0]) for pair in pairs if len(pair) == 2), default=0) + 3
    return [
        f"  {pair[0]:<{column}}{dim(pair[1])}"
        if len(pair) == 2 and column + len(pair[1]) + 2 <= width
        else f"  {pair[0]}"
        for pair in pairs
    ]


def _wrapped(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if lines:
            lines.append("")
        lines += textwrap.wrap(" ".join(paragraph.split()), width)
    return lines


def _definitions(rows: list[tuple[str, str]], width: int) -> list[str]:
    column = min(max(len(name) for name, _ in rows), 26) + 4
    lines: list[str] = []
    for name, text in rows:
        wrapped = textwrap.wrap(text, max(width - column, 20)) or [""]
        if len(name) + 4 > column:
            lines.append("  " + name)
        else:
            lines.append(f"  {name.ljust(column - 2)}{wrapped.pop(0)}".rstrip())
        lines += [" " * column + line for line in wrapped]
    return lines


def _tidy(record: tuple[str, str]) -> tuple[str, str]:
    """Return names and help of a parameter without types and ranges that say nothing, the default in parentheses."""
    name, text = record
    text = re.sub(r"\[x[<>]=?\d+\]", "", " ".join(text.split()))
    text = re.sub(r"\.? *\[default: ([^]]*)\]", r" (default: \1)", text)
    return re.sub(r" <(str|list\[str\])>$", "", name), text.strip().removesuffix(".")


def _first_line(text: str) -> str:
    return inspect.cleandoc(text).partition("\n")[0]
