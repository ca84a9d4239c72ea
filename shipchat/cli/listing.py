"""`list`: the sessions there are, as a table, as a tree of forks or as JSON."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.printing import line, note, print_json, print_table
from shipchat.cli.startup import open_services
from shipchat.core.summaries import SessionSummary


def list_sessions(
    *,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", metavar="TAG", help="Only sessions with this tag (repeatable)."),
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Only archived sessions.")] = False,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Archived sessions too.")] = False,
    running: Annotated[bool, typer.Option("--running", help="Only sessions in which a turn runs.")] = False,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Only sessions that can't be read whole.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="At most the newest N.")
    ] = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="Show forks below the session they come from.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List sessions, newest first.

    Newest means the latest message; renaming and tagging don't count. A session that can't be read is listed with
    its path and the reason, and harms no other.

    Examples:
      shipchat list                          all but the archived ones
      shipchat list --tag work -n 10         the ten newest with a tag
      shipchat list --tree                   with forks below their parents
      shipchat list --json | jq -r '.[].key'
    """
    services = open_services("list")
    which = None if everything or running or damaged else archived
    rows = services.sessions.list_sessions(
        tags=tag or (), archived=which, running=running, damaged=True if damaged else None, limit=limit
    )
    for text in services.directories.notes:
        note(f"shipchat: {text}")
    for path in services.index.catalogue.vanished[:5]:
        note(f"shipchat: a session file is gone, and not in the trash: {path}")
    if as_json:
        from shipchat.cli.json_values import summary_value

        print_json([summary_value(row) for row in rows])
        return
    if not rows:
        plain = not (tag or archived or running or damaged)
        note("No sessions yet. Begin one: shipchat send 'Hello'" if plain else "No such sessions.")
        return
    good = [row for row in rows if row.damage is None]
    if good:
        _print_rows(_as_tree(good) if tree else [("", row) for row in good])
    for row in rows:
        if row.damage is not None:
            line(damage_line(row))


def damage_line(row: SessionSummary) -> str:
    """Return how a damaged session is listed: `KEY   unreadable: PATH (line 3: bad crc)`."""
    damage = row.damage
    if damage is None:
        return row.key
    reason = f"line {damage.line}: {damage.reason}" if damage.line else damage.reason
    return f"{row.key}   unreadable: {damage.path} ({reason})"


def _print_rows(rows: Sequence[tuple[str, SessionSummary]]) -> None:
    from shipchat.tui.ages import age_text

    now = datetime.now(UTC)
    print_table(
        ("KEY", "TITLE", "TAGS", "MESSAGES", "AGE", ""),
        [
            (
                indent + row.key,
                "" if row.title == row.key else row.title,
                " ".join(f"#{tag}" for tag in row.tags),
                str(row.messages),
                age_text(row.updated, now),
                ", ".join(_marks(row)),
            )
            for indent, row in rows
        ],
        right=(3, 4),
        flexible=1,
    )


def _marks(row: SessionSummary) -> list[str]:
    marks = []
    if row.holder is not None:
        marks.append(f"running (pid {row.holder.pid})")
    if row.archived:
        marks.append("archived")
    return marks


def _as_tree(rows: Sequence[SessionSummary]) -> list[tuple[str, SessionSummary]]:
    """Return rows in the order of a tree, each with the lines that lead to it; a parent not listed counts as none."""
    keys = {row.key for row in rows}
    below: dict[str | None, list[SessionSummary]] = {}
    for row in rows:
        parent = row.forked_from.key if row.forked_from else None
        below.setdefault(parent if parent in keys and parent != row.key else None, []).append(row)
    placed: list[tuple[str, SessionSummary]] = []
    seen: set[str] = set()
    # A stack, not recursion: a thousand forks of forks are allowed. Each item: row, lines before it, lines below it.
    stack = [(row, "", "") for row in reversed(below.get(None, []))]
    while stack:
        row, lead, under = stack.pop()
        if row.key in seen:
            continue
        seen.add(row.key)
        placed.append((lead, row))
        children = below.get(row.key, [])
        stack += [
            (child, under + ("└─ " if last else "├─ "), under + ("   " if last else "│  "))
            for child, last in reversed([(one, one is children[-1]) for one in children])
        ]
    placed += [("", row) for row in rows if row.key not in seen]  # origins that lead in a circle
    return placed
