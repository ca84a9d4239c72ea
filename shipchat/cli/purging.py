"""`purge`: erases sessions for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from shipchat.cli.arguments import Json, complete_session, session_key
from shipchat.cli.asking import Yes, confirmed
from shipchat.cli.printing import note, print_json
from shipchat.cli.startup import open_services
from shipchat.core.errors import SessionNotFound, UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services


def purge(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SESSION...",
            help="Keys or titles, also of sessions in the trash.",
            autocompletion=complete_session,
            show_default=False,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All sessions and the whole trash.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Erase sessions for good.

    The session, what is in the trash of it, its drafts, its words in the index, and attachments that no other session
    has. This is the one command that can't be undone; it asks first.

    Examples:
      shipchat purge work
      shipchat purge ticket-811 ticket-812 --yes
      shipchat trash --empty           only what was deleted
    """
    from shipchat.sessions.purging import everything as all_keys
    from shipchat.sessions.purging import purge as erase

    if bool(sessions) == everything:
        raise UsageError("name the sessions to erase, or --all for all of them")
    services = open_services("purge")
    names = sessions or []
    keys = all_keys(services.sessions) if everything else [_key(services, name) for name in names]
    keys = list(dict.fromkeys(keys))
    if keys:
        what = keys[0] if len(keys) == 1 else f"{len(keys)} sessions"
        if not confirmed(f"erase {what} for good, without a way back", yes=yes):
            note("Nothing was erased.")
            raise typer.Exit(130)
    erased = erase(services.sessions, keys)
    blobs = services.exchange.sweep_attachments(services.directories.sessions)
    services.search.forget()
    if as_json:
        print_json({"purged": [{"key": one.key, "files": one.files} for one in erased], "attachments": blobs})
        return
    for one in erased:
        note(f"{one.key} is erased")
    if not erased:
        note("There is nothing to erase.")


def _key(services: "Services", name: str) -> str:
    """Return the key that a name means, of a session or of something in the trash."""
    trashed = services.sessions.trashed()
    try:
        return session_key(services, name)
    except SessionNotFound:
        found = {one.key for one in trashed if name in (one.key, one.trash_id, one.title)}
        if len(found) == 1:
            return found.pop()
        raise
