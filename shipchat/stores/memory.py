"""Sessions in memory, gone with the process: for private sessions, tests and programs that keep nothing."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from shipchat.core.drafts import TurnDraft
from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.errors import HolderInfo, SessionConflict, SessionExists, SessionNotFound
from shipchat.core.keys import check_key, fold_key
from shipchat.core.protocols import Cursor, Hold, Tail, WindowDraft
from shipchat.core.summaries import SessionSummary, TrashedSession
from shipchat.stores.in_process import InProcessDrafts, InProcessHolds
from shipchat.stores.records import RecordJournal
from shipchat.stores.rows import summary_of


@dataclass(frozen=True, slots=True)
class _Trashed:
    row: TrashedSession
    record: SessionRecord
    turn: TurnDraft | None
    left: list[str]


class InMemorySessionStore:
    """Sessions in memory with every capability, safe to use from several threads."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._records: dict[str, SessionRecord] = {}
        self._trash: dict[str, _Trashed] = {}
        self._holds = InProcessHolds()
        self._drafts = InProcessDrafts()
        self._journal = RecordJournal(self)

    def load(self, session_id: str) -> SessionRecord | None:
        """Return a session, None for an unknown key."""
        with self._guard:
            return self._records.get(check_key(session_id))

    def save(self, record: SessionRecord) -> None:
        """Add what is new in `record`. Raises SessionConflict when it lacks stored entries."""
        with self._guard:
            stored = self._records.get(check_key(record.key))
            if stored is None:
                self._refuse_clash(record.key)
                header = replace(record.header, copied=min(record.header.copied, len(record.entries)))
                self._records[record.key] = replace(record, header=header)
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
            new = tuple(entry for entry in record.entries if entry.id not in known)
            self._records[record.key] = replace(stored, entries=stored.entries + new)

    def list_all(self) -> list[SessionRecord]:
        """Return all sessions."""
        with self._guard:
            return list(self._records.values())

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Return all of a session. Raises SessionNotFound."""
        return self._journal.open(key)

    def create(self, record: SessionRecord) -> Cursor:
        """Make a session. Raises SessionExists."""
        with self._guard:
            self._refuse_clash(record.key)
            return self._journal.create(record)

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Add entries. Raises SessionConflict, SessionNotFound."""
        with self._guard:
            return self._journal.append(key, entries, cursor, exclusive=exclusive)

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what others added since `cursor`. Raises SessionNotFound."""
        return self._journal.read_new(key, cursor)

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Make a session of entries of `source`. Raises MessageNotFound, SessionExists."""
        with self._guard:
            self._refuse_clash(header.key)
            return self._journal.fork(source, header, copied, then)

    def keys(self) -> list[str]:
        """Return all keys."""
        with self._guard:
            return list(self._records)

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each session."""
        for record in self.list_all():
            yield replace(summary_of(record), holder=self.holder(record.key))

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none."""
        record = self.load(key)
        return None if record is None else replace(summary_of(record), holder=self.holder(key))

    def hold(self, key: str, program: str) -> Hold:
        """Take the right to run a turn. Raises SessionHeld."""
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
        """Move a session to the trash. Raises SessionNotFound, SessionHeld."""
        hold = self._holds.hold(key, "shipchat delete")
        try:
            with self._guard:
                record = self._records.pop(key, None)
                if record is None:
                    raise SessionNotFound(f"there is no session {key}", details={"key": key})
                at = datetime.now(UTC)
                while f"{key}.{at:%Y%m%dT%H%M%S.%fZ}" in self._trash:
                    at += timedelta(microseconds=1)
                name = f"{key}.{at:%Y%m%dT%H%M%S.%fZ}"
                shown = summary_of(record)
                row = TrashedSession(
                    trash_id=name, key=key, title=shown.title, deleted=at, messages=shown.messages
                )
                self._trash[name] = _Trashed(row, record, *self._drafts.take(key))
                return row
        finally:
            hold.release()

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Bring it back and return its key. Raises SessionExists, SessionNotFound, SessionHeld."""
        with self._guard:
            trashed = self._in_trash(trash_id)
            key = check_key(trashed.row.key if key is None else key)
            hold = self._holds.hold(key, "shipchat restore")
            try:
                self._refuse_clash(key)
                header = replace(trashed.record.header, key=key)
                self._records[key] = replace(trashed.record, header=header)
                self._drafts.put(key, trashed.turn, trashed.left)
                del self._trash[trash_id]
            finally:
                hold.release()
            return key

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored, newest first."""
        with self._guard:
            rows = [trashed.row for trashed in self._trash.values()]
        return sorted(rows, key=lambda row: (row.deleted, row.trash_id), reverse=True)

    def erase(self, trash_id: str) -> None:
        """Remove it from the trash for good. Raises SessionNotFound."""
        with self._guard:
            self._in_trash(trash_id)
            del self._trash[trash_id]

    def _in_trash(self, trash_id: str) -> _Trashed:
        found = self._trash.get(trash_id)
        if found is None:
            raise SessionNotFound(
                f"nothing in the trash is called {trash_id[:60]!r}", details={"trash_id": trash_id[:200]}
            )
        return found

    def _refuse_clash(self, key: str) -> None:
        folded = fold_key(check_key(key))
        clash = next((other for other in self._records if fold_key(other) == folded), None)
        if clash is not None:
            how = "exists already" if clash == key else f"differs from {clash} only in case"
            raise SessionExists(
                f"session {key} {how}",
                advice=("Choose another key.",),
                details={"key": key, "existing": clash},
            )
