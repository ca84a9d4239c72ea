"""Commands around the trash: delete, restore, trash."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from shipchat.cli.arguments import Json, Sessions, session_key
from shipchat.cli.printing import line, note, print_json, print_table
from shipchat.cli.startup import open_services


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


def trash(as_json: Json = False) -> None:
    """List deleted sessions.

    Examples:
      shipchat trash
      shipchat restore work            brings one back
    """
    rows = open_services("trash").sessions.trashed()
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
