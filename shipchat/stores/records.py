"""Journal and catalogue of any store that can load, save and list whole records: what changed is found by id."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from shipchat.core.entries import Entry, SessionHeader, SessionRecord, is_structural
from shipchat.core.errors import (
    MessageNotFound,
    SessionConflict,
    SessionDamaged,
    SessionExists,
    SessionNotFound,
    ShipchatError,
    StoreUnavailable,
)
from shipchat.core.keys import check_key
from shipchat.core.protocols import Cursor, SessionStore, Tail
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.stores.rows import summary_of


@dataclass(frozen=True, slots=True)
class RecordCursor:
    """How far a record was read: the ids of its entries."""

    known: frozenset[str]


class RecordJournal:
    """The journal of a store of whole records. Writers of other processes are noticed, but not kept out."""

    def __init__(self, store: SessionStore, guard: AbstractContextManager[object] | None = None) -> None:
        """`guard` keeps writers of this process apart; one for all journals of a store."""
        self._store = store
        self._guard: AbstractContextManager[object] = guard if guard is not None else threading.RLock()

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Load it."""
        record = self._load(key)
        return record, _cursor(record)

    def create(self, record: SessionRecord) -> Cursor:
        """Save it unless the key is taken."""
        with self._guard:
            if self._store.load(check_key(record.key)) is not None:
                raise SessionExists(
                    f"session {record.key} exists already",
                    advice=("Choose another key.",),
                    details={"key": record.key, "existing": record.key},
                )
            self._save(record)
        return _cursor(record)

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Load, compare by id, save with the new entries."""
        known = _known(cursor)
        own = {entry.id for entry in entries}
        with self._guard:
            record = self._load(key)
            there = frozenset(entry.id for entry in record.entries)
            reloaded = not known <= there
            others = tuple(entry for entry in record.entries if entry.id not in own)
            unseen = tuple(entry for entry in others if entry.id not in known)
            new = tuple(entry for entry in entries if entry.id not in there)
            if exclusive and new and (reloaded or any(is_structural(entry) for entry in unseen)):
                raise SessionConflict(
                    f"session {key} was changed by someone else in between; nothing was written",
                    advice=("Look at what was added, then send again.",),
                    details={"key": key, "entries": [entry.id for entry in unseen]},
                )
            if new:
                self._save(replace(record, entries=record.entries + new))
                there |= {entry.id for entry in new}
        return Tail(others if reloaded else unseen, RecordCursor(there), reloaded)

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Load and compare by id."""
        known = _known(cursor)
        record = self._load(key)
        there = frozenset(entry.id for entry in record.entries)
        reloaded = not known <= there
        new = record.entries if reloaded else tuple(one for one in record.entries if one.id not in known)
        return Tail(new, RecordCursor(there), reloaded)

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Save a record of the entries of another and of `then`."""
        record = self._load(source)
        wanted = set(copied)
        chosen = tuple(entry for entry in record.entries if entry.id in wanted)
        missing = wanted - {entry.id for entry in chosen}
        if missing:
            name = min(missing)
            raise MessageNotFound(
                f"session {source} has no entry {name[:40]!r}", details={"key": source, "message": name}
            )
        return self.create(SessionRecord(replace(header, copied=len(chosen)), (*chosen, *then)))

    def _load(self, key: str) -> SessionRecord:
        record = self._store.load(check_key(key))
        if record is None:
            raise SessionNotFound(f"there is no session {key}", details={"key": key})
        return record

    def _save(self, record: SessionRecord) -> None:
        """Save, and say NOT SAVED whatever the store's own error was."""
        try:
            self._store.save(record)
        except ShipchatError:
            raise
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise StoreUnavailable(
                f"NOT SAVED: {reason}: session {record.key}",
                advice=("It is kept in memory and tried again.",),
                details={"key": record.key, "reason": reason},
            ) from error


class RecordCatalogue:
    """The rows of a store of whole records; costs as much as loading them all."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def keys(self) -> list[str]:
        """Return the keys of all records."""
        return [record.key for record in self._store.list_all()]

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each record."""
        for record in self._store.list_all():
            yield summary_of(record)

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none."""
        try:
            record = self._store.load(check_key(key))
        except SessionDamaged as error:
            epoch = datetime(1970, 1, 1, tzinfo=UTC)
            damage = Damage(error.path, error.line, error.reason, error.code)
            return SessionSummary(key=key, title=key, created=epoch, updated=epoch, damage=damage)
        return None if record is None else summary_of(record)


def _cursor(record: SessionRecord) -> RecordCursor:
    return RecordCursor(frozenset(entry.id for entry in record.entries))


def _known(cursor: Cursor) -> frozenset[str]:
    if not isinstance(cursor, RecordCursor):
        raise TypeError(f"a cursor of another store: {type(cursor).__name__}")
    return cursor.known
