"""One session file: opening it safely, reading it whole or from a cursor on, and saying why it can't be."""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

from shipchat.core.entries import Entry, SessionRecord
from shipchat.core.errors import SessionDamaged, SessionNewer, SessionNotFound
from shipchat.core.protocols import Cursor, Tail
from shipchat.core.summaries import Damage
from shipchat.formats.document import Reading, read_document, read_tail
from shipchat.formats.lines import CLOSING
from shipchat.formats.migrations import VERSION
from shipchat.formats.scan import Problem
from shipchat.formats.summary import damage_of
from shipchat.stores.file.disk import OPEN_FLAGS, close, read_all
from shipchat.stores.file.layout import Layout, not_saved
from shipchat.stores.file.locks import Locks

SEAL: Final = 32
"""Bytes before a cursor that tell whether the line it stands on is still the same: they end in its checksum."""
SIZE_LIMIT: Final = 1 << 30
"""Bytes of a session file at most: 1 GiB, about two million messages."""
_SETTLE: Final = 5.0
"""Seconds within which a file that is being written must come to rest."""

Reader: TypeAlias = Callable[[bytes, str], Reading]
"""What makes a reading of a file's bytes and its key: all of it, or an outline."""

_KINDS: Final = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class FileCursor:
    """How far a file was read: which file, the last entry's number, where it ends, and the bytes before that.

    `known` are the ids of all entries so far; cursors of one reading share and extend it.
    """

    device: int
    inode: int
    seq: int
    end: int
    seal: bytes
    known: set[str] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A reading with the bytes it was made of; `base` is the place of their first one in the file."""

    reading: Reading
    data: bytes
    base: int
    status: os.stat_result

    @property
    def end(self) -> int:
        """Where in the file the last whole entry ends."""
        return self.base + self.reading.end

    @property
    def older(self) -> bool:
        """Whether the file is of an older version: it is brought up to date before anything is added."""
        return self.reading.version not in (None, VERSION)

    @property
    def rest(self) -> bytes:
        """What follows it: the closing line, or an unfinished append."""
        return self.data[self.reading.end :]

    def cursor(self, known: set[str]) -> FileCursor:
        """Return the cursor after the last whole entry; in a file of an older version it is never gone on from."""
        end = self.reading.end
        if self.older:
            return FileCursor(self.status.st_dev, -1, self.reading.seq, self.end, b"", known)
        return FileCursor(
            self.status.st_dev,
            self.status.st_ino,
            self.reading.seq,
            self.end,
            self.data[max(0, end - SEAL) : end],
            known,
        )


class SessionFiles:
    """Reading the session files under one directory."""

    def __init__(self, layout: Layout, locks: Locks, limit: int = SIZE_LIMIT) -> None:
        self._layout = layout
        self._locks = locks
        self.limit: Final = limit

    def open(self, key: str, *, write: bool = False) -> tuple[int, os.stat_result]:
        """Open a session's file. Raises SessionNotFound, SessionDamaged, StoreUnavailable."""
        path = self._layout.session(key)
        try:
            descriptor = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | OPEN_FLAGS)
        except FileNotFoundError:
            raise SessionNotFound(f"there is no session {key}", details={"key": key}) from None
        except OSError as error:
            self._refuse(key, path, error, write=write)
        try:
            status = os.fstat(descriptor)
            self._check(key, path, status)
        except OSError as error:
            close(descriptor)
            self._refuse(key, path, error, write=write)
        except SessionDamaged:
            close(descriptor)
            raise
        return descriptor, status

    def read(self, key: str, reader: Reader = read_document) -> Snapshot:
        """Read all of a file, waiting for an append in progress. Raises SessionNotFound, SessionDamaged.

        The problem of the reading is None or torn.
        """
        snapshot = self.examine(key, reader)
        problem = snapshot.reading.problem
        if problem is not None and not problem.torn:
            self._raise(key, problem, snapshot)
        return snapshot

    def examine(self, key: str, reader: Reader = read_document) -> Snapshot:
        """Read all of a file, whatever is wrong inside it. Raises SessionNotFound, SessionDamaged (not readable)."""
        snapshot = self._read_once(key, reader)
        deadline = time.monotonic() + _SETTLE
        while snapshot.reading.problem is not None and snapshot.reading.problem.newer is None:
            # It may be an append in progress. While writers are kept away the file shows its true state.
            with self._locks.reading(key) as quiet:
                snapshot = self._read_once(key, reader)
                problem = snapshot.reading.problem
                if quiet or problem is None or problem.torn or time.monotonic() > deadline:
                    break
            time.sleep(0.005)
        return snapshot

    def salvage(self, key: str) -> tuple[SessionRecord | None, Damage | None]:
        """Return what can be read of a file, up to the damage, and the damage. Raises SessionNotFound."""
        path = self._layout.session(key)
        try:
            snapshot = self.examine(key)
        except SessionDamaged as error:
            return None, Damage(error.path, error.line, error.reason, error.code)
        reading = snapshot.reading
        record = None if reading.header is None else SessionRecord(reading.header, reading.entries)
        problem = reading.problem
        return record, None if problem is None or problem.torn else damage_of(problem, snapshot.data, path)

    def snapshot(
        self, key: str, descriptor: int, status: os.stat_result, reader: Reader = read_document
    ) -> Snapshot:
        """Read all of an open file, whatever is wrong with it. Raises OSError, MemoryError."""
        data = read_all(descriptor, 0, status.st_size)
        return Snapshot(reader(data, key), data, 0, status)

    def read_locked(self, key: str, descriptor: int, status: os.stat_result) -> Snapshot:
        """Read all of an open file under its write lock. Raises SessionDamaged."""
        snapshot = self.snapshot(key, descriptor, status)
        problem = snapshot.reading.problem
        if problem is not None and not problem.torn:
            self._raise(key, problem, snapshot)
        return snapshot

    def read_on(self, descriptor: int, status: os.stat_result, cursor: FileCursor) -> Snapshot | None:
        """Read what follows `cursor`, None when the file is not what the cursor knew."""
        same = (status.st_dev, status.st_ino) == (cursor.device, cursor.inode)
        if not same or status.st_size < cursor.end:
            return None
        base = cursor.end - len(cursor.seal)
        data = read_all(descriptor, base, status.st_size - base)
        if not data.startswith(cursor.seal):
            return None
        end = len(cursor.seal)
        if data[end:] == CLOSING:  # nothing new, as nearly always
            return Snapshot(Reading(None, (), cursor.seq, end), data, base, status)
        reading = read_tail(data, end, cursor.seq, first=cursor.seq == 0)
        return Snapshot(reading, data, base, status)

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what was appended since `cursor`, without any lock. Raises SessionNotFound, SessionDamaged."""
        known = as_cursor(cursor)
        descriptor, status = self.open(key)
        try:
            more = self.read_on(descriptor, status, known)
        except OSError as error:
            self._refuse(key, self._layout.session(key), error, write=False)
        finally:
            close(descriptor)
        if more is not None and (more.reading.problem is None or more.reading.problem.torn):
            # An unfinished end is looked at again on the next call.
            known.known.update(entry.id for entry in more.reading.entries)
            return Tail(more.reading.entries, more.cursor(known.known))
        whole = self.read(key)
        return Tail(whole.reading.entries, whole.cursor(ids_of(whole.reading.entries)), reloaded=True)

    def record(self, key: str, snapshot: Snapshot) -> SessionRecord:
        """Return the record of a reading that has a header."""
        if snapshot.reading.header is None:
            self._raise(key, snapshot.reading.problem or Problem("without a header", 0), snapshot)
        return SessionRecord(snapshot.reading.header, snapshot.reading.entries)

    def _read_once(self, key: str, reader: Reader) -> Snapshot:
        path = self._layout.session(key)
        descriptor, status = self.open(key)
        try:
            return self.snapshot(key, descriptor, status, reader)
        except OSError as error:
            self._refuse(key, path, error, write=False)
        except MemoryError:
            raise SessionDamaged(
                key, path, f"{_size(status.st_size)}: not enough memory to read it"
            ) from None
        finally:
            close(descriptor)

    def _check(self, key: str, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
            raise SessionDamaged(key, path, f"not a regular file but {kind}")
        if status.st_size > self.limit:
            raise SessionDamaged(key, path, f"{_size(status.st_size)}, over the limit of {_size(self.limit)}")

    def _refuse(self, key: str, path: str, error: OSError, *, write: bool) -> NoReturn:
        with contextlib.suppress(OSError):
            self._check(key, path, os.lstat(path))
        if write or error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise not_saved(error, path) from error
        reason = (error.strerror or "unreadable").lower()
        raise SessionDamaged(key, path, reason) from error

    def _raise(self, key: str, problem: Problem, snapshot: Snapshot) -> NoReturn:
        path = self._layout.session(key)
        if problem.newer is not None:
            raise SessionNewer(key, path, problem.newer)
        line = snapshot.data.count(b"\n", 0, problem.offset) + 1
        raise SessionDamaged(key, path, problem.reason, line=line, readable=len(snapshot.reading.entries))


def as_cursor(cursor: Cursor) -> FileCursor:
    """Return a cursor that a file store made. Raises TypeError for any other."""
    if not isinstance(cursor, FileCursor):
        raise TypeError(f"a cursor of another store: {type(cursor).__name__}")
    return cursor


def ids_of(entries: tuple[Entry, ...]) -> set[str]:
    """Return the ids of these entries."""
    return {entry.id for entry in entries}


def _size(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.1f} MiB"
