"""Appending to session files, making them and forking them; every write is durable before it is acknowledged."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from shipchat.core.entries import Entry, SessionHeader, SessionRecord, is_structural
from shipchat.core.errors import MessageNotFound, SessionConflict, SessionExists, StoreUnavailable
from shipchat.core.protocols import Cursor, Tail
from shipchat.formats.document import encode_document, encode_session, outline, read_ids
from shipchat.formats.entries import encode_entry
from shipchat.formats.lines import CLOSING, BadJson
from shipchat.stores.file.disk import close, sync, sync_directory, write_all
from shipchat.stores.file.layout import Layout, not_saved, trash_id
from shipchat.stores.file.locks import Locks
from shipchat.stores.file.session_file import (
    SEAL,
    FileCursor,
    SessionFiles,
    Snapshot,
    as_cursor,
    ids_of,
)
from shipchat.stores.file.temporary import publish_new, publish_over


class _OlderVersion(Exception):
    """The file must be brought up to date before anything can be added."""


class FileJournal:
    """Reading and appending at a cost that does not grow with the session."""

    def __init__(self, layout: Layout, locks: Locks, files: SessionFiles) -> None:
        self._layout = layout
        self._locks = locks
        self._files = files

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Read all of it. An unfinished end is left out; the next writer mends it."""
        snapshot = self._files.read(key)
        record = self._files.record(key, snapshot)
        return record, snapshot.cursor(ids_of(record.entries))

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what others appended since `cursor`."""
        return self._files.read_new(key, cursor)

    def create(self, record: SessionRecord) -> Cursor:
        """Make the session with these entries."""
        data = encode_session(record.header, record.entries)
        return self._publish(record.key, data, ids_of(record.entries), len(record.entries))

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Make a session of lines of `source`, byte for byte, and of `then`."""
        origin = self._files.read(source, outline)
        if origin.older:
            return self._fork_older(source, header, copied, then)
        try:
            stored = read_ids(origin.data, origin.reading)
        except BadJson:
            self._files.read(source)  # says which line it is
            raise
        places = {entry_id: place for place, (_, entry_id) in reversed(list(enumerate(stored)))}
        missing = next((entry_id for entry_id in copied if entry_id not in places), None)
        if missing is not None:
            raise MessageNotFound(
                f"session {source} has no entry {missing[:40]!r}", details={"key": source, "message": missing}
            )
        chosen = sorted({places[entry_id] for entry_id in copied})
        lines = [origin.data[slice(*origin.reading.spans[place])] for place in chosen]
        seq = stored[chosen[-1]][0] if chosen else 0
        lines += [encode_entry(entry, number) for number, entry in enumerate(then, seq + 1)]
        data = encode_document(replace(header, copied=len(chosen)), lines)
        known = {*copied, *(entry.id for entry in then)}
        return self._publish(header.key, data, known, seq + len(then))

    def _fork_older(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Fork a file of an older version: its lines can't be copied, so they are written anew."""
        record = self._files.record(source, self._files.read(source))
        wanted = set(copied)
        chosen = [entry for entry in record.entries if entry.id in wanted]
        missing = wanted - {entry.id for entry in chosen}
        if missing:
            name = min(missing)
            raise MessageNotFound(
                f"session {source} has no entry {name[:40]!r}", details={"key": source, "message": name}
            )
        return self.create(SessionRecord(replace(header, copied=len(chosen)), (*chosen, *then)))

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Make `entries` durable; return what others had appended in between.

        A file of an older version is brought up to date first, after a copy of it in the trash.
        """
        try:
            return self._append(key, entries, cursor, exclusive=exclusive)
        except _OlderVersion:
            self._migrate(key)
            return self._append(key, entries, cursor, exclusive=exclusive)

    def _migrate(self, key: str) -> None:
        # The write lock is enough: a holder's cursor knows the old file, so its next append reads the new one whole.
        path = self._layout.session(key)
        with self._writing(key) as (descriptor, status):
            old = self._files.read_locked(key, descriptor, status)
            if not old.older:
                return
            record = self._files.record(key, old)
            backup = self._layout.trashed(trash_id(key, datetime.now(UTC)), f"version{old.reading.version}")
            publish_new(self._layout.trash, key, backup, old.data)
            data = encode_session(record.header, record.entries)
            publish_over(self._layout.root, key, path, data, durable=True)

    def _append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        known = as_cursor(cursor)
        own = {entry.id for entry in entries}
        with self._writing(key) as (descriptor, status):
            more = self._files.read_on(descriptor, status, known)
            if more is not None and more.reading.problem is not None and not more.reading.problem.torn:
                more = None  # the whole file is read, so that the error says which line it is
            reloaded = more is None
            if more is None:
                more = self._files.read_locked(key, descriptor, status)
                if more.older:
                    raise _OlderVersion
                ids = ids_of(more.reading.entries)
            else:
                ids = known.known
                ids.update(entry.id for entry in more.reading.entries)
            foreign = tuple(entry for entry in more.reading.entries if entry.id not in own)
            new = [entry for entry in entries if entry.id not in ids]
            if exclusive and new:
                _check_path(key, known, ids, foreign, reloaded=reloaded)
            mended = self._mend(key, descriptor, more) if more.reading.problem is not None else None
            if len(new) < len(entries):
                self._write_again(key, descriptor, own)
            if not new:
                return Tail(foreign, more.cursor(ids), reloaded, mended)
            after = self._write(key, descriptor, more, new, ids)
        return Tail(foreign, after, reloaded, mended)

    def _write(
        self,
        key: str,
        descriptor: int,
        at: Snapshot,
        entries: Sequence[Entry],
        ids: set[str],
    ) -> FileCursor:
        """Write over the closing line and wait for the disk; on failure leave the file as it was.

        Entry by entry: so no more than one line is ever at stake, and what a power cut leaves of it is told from
        damage to a line that was acknowledged.
        """
        path = self._layout.session(key)
        seq, end = at.reading.seq, at.end
        rest = at.rest if at.reading.problem is None else CLOSING
        bodies = [
            (b",\n" if number > 1 else b"\n") + encode_entry(entry, number)
            for number, entry in enumerate(entries, seq + 1)
        ]
        if end + sum(map(len, bodies)) + len(CLOSING) > self._files.limit:
            raise StoreUnavailable(
                f"NOT SAVED: the session has reached the size limit: {path}",
                advice=(f"Go on in a fork or after a compaction in a new session: shipchat fork {key}",),
                details={"path": path, "reason": "size limit"},
            )
        stop = end
        try:
            for body in bodies:
                write_all(descriptor, body + CLOSING, stop)
                stop += len(body)
                if body is bodies[-1] and stop + len(CLOSING) < end + len(rest):
                    os.ftruncate(descriptor, stop + len(CLOSING))
                sync(descriptor)
        except BaseException as error:
            _put_back(descriptor, end, rest)
            if isinstance(error, OSError):
                raise not_saved(error, path) from error
            raise
        ids.update(entry.id for entry in entries)
        return FileCursor(
            at.status.st_dev,
            at.status.st_ino,
            seq + len(entries),
            stop,
            bodies[-1][-SEAL:],
            ids,
        )

    def _write_again(self, key: str, descriptor: int, ids: set[str]) -> None:
        """Make sure of entries that are in the file already: whoever wrote them may have failed to make them durable.

        After a failed wait the system may believe that a page is clean, so the same bytes are written again.
        """
        whole = self._files.read_locked(key, descriptor, os.fstat(descriptor))
        spans = zip(whole.reading.spans, whole.reading.entries, strict=True)
        start = min(start for (start, _), entry in spans if entry.id in ids)
        write_all(descriptor, whole.data[start:], start)
        sync(descriptor)
        sync_directory(self._layout.root)

    def _mend(self, key: str, descriptor: int, torn: Snapshot) -> str | None:
        """Cut an unfinished end off, after a copy of it, and close the file; return the copy's path."""
        path = self._layout.session(key)
        copy: str | None = None
        try:
            if torn.rest.strip(b" \t\r\n,]}"):
                copy = self._layout.trashed(trash_id(key, datetime.now(UTC)), "torn")
                publish_new(self._layout.trash, key, copy, torn.rest)
            _close_at(descriptor, torn.end, CLOSING)
        except OSError as error:
            raise not_saved(error, path) from error
        return copy

    @contextlib.contextmanager
    def _writing(self, key: str) -> Iterator[tuple[int, os.stat_result]]:
        """Give the open file under the write lock."""
        with self._locks.writing(key):
            descriptor, status = self._files.open(key, write=True)
            try:
                yield descriptor, status
            except OSError as error:
                raise not_saved(error, self._layout.session(key)) from error
            finally:
                close(descriptor)

    def _publish(self, key: str, data: bytes, known: set[str], seq: int) -> FileCursor:
        """Make a new file of these bytes, whose last entry has number `seq`. Raises SessionExists, StoreUnavailable."""
        path = self._layout.session(key)
        self._layout.make()
        if len(data) > self._files.limit:
            raise StoreUnavailable(
                f"NOT SAVED: over the size limit: {path}", details={"path": path, "reason": "size limit"}
            )
        with self._locks.writing(key):
            clash = self._layout.clash(key)
            if clash is not None:
                raise session_exists(key, clash)
            try:
                status = publish_new(self._layout.root, key, path, data)
            except FileExistsError:
                raise session_exists(key, key) from None
            except OSError as error:
                raise not_saved(error, path) from error
        end = len(data) - len(CLOSING)
        return FileCursor(status.st_dev, status.st_ino, seq, end, data[max(0, end - SEAL) : end], known)


def session_exists(key: str, clash: str) -> SessionExists:
    """Return the error for a key that is taken, or that differs from a taken one only in case."""
    how = "exists already" if key == clash else f"differs from {clash} only in case"
    return SessionExists(
        f"session {key} {how}", advice=("Choose another key.",), details={"key": key, "existing": clash}
    )


def _check_path(
    key: str, known: FileCursor, ids: set[str], foreign: Sequence[Entry], *, reloaded: bool
) -> None:
    """Raise SessionConflict when others moved the path since the writer looked."""
    if reloaded and not known.known <= ids:
        raise SessionConflict(
            f"session {key} was replaced in between; nothing was written", details={"key": key}
        )
    seen = known.known if reloaded else frozenset()
    moved = [entry for entry in foreign if entry.id not in seen and is_structural(entry)]
    if moved:
        raise SessionConflict(
            f"session {key} was changed by someone else in between; nothing was written",
            advice=("Look at what was added, then send again.",),
            details={"key": key, "entries": [entry.id for entry in moved]},
        )


def _put_back(descriptor: int, end: int, rest: bytes) -> None:
    """Bring the file back to what it was before a write that failed; the next writer mends what this can't."""
    steps: tuple[Callable[[], None], ...] = (
        lambda: os.ftruncate(descriptor, end),
        lambda: sync(descriptor),
        lambda: write_all(descriptor, rest, end),
        lambda: sync(descriptor),
    )
    for step in steps:  # each for itself: whatever can still be done is
        with contextlib.suppress(OSError):
            step()


def _close_at(descriptor: int, end: int, closing: bytes) -> None:
    """Cut the file at `end` and put the closing line there. Raises OSError."""
    os.ftruncate(descriptor, end)
    sync(descriptor)  # else the closing line could reach the disk before the cut, with the old rest behind it
    write_all(descriptor, closing, end)
    sync(descriptor)
