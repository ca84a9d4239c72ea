"""The rows of the catalogue in SQLite: loading and saving them, and what was read of each file; decides nothing.

Nothing here raises because of SQLite: `problem` says why there is no index, and the files are read instead.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from shipchat.core.summaries import SessionSummary
from shipchat.formats.cached import BadCache, decode_row, decode_rows, decode_state, encode_row, encode_state
from shipchat.index.database import Database, birth_of, is_busy, transaction
from shipchat.index.directory import Print
from shipchat.index.faults import DamagedIndex, IndexUnavailable
from shipchat.index.stored_rows import FreshRow, StoredRow

_SELECT: Final = "SELECT name, size, changed, touched, inode, row, checksum, state FROM sessions"
_INSERT: Final = """
INSERT INTO sessions (name, size, changed, touched, inode, row, checksum, state, archived, tags, pending)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)
ON CONFLICT (name) DO UPDATE SET size = excluded.size, changed = excluded.changed, touched = excluded.touched,
  inode = excluded.inode, row = excluded.row, checksum = excluded.checksum, state = excluded.state,
  archived = excluded.archived, tags = excluded.tags, pending = 1,
  text_end = CASE WHEN ?11 THEN text_end ELSE -1 END
"""


class RowTable:
    """The table of rows, for one thread at a time."""

    def __init__(self, path: Path, root: Path) -> None:
        self.database: Final = Database(path, root, patience=0.25)
        self.problem: str | None = None
        self._birth: str | None = None

    def _attempt(self, work: Callable[[sqlite3.Connection], object]) -> bool:
        """Do something with the index; False, and `problem` says why, when there is none to be had."""
        try:
            self.database.run(work)
        except IndexUnavailable as error:
            self.problem = str(error)
            return False
        except sqlite3.OperationalError as error:  # locked: what is not written now is written next time
            if not is_busy(error):
                self.problem = str(error)
            return False
        self.problem = None
        return True

    def load(self) -> tuple[list[str], list[Print], list[SessionSummary]] | None:
        """Return names, prints and rows of all sessions as they were when read, None when there is no index."""
        loaded: list[tuple[list[str], list[Print], list[SessionSummary]]] = []

        def work(connection: sqlite3.Connection) -> None:
            self._birth = birth_of(connection)
            found = connection.execute(
                "SELECT name, size, changed, touched, inode, row, checksum FROM sessions"
            ).fetchall()
            try:
                rows = decode_rows([one[5] for one in found], [one[6] for one in found])
            except BadCache as error:
                raise DamagedIndex(str(error)) from error
            loaded.append(([one[0] for one in found], [one[1:5] for one in found], rows))

        return loaded[-1] if self._attempt(work) else None

    def known(self, names: Sequence[str]) -> dict[str, StoredRow]:
        """Return what is stored of these files."""
        known: dict[str, StoredRow] = {}
        if names:
            marks = ",".join("?" * len(names))

            def work(connection: sqlite3.Connection) -> None:
                for name, size, changed, touched, inode, row, checksum, state in connection.execute(
                    f"{_SELECT} WHERE name IN ({marks})",
                    names,
                ):
                    with contextlib.suppress(BadCache, TypeError):
                        known[name] = StoredRow(
                            (size, changed, touched, inode), decode_state(state), decode_row(row, checksum)
                        )

            self._attempt(work)
        return known

    def save(self, gone: Iterable[str], fresh: Iterable[FreshRow]) -> bool:
        """Take out what is gone and put in what is new; False when that could not be written now."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for name in gone:
                    drop_session(connection, name)
                connection.executemany(_INSERT, map(_values, fresh))

        return self._attempt(work)

    def is_another(self) -> bool:
        """Return whether the index has been begun anew since it was read: then it lacks what is remembered here."""
        births: list[str | None] = []

        def work(connection: sqlite3.Connection) -> None:
            births.append(birth_of(connection))

        return self._attempt(work) and births[-1] != self._birth


def _values(fresh: FreshRow) -> tuple[object, ...]:
    return (
        fresh.name,
        *fresh.print,
        *encode_row(fresh.row),
        encode_state(fresh.state),
        fresh.row.archived,
        f" {' '.join(fresh.row.tags)} ",
        fresh.same_text,
    )


def drop_session(connection: sqlite3.Connection, name: str) -> None:
    """Take a session out; its words stay in the full text, found by nobody, until that is made anew."""
    connection.execute(
        "DELETE FROM messages WHERE session = (SELECT id FROM sessions WHERE name = ?)", (name,)
    )
    connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
