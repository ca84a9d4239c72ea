"""Follows the sessions of a store as wholes: what appeared, changed or went since the last look."""

from shipchat.core.events import SessionChange, SessionCreated, SessionRemoved, SessionUpdated
from shipchat.core.summaries import SessionSummary
from shipchat.sessions.session_manager import SessionManager


class SessionFollower:
    """Remembers the rows of the last look. Blocking: an asynchronous caller polls it in a thread.

    A look costs what the store's `summaries` costs when little has changed: for files a directory scan.
    """

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._began = False
        self.rows: dict[str, SessionSummary] = {}

    def poll(self) -> list[SessionChange]:
        """Look again and return what changed, the first look giving nothing: its rows are the beginning."""
        rows = {row.key: row for row in self._manager.catalogue.summaries()}
        changes: list[SessionChange] = []
        if self._began:
            changes += [SessionRemoved(key) for key in self.rows if key not in rows]
            for key, row in rows.items():
                before = self.rows.get(key)
                if before is None:
                    changes.append(SessionCreated(key))
                elif before != row:
                    changes.append(SessionUpdated(key))
        self._began = True
        self.rows = rows
        return changes
