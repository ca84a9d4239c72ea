"""`resume`: opens a session on the screen, in the scrollback, or line by line from a pipe."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from shipchat.cli.arguments import Model, OptionalSession, session_key
from shipchat.cli.chatting import Plain, go_on_inline
from shipchat.cli.in_flight import open_with_reply
from shipchat.cli.printing import note
from shipchat.cli.screen import has_screen, show_screen
from shipchat.cli.showing import text_lines
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services

SHOWN = 4
"""How many of the last messages are shown before going on."""


def resume(
    session: OptionalSession = None,
    *,
    last: Annotated[bool, typer.Option("--last", help="The newest session.")] = False,
    inline: Annotated[
        bool, typer.Option("--inline", help="In the scrollback, without the full screen.")
    ] = False,
    plain: Plain = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only look.")] = False,
    model: Model = None,
) -> None:
    """Go on with a session.

    On a terminal it opens on the full screen. With --inline, or where the terminal can't show one, it goes on below
    the last messages, as `shipchat chat` does. From a pipe each line is a prompt.

    Examples:
      shipchat resume                          the newest session
      shipchat resume work                     by key or title
      shipchat resume work --inline            without the full screen
      shipchat resume work --read-only         only look
    """
    if last and session is not None:
        raise UsageError("--last names the newest session: leave SESSION out")
    services = open_services("resume")
    key = session_key(services, session)
    if not (inline or plain) and has_screen():
        raise typer.Exit(show_screen(key, read_only=read_only, model=model))
    raise typer.Exit(_go_on(services, key, read_only=read_only, model=model, plain=plain))


def go_on(key: str) -> int:
    """Open the session with this key, on the screen where there is one, and return the exit code."""
    return show_screen(key) if has_screen() else _go_on(open_services("resume"), key)


def _go_on(
    services: "Services", key: str, *, read_only: bool = False, model: str | None = None, plain: bool = False
) -> int:
    if not read_only and sys.stdin.isatty() and sys.stdout.isatty():
        return go_on_inline(services, key, model=model, plain=plain)
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
    from shipchat.cli.reports import bug_reports
    from shipchat.headless.lines import run_lines

    with bug_reports():
        return run_lines(services.chats.open(key, model=model), close=services.models.close)
