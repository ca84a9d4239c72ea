"""The SQLite file of the index: opening it privately, its tables, and starting anew whenever it is not right."""

import contextlib
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from shipchat.index.faults import DamagedIndex, IndexUnavailable

SCHEMA: Final = 1
"""Raised with every change of tables, of what is kept in them, or of what counts as a word."""
_APPLICATION: Final = 0x73686970  # "ship"
_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600

_TABLES: Final = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL, changed INTEGER NOT NULL, touched INTEGER NOT NULL, inode INTEGER NOT NULL,
  row BLOB NOT NULL, checksum INTEGER NOT NULL,
  state BLOB,
  archived INTEGER NOT NULL,
  tags TEXT NOT NULL,
  pending INTEGER NOT NULL,
  text_end INTEGER NOT NULL DEFAULT 0,
  heading TEXT
);
CREATE INDEX pending ON sessions (changed) WHERE pending;
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  message TEXT,
  parent INTEGER,
  depth INTEGER NOT NULL,
  role INTEGER NOT NULL,
  at INTEGER NOT NULL,
  place INTEGER NOT NULL, length INTEGER NOT NULL
);
CREATE INDEX messages_of ON messages (session);
"""
_WORDS: Final = """
CREATE VIRTUAL TABLE words USING fts5(
  text, pieces, content='', tokenize="unicode61 remove_diacritics 2"
);
"""
_NAMES: Final = ("words", "messages", "sessions", "meta")

Result = TypeVar("Result")


class Database:
    """One connection to the index, for one thread at a time; opened at the first use, and again when need be."""

    def __init__(self, path: Path, root: Path, *, patience: float = 2.0) -> None:
        """`root` is the directory of the sessions that are indexed; `patience` the seconds to wait for other writers."""
        self.path: Final = path
        self._root: Final = root
        self._patience: Final = patience
        self._guard: Final = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self.rebuilt: str | None = None
        """Why the index was begun anew, when this object had to."""
        self.searchable = True
        """Whether this SQLite has FTS5."""

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` makes of the connection; a damaged index is begun anew and `work` done again.

        Raises IndexUnavailable, and sqlite3.OperationalError when another process keeps the index locked.
        """
        with self._guard:
            for attempt in range(3):
                connection = self._open()
                try:
                    return work(connection)
                except sqlite3.OperationalError as error:
                    self._roll_back()
                    if is_busy(error):
                        raise
                    # "no such table", "no such column": another program's idea of an index. "disk I/O error", a full
                    # disk: nothing that beginning anew would help.
                    if not str(error).startswith("no such") and "has no column" not in str(error):
                        self.close()
                        raise IndexUnavailable(str(error)) from error
                    self._begin_anew(str(error))
                except (sqlite3.DatabaseError, DamagedIndex) as error:
                    if attempt == 2:
                        self.close()
                        raise IndexUnavailable(str(error)) from error
                    self._begin_anew(str(error))
                except BaseException:
                    self._roll_back()
                    raise
            raise IndexUnavailable("the index can't be made")

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._guard:
            connection, self._connection = self._connection, None
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()

    def __del__(self) -> None:
        self.close()

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity == self._seen():
            return self._connection
        self.close()  # deleted or replaced meanwhile
        try:
            self._make_file()
            connection = sqlite3.connect(
                self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise IndexUnavailable(_reason(error)) from error
        try:
            self._set_up(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            raise (error if is_busy(error) else IndexUnavailable(str(error))) from error
        except sqlite3.DatabaseError as error:
            connection.close()
            self._remove(str(error))
            self._make_file()
            connection = sqlite3.connect(
                self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
            try:
                self._set_up(connection)
            except sqlite3.Error as again:
                connection.close()
                raise IndexUnavailable(str(again)) from again
        self._connection = connection
        self._identity = self._seen()
        return connection

    def _seen(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _make_file(self) -> None:
        """Make the file, private, before SQLite would with whatever the umask allows; its side files take after it."""
        directory = self.path.parent
        missing = [one for one in (directory, *directory.parents) if not one.exists()]
        for one in reversed(missing):  # each of them private, which mkdir's own `parents` would not do
            with contextlib.suppress(FileExistsError):
                one.mkdir(mode=_DIRECTORY_MODE)
                one.chmod(_DIRECTORY_MODE)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(self.path, flags | getattr(os, "O_NONBLOCK", 0), _FILE_MODE)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise IndexUnavailable(f"not a regular file: {self.path}")
            if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
                raise IndexUnavailable(f"it belongs to another user: {self.path}")
            if hasattr(os, "fchmod") and stat.S_IMODE(status.st_mode) != _FILE_MODE:
                os.fchmod(descriptor, _FILE_MODE)
        finally:
            os.close(descriptor)

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may lose the last changes, never the file: what is missing is read again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -8192")
        connection.execute("PRAGMA secure_delete = ON")
        self.searchable = _has_words(connection) or not _is_made(connection)
        if _is_ours(connection, self._root):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _is_ours(connection, self._root):  # else another process was first
                self._make_tables(connection)
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        if _is_made(connection):
            self.rebuilt = "it was of another version or for another directory"
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for name in _NAMES:
            if name in names:
                connection.execute(f"DROP TABLE {name}")
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        try:
            connection.execute(_WORDS)
            self.searchable = True
        except sqlite3.OperationalError:
            self.searchable = False  # SQLite without FTS5: a catalogue, but no full text
        connection.execute("INSERT INTO meta VALUES ('root', ?)", (os.fspath(self._root),))
        connection.execute("INSERT INTO meta VALUES ('birth', ?)", (os.urandom(8).hex(),))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _begin_anew(self, reason: str) -> None:
        self.close()
        self._remove(reason)

    def _remove(self, reason: str) -> None:
        self.rebuilt = f"it was damaged ({reason})"
        for suffix in ("-wal", "-shm", ""):
            try:
                os.unlink(f"{self.path}{suffix}")
            except FileNotFoundError:
                continue
            except OSError as error:
                raise IndexUnavailable(_reason(error)) from error


def birth_of(connection: sqlite3.Connection) -> str | None:
    """Return what tells this index from one that was begun anew in its place."""
    found = connection.execute("SELECT value FROM meta WHERE name = 'birth'").fetchone()
    return None if found is None else str(found[0])


def _is_ours(connection: sqlite3.Connection, root: Path) -> bool:
    if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
        return False
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        return False
    try:
        found = connection.execute("SELECT value FROM meta WHERE name = 'root'").fetchone()
    except sqlite3.OperationalError as error:
        if is_busy(error):
            raise
        return False
    return found is not None and found[0] == os.fspath(root)


def _is_made(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _has_words(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone() is not None


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether somebody else keeps the index locked: nothing is wrong with it."""
    return str(error).startswith(("database is locked", "database table is locked"))


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write in one step. Raises sqlite3.OperationalError when the right to write is not had in time."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
