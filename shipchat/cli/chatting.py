"""`chat`: a conversation in the terminal's own scrollback, without a full screen."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from shipchat.cli.arguments import Model, OptionalSession, System, key_for_sending
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services

Plain = Annotated[
    bool,
    typer.Option("--plain", help="Lines only: no colours, nothing redrawn; for screen readers and logs."),
]


def chat(
    session: OptionalSession = None,
    model: Model = None,
    system: System = None,
    plain: Plain = False,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep nothing of this on disk.")] = False,
) -> None:
    """Chat in the scrollback, without a full screen.

    Without SESSION a new one begins. Enter sends, Ctrl+J makes a new line, / lists commands, Esc stops a reply,
    Ctrl+D leaves. A file that a prompt names as @path goes with it; shipchat help send says which files can.

    A terminal that can't redraw (TERM=dumb) gets lines, as with --plain: there a backslash at the end of a line, or
    three quotes around lines, make one prompt of several.

    When standard input is no terminal, all of it is one prompt, and the reply is printed.

    Examples:
      shipchat chat                            a new session
      shipchat chat work                       goes on with work, made on first use
      shipchat chat - --plain                  the newest, line by line
      shipchat chat work --no-save             a copy of work, nothing kept
      shipchat chat work < question.txt        one prompt, and its reply
    """
    if not sys.stdin.isatty():
        from shipchat.cli.send import send

        send(None, session=session, model=model, system=system, no_save=no_save)
        return
    if not sys.stdout.isatty():
        raise UsageError(
            "a conversation needs a terminal to be shown on",
            advice=("To ask once: shipchat send 'Hello' > reply.txt",),
        )
    from shipchat.cli.reports import bug_reports
    from shipchat.inline.run import run_inline
    from shipchat.inline.start import InlineStart

    services = open_services("chat")
    name, exists = (None, False) if session is None else key_for_sending(services, session)
    start = InlineStart(
        name if exists or not no_save else None, model=model, system=system, private=no_save, plain=plain
    )
    with bug_reports():
        raise typer.Exit(run_inline(services, start))


def go_on_inline(services: "Services", key: str, *, model: str | None = None, plain: bool = False) -> int:
    """Go on with the session `key` in the scrollback and return the exit code."""
    from shipchat.cli.reports import bug_reports
    from shipchat.inline.run import run_inline
    from shipchat.inline.start import InlineStart

    with bug_reports():
        return run_inline(services, InlineStart(key, model=model, plain=plain))
