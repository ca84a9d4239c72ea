"""Makes sidebar rows of session summaries, each only once while its summary and mark stay the same; pure but for that."""

import os
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import datetime

from shipchat.core.summaries import SessionSummary
from shipchat.tui.widgets.sidebar_row import RowMark, SidebarRow


class SessionRows:
    """Remembers the rows it made: of ten thousand sessions a few change at a time."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[SessionSummary, RowMark, SidebarRow]] = {}

    def rows(
        self, summaries: Iterable[SessionSummary], *, replying: AbstractSet[str], unread: AbstractSet[str]
    ) -> list[SidebarRow]:
        """Return a row for each summary; `replying` are the keys of turns that run here, `unread` of news not seen."""
        made: dict[str, tuple[SessionSummary, RowMark, SidebarRow]] = {}
        rows: list[SidebarRow] = []
        for summary in summaries:
            mark = mark_of(summary, replying=replying, unread=unread)
            known = self._made.get(summary.key)
            if known is None or known[1] is not mark or known[0] != summary:
                known = (summary, mark, row_of(summary, mark))
            made[summary.key] = known
            rows.append(known[2])
        self._made = made
        return rows


def mark_of(summary: SessionSummary, *, replying: AbstractSet[str], unread: AbstractSet[str]) -> RowMark:
    """Return the most important mark of a session."""
    if summary.damage is not None:
        return RowMark.DAMAGED
    if summary.key in replying:
        return RowMark.STREAMING
    if summary.holder is not None and summary.holder.pid != os.getpid():
        return RowMark.HELD
    return RowMark.UNREAD if summary.key in unread else RowMark.NONE


def row_of(summary: SessionSummary, mark: RowMark) -> SidebarRow:
    """Return one row. A damaged session can't say when it changed: it stands where the file's own time puts it."""
    title = f"{summary.key} damaged" if summary.damage is not None else summary.title
    at: datetime = summary.updated
    return SidebarRow(
        summary.key,
        title,
        at,
        tags=summary.tags,
        parent=None if summary.forked_from is None else summary.forked_from.key,
        mark=mark,
        archived=summary.archived,
    )
