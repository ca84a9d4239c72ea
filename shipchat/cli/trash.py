"""Commands around the trash: delete, restore, trash."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from shipchat.cli.arguments import Json, Sessions, session_key
from shipchat.cli.asking import Yes, confirmed
from shipchat.cli.printing import line, note, print_json, print_table
from shipchat.cli.startup import open_services

if TYPE_CHECKING:
    from shipchat.bootstrap import Services


def delete(sessions: Sessions, as_json: Json = False) -> None:
    """Move sessions to the trash.

    Nothing is erased: `shipchat restore` brings them back. A session in which a turn runs is refused.

    Examples:
      shipchat delete work
      shipchat restore work            undoes it
    """
    services = open_services("delete")
    # All names are resolved before anything changes: one that is wrong leaves all as they were.
    keys = list(dict.fromkeys(session_key(services, name) for name in sessions))
    trashed = [services.sessions.delete(key) for key in keys]
    if as_json:
        from shipchat.cli.json_values import trashed_value

        print_json([trashed_value(one) for one in trashed])
        return
    for one in trashed:
        note(f"{one.key} is in the trash; undo: shipchat restore {one.key}")


def restore(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION",
            help="Key, title or trash id; the session deleted last when left out.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Bring a deleted session back.

    Prints its key: a new one when another session has taken the old key meanwhile.

    Examples:
      shipchat restore                 what was deleted last
      shipchat restore work
    """
    key = open_services("restore").sessions.restore(session)
    if as_json:
        print_json({"key": key})
    else:
        line(key)


def trash(
    *,
    empty: Annotated[bool, typer.Option("--empty", help="Erase all that is in it, for good.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """List deleted sessions.

    Examples:
      shipchat trash
      shipchat restore work            brings one back
      shipchat trash --empty           erases them for good; asks first
    """
    services = open_services("trash")
    if empty:
        _empty(services, yes=yes, as_json=as_json)
        return
    rows = services.sessions.trashed()
    if as_json:
        from shipchat.cli.json_values import trashed_value

        print_json([trashed_value(one) for one in rows])
        return
    if not rows:
        note("The trash is empty.")
        return
    from shipchat.tui.ages import age_text

    now = datetime.now(UTC)
    print_table(
        ("KEY", "TITLE", "MESSAGES", "DELETED"),
        [
            (
                one.key,
                "" if one.title == one.key else one.title,
                str(one.messages),
                age_text(one.deleted, now),
            )
            for one in rows
        ],
        right=(2, 3),
        flexible=1,
    )


def _empty(services: "Services", *, yes: bool, as_json: bool) -> None:
    rows = services.sessions.trashed()
    what = "1 deleted session" if len(rows) == 1 else f"{len(rows):,} deleted sessions"
    if rows and not confirmed(f"erase {what} for good, without a way back", yes=yes):
        note("Nothing was erased.")
        raise typer.Exit(130)
    for one in rows:
        services.sessions.store.erase(one.trash_id)
    attachments = services.exchange.sweep_attachments(services.directories.sessions) if rows else 0
    if rows:
        services.search.forget()
    if as_json:
        print_json({"erased": [one.trash_id for one in rows], "attachments": attachments})
    else:
        note(f"Erased for good: {what}." if rows else "The trash is empty.")
