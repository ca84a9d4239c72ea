"""`branches`: the tree inside a session, and the forks around it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from shipchat.cli.arguments import Json, Session, session_key
from shipchat.cli.printing import line, print_json
from shipchat.cli.startup import open_services
from shipchat.core.messages import UserMessage
from shipchat.core.session import Session as SessionValue
from shipchat.core.summaries import SessionSummary
from shipchat.core.titles import auto_title, cut

_CELLS = 60
"""Cells of a message's beginning."""


@dataclass(slots=True)
class Stretch:
    """Messages in a row without alternatives: `first` to `last` are positions; `end` is the last one's id."""

    first: int
    last: int
    begin: str
    end: str
    current: bool
    below: "list[Stretch]" = field(default_factory=list)


def branches(session: Session, as_json: Json = False) -> None:
    """Show the branches of a session.

    Where a prompt was edited or a reply made again, both ways are kept: this shows them, and the sessions that were
    forked from this one or that it was forked from. The ids work as --from-message of `fork`.

    Examples:
      shipchat branches work
      shipchat branches work --json
      shipchat list --tree             the forks of all sessions
    """
    services = open_services("branches")
    value = services.sessions.open(session_key(services, session))
    rows = services.sessions.list_sessions(archived=None)
    parent, forks = _around(value, rows)
    tops = stretches(value)
    if as_json:
        print_json(
            {
                "key": value.key,
                "title": value.title,
                "branches": _stretch_values(value, tops),
                "forked_from": None if value.forked_from is None else _origin_value(value, parent),
                "forks": [
                    {
                        "key": row.key,
                        "title": row.title,
                        "position": None if row.forked_from is None else row.forked_from.position,
                        "message": None if row.forked_from is None else row.forked_from.message,
                        "messages": row.messages,
                    }
                    for row in forks
                ],
            }
        )
        return
    line(value.key if value.title == value.key else f"{value.key}   {value.title}")
    for text in _tree_lines(value, tops):
        line(text)
    if value.forked_from is not None:
        gone = "" if parent is not None else " (not here)"
        line(f"forked from {value.forked_from.key}{gone} after message {value.forked_from.position}")
    for row in forks:
        position = row.forked_from.position if row.forked_from is not None else 0
        line(f"fork {row.key} after message {position}: {row.title}")


def stretches(session: SessionValue) -> list[Stretch]:
    """Return the tree of a session, its rows of messages without alternatives taken together."""
    tree = session.tree
    on_path = set(session.path)
    tops: list[Stretch] = []
    waiting = [(child, tops) for child in reversed(tree.children(None))]
    while waiting:
        begin, siblings = waiting.pop()
        end = begin
        while len(below := tree.children(end)) == 1 and (below[0] in on_path) == (begin in on_path):
            end = below[0]
        made = Stretch(tree.depth(begin), tree.depth(end), begin, end, begin in on_path)
        siblings.append(made)
        waiting += [(child, made.below) for child in reversed(tree.children(end))]
    return tops


def _tree_lines(session: SessionValue, tops: Sequence[Stretch]) -> list[str]:
    lines: list[str] = []
    stack = [(one, "", one is tops[-1]) for one in reversed(tops)]
    while stack:
        stretch, lead, last = stack.pop()
        span = f"{stretch.first}" if stretch.first == stretch.last else f"{stretch.first}-{stretch.last}"
        mark = " (current)" if stretch.current and session.head == stretch.end else ""
        lines.append(
            f"{lead}{'└─' if last else '├─'} {span}  {_said(session, stretch.begin)}  [{stretch.end}]{mark}"
        )
        under = lead + ("   " if last else "│  ")
        stack += [(one, under, one is stretch.below[-1]) for one in reversed(stretch.below)]
    return lines or ["no messages yet"]


def _said(session: SessionValue, message_id: str) -> str:
    message = session.tree.get(message_id)
    if message is None:
        return ""
    who = "you" if isinstance(message, UserMessage) else message.model
    return f"{who}: {cut(auto_title(message.text), _CELLS)}"


def _around(
    session: SessionValue, rows: Sequence[SessionSummary]
) -> tuple[SessionSummary | None, list[SessionSummary]]:
    """Return the parent, if it is here, and the forks, the one that parted first first."""
    origin = session.forked_from
    parent = next((row for row in rows if origin is not None and row.key == origin.key), None)
    forks = [row for row in rows if row.forked_from is not None and row.forked_from.key == session.key]
    forks.sort(key=lambda row: (row.forked_from.position if row.forked_from else 0, row.created, row.key))
    return parent, forks


def _stretch_values(session: SessionValue, tops: Sequence[Stretch]) -> list[dict[str, Any]]:
    """Return all stretches in a flat list, each naming the message above it: trees can be too deep to nest in JSON."""
    values: list[dict[str, Any]] = []
    stack = list(reversed(tops))
    while stack:
        stretch = stack.pop()
        values.append(
            {
                "first": stretch.first,
                "last": stretch.last,
                "begin": stretch.begin,
                "end": stretch.end,
                "after": session.tree.parent(stretch.begin),
                "current": stretch.current,
                "text": _said(session, stretch.begin),
            }
        )
        stack += reversed(stretch.below)
    return values


def _origin_value(session: SessionValue, parent: SessionSummary | None) -> dict[str, Any]:
    from shipchat.cli.json_values import origin_value

    return (origin_value(session.forked_from) or {}) | {
        "title": None if parent is None else parent.title,
        "exists": parent is not None,
    }
