"""Asking before something that can't be taken back: on a terminal a question, elsewhere --yes."""

import sys
from typing import Annotated, TypeAlias

import typer

from shipchat.core.errors import UsageError
from shipchat.core.safe_text import safe_line

Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def confirmed(question: str, *, yes: bool) -> bool:
    """Return whether the user agrees to what `question` says will happen. Raises UsageError without a terminal."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{question}: this needs --yes", advice=("Nothing was changed.",))
    print(safe_line(f"{question}? [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
