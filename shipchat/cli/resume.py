"""`resume`: shows how a session ended and goes on with it, line by line."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from shipchat.cli.arguments import Model, OptionalSession, session_key
from shipchat.cli.in_flight import open_with_reply
from shipchat.cli.printing import note
from shipchat.cli.showing import text_lines
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services

SHOWN = 4
"""How many of the last messages are shown before going on."""


def resume(
    session: OptionalSession = None,
    last: Annotated[bool, typer.Option("--last", help="The newest session.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only show how it ended.")] = False,
    model: Model = None,
) -> None:
    """Go on with a session, line by line.

    Shows the last messages, then sends each line you type. Ctrl-C stops a reply, Ctrl-D leaves. Lines can also come
    from a pipe.

    Examples:
      shipchat resume                          the newest session
      shipchat resume work                     by key or title
      shipchat resume work --read-only         only look
    """
    if last and session is not None:
        raise UsageError("--last names the newest session: leave SESSION out")
    services = open_services("resume")
    raise typer.Exit(_go_on(services, session_key(services, session), read_only=read_only, model=model))


def go_on(key: str) -> int:
    """Show the end of the session with this key, go on with it, and return the exit code."""
    return _go_on(open_services("resume"), key)


def _go_on(services: "Services", key: str, *, read_only: bool = False, model: str | None = None) -> int:
    value, holder = open_with_reply(services, key)
    first = max(len(value.path) - SHOWN + 1, 1)
    for text in text_lines(value, first):
        print(text)
    if first > 1:
        note(f"({first - 1:,} earlier messages: shipchat show {key})")
    if holder is not None:
        note(f"A turn is running: {holder.sentence()}")
    if read_only:
        return 0
    sys.stdout.flush()
    if sys.stdin.isatty():
        print()
    from shipchat.cli.reports import bug_reports
    from shipchat.headless.lines import run_lines

    with bug_reports():
        return run_lines(services.chats.open(key, model=model), close=services.models.close)
