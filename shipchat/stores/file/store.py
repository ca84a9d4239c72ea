"""Sessions in files, one JSON document each: the front of the modules beside this one, nothing of its own."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from shipchat.core.drafts import TurnDraft
from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.errors import HolderInfo, SessionConflict, SessionNotFound, ShipchatError
from shipchat.core.protocols import Cursor, Hold, Tail, WindowDraft
from shipchat.core.summaries import Damage, RepairPlan, SessionSummary, TrashedSession
from shipchat.stores.file.catalogue import FileCatalogue
from shipchat.stores.file.drafts import FileDrafts
from shipchat.stores.file.journal import FileJournal
from shipchat.stores.file.layout import Layout
from shipchat.stores.file.locks import Locks
from shipchat.stores.file.session_file import SIZE_LIMIT, SessionFiles
from shipchat.stores.file.trash import FileTrash

if TYPE_CHECKING:
    from shipchat.stores.file.repair import FileRepair


class FileSessionStore:
    """Sessions in one directory, safe to use from several threads and processes at once.

    Nothing is kept in memory: every call opens the file it is about, under the lock it needs, so a store can be made
    at any time and never needs closing. The directory is made at the first write.
    """

    def __init__(self, root: str | os.PathLike[str], *, size_limit: int = SIZE_LIMIT) -> None:
        """`root` is the directory of the sessions (`~` and relative paths are resolved now).

        `size_limit` is the most bytes a session file may have (default 1 GiB); a larger one is refused unread.
        """
        self._layout: Final = Layout(root)
        self._locks: Final = Locks(self._layout)
        self._files: Final = SessionFiles(self._layout, self._locks, size_limit)
        self._journal: Final = FileJournal(self._layout, self._locks, self._files)
        self._catalogue: Final = FileCatalogue(self._layout, self._locks, self._files)
        self._drafts: Final = FileDrafts(self._layout)
        self._settled = False
        self._trash: Final = FileTrash(self._layout, self._locks, self._drafts, self._locks.hold)

    def __repr__(self) -> str:
        return f"FileSessionStore({os.fspath(self.root)!r})"

    @property
    def root(self) -> os.PathLike[str]:
        """The absolute directory of the sessions."""
        return self._layout.root

    @property
    def warning(self) -> str | None:
        """A sentence when the file system has no working locks (known after the first hold), else None."""
        return self._locks.warning

    def path(self, key: str) -> str:
        """Return the path of a session's file, whether it is there or not. Raises SessionKeyInvalid."""
        return self._layout.session(key)

    # --- the least a store can be ---

    def load(self, session_id: str) -> SessionRecord | None:
        """Return a session, None for an unknown key. Raises SessionDamaged, SessionNewer."""
        try:
            return self._journal.open(session_id)[0]
        except SessionNotFound:
            return None

    def save(self, record: SessionRecord) -> None:
        """Add what is new in `record`. Raises SessionConflict when it lacks stored entries, StoreUnavailable."""
        try:
            stored, cursor = self._journal.open(record.key)
        except SessionNotFound:
            self._journal.create(record)
            return
        there = {entry.id for entry in record.entries}
        lacking = [entry.id for entry in stored.entries if entry.id not in there]
        if lacking:
            raise SessionConflict(
                f"session {record.key} has {len(lacking)} stored entries that this record lacks; nothing was written",
                advice=("Load it again and add to that.",),
                details={"key": record.key, "entries": [*lacking[:20]]},
            )
        known = {entry.id for entry in stored.entries}
        new = [entry for entry in record.entries if entry.id not in known]
        if new:
            self._journal.append(record.key, new, cursor, exclusive=True)

    def list_all(self) -> Iterator[SessionRecord]:
        """Yield all sessions that can be read; `summaries` tells of the others."""
        for key in self.keys():
            try:
                record = self.load(key)
            except ShipchatError:
                continue
            if record is not None:
                yield record

    # --- the journal ---

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Read all of a session. Raises SessionNotFound, SessionDamaged, SessionNewer."""
        return self._journal.open(key)

    def create(self, record: SessionRecord) -> Cursor:
        """Make a session. Raises SessionExists, StoreUnavailable."""
        return self._journal.create(record)

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Make `entries` durable. Raises SessionConflict, SessionNotFound, SessionDamaged, StoreUnavailable."""
        return self._journal.append(key, entries, cursor, exclusive=exclusive)

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what others appended since `cursor`. Raises SessionNotFound, SessionDamaged."""
        return self._journal.read_new(key, cursor)

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Make a session of entries of `source`. Raises MessageNotFound, SessionExists, StoreUnavailable."""
        return self._journal.fork(source, header, copied, then)

    def salvage(self, key: str) -> tuple[SessionRecord | None, Damage | None]:
        """Return what can be read of a session, up to the damage, and the damage. Raises SessionNotFound."""
        return self._files.salvage(key)

    def plan_repair(self, key: str) -> RepairPlan:
        """Return what a repair would write. Raises SessionNotFound, SessionDamaged (nothing to be had), SessionNewer."""
        return self._repairs().plan(key)

    def repair(self, plan: RepairPlan) -> str:
        """Write it and return the backup's path. Raises SessionConflict, SessionHeld, StoreUnavailable."""
        return self._repairs().apply(plan)

    def _repairs(self) -> "FileRepair":
        from shipchat.stores.file.repair import FileRepair  # rarely needed

        return FileRepair(self._layout, self._locks, self._files, self._locks.hold)

    # --- the catalogue ---

    def keys(self) -> list[str]:
        """Return all keys, damaged sessions included."""
        return self._catalogue.keys()

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each session, damaged ones included."""
        return self._catalogue.summaries()

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none."""
        return self._catalogue.summary(key)

    def row(self, name: str) -> SessionSummary | None:
        """Return the row of the file `name`, whoever holds it left open, None when it is gone: for an index."""
        return self._catalogue.row(name)

    def held(self) -> dict[str, HolderInfo]:
        """Return the holders of all held sessions, by case-folded key."""
        return self._locks.held()

    # --- holds ---

    def hold(self, key: str, program: str) -> Hold:
        """Take the right to run a turn. Raises SessionHeld within 100 ms."""
        held = self._locks.hold(key, program)
        if not self._settled:
            self._settled = True
            self._trash.settle()
        return held

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds it now."""
        return self._locks.holder(key)

    # --- drafts ---

    def read_turn_draft(self, key: str) -> TurnDraft | None:
        """Return the reply in flight and the queue."""
        return self._drafts.read_turn_draft(key)

    def write_turn_draft(self, key: str, draft: TurnDraft | None, *, durable: bool) -> None:
        """Replace it. Raises StoreUnavailable."""
        self._drafts.write_turn_draft(key, draft, durable=durable)

    def open_window(self, key: str) -> WindowDraft:
        """Return this window's unsent text."""
        return self._drafts.open_window(key)

    # --- the trash ---

    def delete(self, key: str) -> TrashedSession:
        """Move a session to the trash. Raises SessionNotFound, SessionHeld, StoreUnavailable."""
        return self._trash.delete(key)

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Bring it back and return its key. Raises SessionExists, SessionNotFound, SessionHeld."""
        return self._trash.restore(trash_id, key=key)

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored, newest first."""
        return self._trash.trashed()

    def erase(self, trash_id: str) -> None:
        """Remove it from the trash for good. Raises SessionNotFound."""
        self._trash.erase(trash_id)

    def purge(self, key: str) -> list[str]:
        """Remove a session, its drafts and all of it in the trash. Raises SessionHeld, StoreUnavailable."""
        return self._trash.purge(key)
