"""The arguments that several commands share, and what a SESSION argument means."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services


def complete_session(incomplete: str) -> list[tuple[str, str]]:
    """Return keys (with titles) and titles that begin with `incomplete`, for the shell; never fails."""
    from shipchat.cli.startup import open_services
    from shipchat.core.errors import ShipchatError
    from shipchat.core.safe_text import safe_line

    try:
        rows = open_services("completion").sessions.list_sessions(archived=None, limit=500)
    except ShipchatError:
        return []
    by_key = [(row.key, safe_line(row.title)) for row in rows if row.key.startswith(incomplete)]
    by_title = [
        (row.title, row.key)
        for row in rows
        if incomplete and row.title.startswith(incomplete) and row.title.isprintable()
    ]
    return by_key + by_title


Session: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="A key, a title, or the beginning of a key; - is the newest session.",
        autocompletion=complete_session,
        show_default=False,
    ),
]

OptionalSession: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="SESSION",
        help="A key, a title, or the beginning of a key; - or nothing is the newest session.",
        autocompletion=complete_session,
        show_default=False,
    ),
]

Sessions: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SESSION...",
        help="Keys, titles, or beginnings of keys; - is the newest session.",
        autocompletion=complete_session,
        show_default=False,
    ),
]

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON (see: shipchat help json).")]

Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", "-m", metavar="PROVIDER/MODEL", help="Which model answers.")
]

System: TypeAlias = Annotated[
    str | None, typer.Option("--system", metavar="TEXT", help="System prompt of the session.")
]


def session_key(services: "Services", name: str | None) -> str:
    """Return the key of the session that `name` means: None and `-` are the newest.

    Raises SessionNotFound, SessionAmbiguous, UsageError (an empty name).
    """
    if name is None or name == "-":
        return services.sessions.newest()
    return services.sessions.resolve(name)


def key_for_sending(services: "Services", name: str) -> tuple[str, bool]:
    """Return the key that `send -s NAME` means, and whether that session exists.

    Only a whole key or title means a session that is there: the beginning of a key does not, since a first use
    makes the session, and `-s work` must not end up in `workshop`. Raises SessionKeyInvalid for a name that is
    neither a title nor fit to be a key, SessionAmbiguous.
    """
    from shipchat.core.keys import check_key, why_invalid
    from shipchat.sessions.names import exact_key

    if name == "-":
        return services.sessions.newest(), True
    if not name.strip():
        raise UsageError("the name of a session is empty", advice=("Leave -s out for a new session.",))
    if why_invalid(name) is None:
        key = exact_key(name, services.sessions.store.keys())
        if key is not None:
            return key, True
    titled = [row.key for row in services.sessions.list_sessions(archived=None) if row.title == name.strip()]
    if titled:
        return (titled[0] if len(titled) == 1 else services.sessions.resolve(name)), True
    return check_key(name), False


def position_range(text: str) -> tuple[int, int | None]:
    """Return the first and last position that `A..B`, `A..`, `..B`, `A` or `-N` (the last N) means.

    The last N comes back as a negative first position. Raises UsageError.
    """
    first, dots, last = text.strip().partition("..")
    try:
        if not dots and int(first) < 0:
            return int(first), None
        begin = int(first or 1)
        end = (int(last) if last else None) if dots else begin
    except ValueError:
        begin, end = 0, None
    if begin >= 1 and (end is None or end >= begin):
        return begin, end
    raise UsageError(
        f"{text!r} is no range of messages",
        advice=("For example 3..7, 3.., ..7, 5, or -2 for the last two.",),
    )
