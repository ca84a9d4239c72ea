"""One session as this process knows it, and the one path by which entries are added to it.

Blocking; whoever is asynchronous calls it in a thread, one call at a time. Entries that could not be made durable
stay here (`unsaved`), count in `session`, and are written first by the next append.
"""

from collections.abc import Sequence

from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.errors import SessionExists, SessionNotFound, StoreUnavailable
from shipchat.core.protocols import Cursor, FullStore, Tail
from shipchat.core.session import Session, fold, new_session, session_from


class Ledger:
    """A session that may not be on disk yet: it is created by the first append."""

    def __init__(self, store: FullStore, header: SessionHeader) -> None:
        self.store = store
        self.key = header.key
        self.unsaved: tuple[Entry, ...] = ()
        self.mended: str | None = None  # where the torn end of the file went, when this ledger mended it
        self._stored: Session = new_session(header)
        self._cursor: Cursor | None = None
        self._session = self._stored

    @property
    def session(self) -> Session:
        """The session with everything known, unsaved entries included."""
        return self._session

    @property
    def exists(self) -> bool:
        """Whether the session is in the store as far as this ledger knows."""
        return self._cursor is not None

    def refresh(self) -> bool:
        """Take in what others did; return whether anything changed. Raises SessionDamaged, SessionNotFound.

        A session that was never created stays as it is; one that others removed raises SessionNotFound.
        """
        if self._cursor is None:
            try:
                record, self._cursor = self.store.open(self.key)
            except SessionNotFound:
                return False
            self._become(session_from(record))
            return True
        return self._take(self.store.read_new(self.key, self._cursor))

    def append(self, entries: Sequence[Entry], *, exclusive: bool) -> None:
        """Make `entries` durable (and what was left unsaved before them).

        Raises SessionConflict (nothing written), StoreUnavailable (nothing written and nothing kept: see `keep`).
        """
        pending = (*self.unsaved, *entries)
        if self._cursor is None:
            if self._create(pending):
                return
            self.refresh()  # created by someone else a moment ago, or by a try of ours that then failed
        self._write(pending, exclusive=exclusive)

    def keep(self, entries: Sequence[Entry]) -> None:
        """Hold `entries` in memory, to be written by the next append: what a full disk must not lose."""
        self.unsaved = (*self.unsaved, *entries)
        self._session = fold(self._stored, self.unsaved)

    def save(self) -> bool:
        """Try again to write what is unsaved; return whether all is on disk now."""
        if not self.unsaved:
            return True
        try:
            self.append((), exclusive=False)
        except StoreUnavailable:
            return False
        return True

    def _create(self, entries: tuple[Entry, ...]) -> bool:
        try:
            self._cursor = self.store.create(SessionRecord(self._stored.header, entries))
        except SessionExists:
            return False
        self.unsaved = ()
        self._become(fold(self._stored, entries))
        return True

    def _write(self, entries: tuple[Entry, ...], *, exclusive: bool) -> None:
        tail = self.store.append(self.key, entries, self._cursor, exclusive=exclusive)
        self.unsaved = ()
        self._take(tail, then=entries)

    def _take(self, tail: Tail, then: tuple[Entry, ...] = ()) -> bool:
        self._cursor = tail.cursor
        self.mended = tail.mended or self.mended
        base = new_session(self._stored.header) if tail.reloaded else self._stored
        new = (*tail.entries, *then)
        if not new and not tail.reloaded:
            return False
        self._become(fold(base, new))
        return True

    def _become(self, stored: Session) -> None:
        self._stored = stored
        self._session = fold(stored, self.unsaved) if self.unsaved else stored
