"""The sidebar's order: which rows pass the filter, and the lines they make, by day and with forks under their parents.

Pure, and quick for 10,000 rows: texts are folded once a row, and no content is made before a line is drawn.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from shipchat.core.safe_text import safe_line
from shipchat.tui.ages import day_head
from shipchat.tui.widgets.sidebar_row import SearchHit, SidebarRow


class HeadLine(NamedTuple):
    """The head of a group: a day, a weekday, a month."""

    text: str


class BlankLine(NamedTuple):
    """An empty line above a head."""


class RowLine(NamedTuple):
    """A session, `depth` levels below the session it was forked from."""

    row: SidebarRow
    depth: int


class SnippetLine(NamedTuple):
    """The second line of a session found by its text."""

    row: SidebarRow
    hit: SearchHit


Line = HeadLine | BlankLine | RowLine | SnippetLine


def folded(text: str) -> str:
    """Return `text` in the form in which it is compared: compatible and without case.

    >>> folded("Straße")
    'strasse'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def searchable(row: SidebarRow) -> str:
    """Return the text of a row that a filter looks in: title, key and tags (`#bug`), folded, a line each."""
    return folded("\n".join((safe_line(row.title), row.key, *(f"#{tag}" for tag in row.tags))))


def matching(query: str, texts: Sequence[str]) -> list[bool]:
    r"""Say of each text (from `searchable`) whether every word of `query` is in it; an empty query matches all.

    >>> matching("#bug exp", ["nightly export\nkey\n#bug", "export\nkey"])
    [True, False]
    """
    words = folded(query).split()
    if len(words) == 1:
        word = words[0]
        return [word in text for text in texts]
    return [all(word in text for word in words) for text in texts]


def arrange(
    rows: Sequence[SidebarRow], now: datetime, hits: Mapping[str, SearchHit] | None = None
) -> list[Line]:
    """Return the lines of the sidebar, newest family first, under heads of days in the zone of `now` (aware).

    A family is a session with the forks made of it, as far as they are among `rows`; it stands where its newest member
    belongs, members newest first below their parent. A row whose key is in `hits` gets a second line.
    """
    lines: list[Line] = []
    since: datetime | None = None  # where the span of the last head begins; families come newest first
    for newest, members in _families(sorted(rows, key=lambda row: row.at, reverse=True)):
        if since is None or newest.at < since:
            head, since = _span(newest.at, now)
            lines.append(BlankLine())
            lines.append(HeadLine(head))
        if not hits:
            lines.extend(members)
            continue
        for line in members:
            lines.append(line)
            if (hit := hits.get(line.row.key)) is not None:
                lines.append(SnippetLine(line.row, hit))
    return lines


def _families(ordered: Sequence[SidebarRow]) -> Iterator[tuple[SidebarRow, Sequence[RowLine]]]:
    """Group rows, newest first, into families in the order of their newest members."""
    forks = [row for row in ordered if row.parent is not None]
    known = {row.key: row for row in ordered} if forks else {}
    children: dict[str, list[SidebarRow]] = {}
    for row in forks:
        if row.parent is not None and row.parent in known and row.parent != row.key:
            children.setdefault(row.parent, []).append(row)
    done: set[str] = set()
    for row in ordered:
        if (
            row.parent is None and row.key not in children
        ):  # most sessions; this keeps ten thousand of them quick
            yield row, (RowLine(row, 0),)
        elif row.key not in done:
            yield row, _members(_root(row, known), children, done)


def _root(row: SidebarRow, known: Mapping[str, SidebarRow]) -> SidebarRow:
    seen = {row.key}
    while row.parent is not None and row.parent in known and row.parent not in seen:
        row = known[row.parent]
        seen.add(row.key)  # lineage that runs in a circle (a damaged file) ends where it began
    return row


def _members(root: SidebarRow, children: Mapping[str, list[SidebarRow]], done: set[str]) -> list[RowLine]:
    lines: list[RowLine] = []
    stack = [(root, 0)]
    while stack:  # not recursive: a chain of a thousand forks is no reason to fail
        row, depth = stack.pop()
        if row.key in done:
            continue
        done.add(row.key)
        lines.append(RowLine(row, depth))
        stack.extend((child, depth + 1) for child in reversed(children.get(row.key, ())))
    return lines


def _span(at: datetime, now: datetime) -> tuple[str, datetime]:
    """Return the head that a session last changed `at` stands under, and when the time that it stands for began.

    Converting ten thousand moments to the local zone is slow; comparing each with the beginning of a span is not.
    """
    local = min(at, now).astimezone(now.tzinfo)
    day = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    recent = (now.date() - local.date()).days < 7
    return day_head(local.date(), now.date()), day if recent else day.replace(day=1)
