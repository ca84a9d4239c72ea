"""A full store out of any store: capabilities it has are used, the others are made of load, save and list_all."""

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

from shipchat.core.drafts import TurnDraft
from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.errors import HolderInfo, SessionNotFound, StoreUnavailable
from shipchat.core.protocols import (
    Catalogue,
    Cursor,
    Drafts,
    FullStore,
    Hold,
    Holds,
    Journal,
    SessionStore,
    Tail,
    Trash,
    WindowDraft,
)
from shipchat.core.summaries import SessionSummary, TrashedSession
from shipchat.stores.in_process import InProcessDrafts, InProcessHolds
from shipchat.stores.records import RecordCatalogue, RecordJournal

_JOURNAL: Final = ("open", "create", "append", "read_new", "fork")
_CATALOGUE: Final = ("keys", "summaries", "summary")
_HOLDS: Final = ("hold", "holder")
_DRAFTS: Final = ("read_turn_draft", "write_turn_draft", "open_window")
_TRASH: Final = ("delete", "restore", "trashed", "erase")


def complete(store: SessionStore) -> FullStore:
    """Return `store` itself when it has every capability, else a full store made of it.

    What is made of three methods promises less: the hold keeps out other turns of this process only, changes that
    two processes make at the same instant are as safe as the store's `save`, drafts are gone with the process, and
    sessions can't be deleted. Completing one store twice gives the same holds and drafts.
    """
    if _has(store, (*_JOURNAL, *_CATALOGUE, *_HOLDS, *_DRAFTS, *_TRASH)):
        return cast("FullStore", store)
    return CompletedStore(store)


def _has(store: object, names: Iterable[str]) -> bool:
    return all(callable(getattr(store, name, None)) for name in names)


class NoTrash:
    """The trash of a store that can't delete: it says so."""

    def __init__(self, store: SessionStore) -> None:
        self._name = type(store).__name__

    def delete(self, key: str) -> TrashedSession:
        """Refuse. Raises StoreUnavailable."""
        raise StoreUnavailable(
            f"session {key} was not deleted: {self._name} has no way to delete",
            advice=("Archive it instead.",),
            details={"key": key},
        )

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Refuse: nothing was ever deleted. Raises SessionNotFound."""
        raise SessionNotFound(f"nothing in the trash is called {(key or trash_id)[:60]!r}")

    def trashed(self) -> list[TrashedSession]:
        """Return nothing."""
        return []

    def erase(self, trash_id: str) -> None:
        """Refuse: nothing was ever deleted. Raises SessionNotFound."""
        raise SessionNotFound(f"nothing in the trash is called {trash_id[:60]!r}")


class _Made:
    """What was made for one store, shared by all that complete it."""

    def __init__(self) -> None:
        self.journal_guard = threading.RLock()
        self.holds = InProcessHolds()
        self.drafts = InProcessDrafts()


_made: dict[int, tuple["weakref.ref[SessionStore]", _Made]] = {}
_made_guard: Final = threading.Lock()


def _made_for(store: SessionStore) -> _Made:
    with _made_guard:
        known = _made.get(id(store))
        if known is not None and known[0]() is store:
            return known[1]
        made = _Made()
        try:
            reference = weakref.ref(store)
        except (
            TypeError
        ):  # a class with __slots__ and no place for references: then each completion has its own
            return made
        _made[id(store)] = (reference, made)
        weakref.finalize(store, _made.pop, id(store), None)
        return made


class CompletedStore:
    """A full store that passes each call to where the capability is."""

    def __init__(self, store: SessionStore) -> None:
        made = _made_for(store)
        self._store = store
        self._journal: Journal = (
            cast("Journal", store) if _has(store, _JOURNAL) else RecordJournal(store, made.journal_guard)
        )
        self._catalogue: Catalogue = (
            cast("Catalogue", store) if _has(store, _CATALOGUE) else RecordCatalogue(store)
        )
        self._holds: Holds = cast("Holds", store) if _has(store, _HOLDS) else made.holds
        self._drafts: Drafts = cast("Drafts", store) if _has(store, _DRAFTS) else made.drafts
        self._trash: Trash = cast("Trash", store) if _has(store, _TRASH) else NoTrash(store)

    def __repr__(self) -> str:
        return f"complete({self._store!r})"

    def load(self, session_id: str) -> SessionRecord | None:
        """Return a session, None for an unknown key."""
        return self._store.load(session_id)

    def save(self, record: SessionRecord) -> None:
        """Add what is new in `record`."""
        self._store.save(record)

    def list_all(self) -> Iterable[SessionRecord]:
        """Return all sessions."""
        return self._store.list_all()

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Read all of a session."""
        return self._journal.open(key)

    def create(self, record: SessionRecord) -> Cursor:
        """Make a session."""
        return self._journal.create(record)

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Add entries."""
        return self._journal.append(key, entries, cursor, exclusive=exclusive)

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what others added since `cursor`."""
        return self._journal.read_new(key, cursor)

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Make a session of entries of `source`."""
        return self._journal.fork(source, header, copied, then)

    def keys(self) -> list[str]:
        """Return all keys."""
        return self._catalogue.keys()

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each session."""
        return self._catalogue.summaries()

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session."""
        return self._catalogue.summary(key)

    def hold(self, key: str, program: str) -> Hold:
        """Take the right to run a turn."""
        return self._holds.hold(key, program)

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds it now."""
        return self._holds.holder(key)

    def read_turn_draft(self, key: str) -> TurnDraft | None:
        """Return the reply in flight and the queue."""
        return self._drafts.read_turn_draft(key)

    def write_turn_draft(self, key: str, draft: TurnDraft | None, *, durable: bool) -> None:
        """Replace it."""
        self._drafts.write_turn_draft(key, draft, durable=durable)

    def open_window(self, key: str) -> WindowDraft:
        """Return this window's unsent text."""
        return self._drafts.open_window(key)

    def delete(self, key: str) -> TrashedSession:
        """Move a session to the trash, if the store has one."""
        return self._trash.delete(key)

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Bring it back."""
        return self._trash.restore(trash_id, key=key)

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored."""
        return self._trash.trashed()

    def erase(self, trash_id: str) -> None:
        """Remove it from the trash for good."""
        self._trash.erase(trash_id)
