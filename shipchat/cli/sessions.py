"""Commands that make and change sessions: new, fork, rename, tag, untag, archive, unarchive."""

from typing import Annotated

import typer

from shipchat.cli.arguments import Json, Model, OptionalSession, Session, Sessions, System, session_key
from shipchat.cli.printing import line, note, print_json
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

Tags = Annotated[list[str], typer.Argument(metavar="TAG...", help="One word each.", show_default=False)]

Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Display name; any text.")]


def new(
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="Unique name, also the file's; made from the date when left out."),
    ] = None,
    title: Title = None,
    system: System = None,
    model: Model = None,
    as_json: Json = False,
) -> None:
    """Make an empty session.

    Prints its key. Not needed before `send`, which makes the session it names.

    Examples:
      shipchat new                                   a key like 2026-11-29-k3f9x
      shipchat new ticket-812 --title "Nightly export"
      shipchat new pirate --system "Answer like a pirate."
    """
    services = open_services("new")
    made = services.sessions.create(key, title=title, system=system, model=model)
    _print_key(made, as_json=as_json)


def fork(
    session: OptionalSession = None,
    *,
    from_message: Annotated[
        str | None,
        typer.Option(
            "--from-message", metavar="N", help="Copy up to and including this position (or message id)."
        ),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="KEY", help="Key of the new session.")] = None,
    title: Title = None,
    open_it: Annotated[bool, typer.Option("--open", help="Go on with the new session at once.")] = False,
    as_json: Json = False,
) -> None:
    """Copy a session, whole or up to a message, and print the new key.

    The session itself stays as it is and may be running a turn.

    Examples:
      shipchat fork work                       all of it
      shipchat fork work --from-message 4      messages 1 to 4
      shipchat send -s "$(shipchat fork work)" "Try another way"
    """
    services = open_services("fork")
    source = session_key(services, session)
    made = services.sessions.fork(source, from_message=from_message, new_key=key, title=title)
    _print_key(made, as_json=as_json)
    if open_it:
        from shipchat.cli.resume import go_on

        raise typer.Exit(go_on(made))


def rename(
    session: Session,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Any text.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Give a session another title.

    The key stays. The old title still finds the session, and no automatic title replaces this one.

    Examples:
      shipchat rename work "Nightly export, second try"
    """
    services = open_services("rename")
    changed = services.sessions.rename(session_key(services, session), title)
    if as_json:
        print_json({"key": changed.key, "title": changed.title})
    else:
        note(f"{changed.key} is now called {changed.title}")


def tag(session: Session, tags: Tags, as_json: Json = False) -> None:
    """Add tags to a session.

    Examples:
      shipchat tag work urgent exports
    """
    _retag("tag", session, add=tags, remove=(), as_json=as_json)


def untag(session: Session, tags: Tags, as_json: Json = False) -> None:
    """Take tags off a session.

    Examples:
      shipchat untag work urgent
    """
    _retag("untag", session, add=(), remove=tags, as_json=as_json)


def archive(sessions: Sessions, as_json: Json = False) -> None:
    """Move sessions out of the list.

    They stay readable and searchable; sending to one brings it back.

    Examples:
      shipchat archive work ticket-812
      shipchat list --archived
    """
    _archive("archive", sessions, as_json=as_json)


def unarchive(sessions: Sessions, as_json: Json = False) -> None:
    """Bring archived sessions back into the list.

    Examples:
      shipchat unarchive work
    """
    _archive("unarchive", sessions, as_json=as_json)


def _print_key(key: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"key": key})
    else:
        line(key)


def _retag(
    command: str, session: str, *, add: list[str] | tuple[()], remove: list[str] | tuple[()], as_json: bool
) -> None:
    services = open_services(command)
    changed = services.sessions.tag(session_key(services, session), add=add, remove=remove)
    if as_json:
        print_json({"key": changed.key, "tags": list(changed.tags)})
    else:
        note(f"{changed.key}: {' '.join('#' + one for one in changed.tags) or 'no tags'}")


def _archive(command: str, sessions: list[str], *, as_json: bool) -> None:
    services = open_services(command)
    # All names are resolved before anything changes: one that is wrong leaves all as they were.
    keys = list(dict.fromkeys(session_key(services, name) for name in sessions))
    if not keys:
        raise UsageError("no session is named")
    change = services.sessions.archive if command == "archive" else services.sessions.unarchive
    changed = [change(key) for key in keys]
    if as_json:
        print_json([{"key": one.key, "archived": one.archived} for one in changed])
        return
    for one in changed:
        note(f"{one.key} is archived" if one.archived else f"{one.key} is back in the list")
