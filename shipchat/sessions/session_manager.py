"""What can be done to sessions as wholes: make, find, list, fork, rename, tag, archive, delete, restore.

Blocking, and free of asyncio, so that `shipchat list` starts fast; an asynchronous caller uses a thread.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Final

from shipchat.core.entries import CheckpointEntry, Entry, ForkOrigin, SessionHeader, SessionRecord, SetEntry
from shipchat.core.errors import SessionExists, SessionNotFound, UsageError
from shipchat.core.ids import new_id
from shipchat.core.keys import check_key, new_key, why_invalid
from shipchat.core.models import parse_model
from shipchat.core.protocols import Catalogue, Cursor, FullStore
from shipchat.core.session import Session, fold, new_session, session_from
from shipchat.core.summaries import SessionSummary, TrashedSession
from shipchat.core.titles import clean_title, fork_title
from shipchat.sessions.clock import Clock, utc_now
from shipchat.sessions.names import exact_key, not_found, resolve

_TRIES: Final = 20
_RELATIVES: Final = 200
"""Sessions read at most to find a title for a fork (0.1 ms each)."""


class SessionManager:
    """Acts on the sessions of one store."""

    def __init__(
        self, store: FullStore, *, catalogue: Catalogue | None = None, clock: Clock = utc_now
    ) -> None:
        """`catalogue` tells of the store's sessions more quickly than the store itself would, if there is such a thing."""
        self.store = store
        self.catalogue: Final[Catalogue] = store if catalogue is None else catalogue
        self._clock = clock

    # --- finding ---

    def open(self, key: str) -> Session:
        """Return the session with this key. Raises SessionNotFound, SessionDamaged."""
        return self._open(key)[0]

    def open_at(self, key: str) -> tuple[Session, Cursor]:
        """Return the session and how far it was read, for appending to it. Raises SessionNotFound, SessionDamaged."""
        return self._open(key)

    def now(self) -> datetime:
        """Return this instant, by the clock that entries are dated with."""
        return self._clock()

    def resolve(self, name: str) -> str:
        """Return the key of the session that `name` (key, title, beginning of a key, old title) means.

        Raises SessionNotFound, SessionAmbiguous, UsageError (an empty name). A whole key is found without reading
        any file.
        """
        key = exact_key(name.strip(), self.store.keys()) if why_invalid(name.strip()) is None else None
        return key if key is not None else resolve(name, list(self.catalogue.summaries()))

    def newest(self) -> str:
        """Return the key of the session with the latest message that is not archived. Raises SessionNotFound."""
        listed = self.list_sessions(limit=1)
        if not listed:
            raise SessionNotFound("there are no sessions yet", advice=("Begin one: shipchat send 'Hello'",))
        return listed[0].key

    def list_sessions(
        self,
        *,
        tags: Sequence[str] = (),
        archived: bool | None = False,
        running: bool = False,
        damaged: bool | None = None,
        limit: int | None = None,
    ) -> list[SessionSummary]:
        """Return rows, newest first by latest message. `archived` of None lists both; `damaged` True only those.

        A damaged session can't say whether it is archived or tagged: it is listed unless tags are asked for.
        """
        wanted = set(tags)
        rows = [
            row
            for row in self.catalogue.summaries()
            if (archived is None or row.damage is not None or row.archived == archived)
            and wanted <= set(row.tags)
            and (not running or row.holder is not None)
            and (damaged is None or (row.damage is not None) == damaged)
        ]
        rows.sort(key=lambda row: (row.updated, row.key), reverse=True)
        return rows if limit is None else rows[:limit]

    # --- making ---

    def create(
        self,
        key: str | None = None,
        *,
        title: str | None = None,
        system: str | None = None,
        model: str | None = None,
    ) -> str:
        """Make an empty session and return its key, a new one when None is given. Raises SessionExists."""
        if model is not None:
            parse_model(model)
        entries: list[Entry] = []
        if title is not None or system is not None or model is not None:
            entries.append(
                SetEntry(
                    id=new_id(),
                    at=self._clock(),
                    title=_checked_title(title) if title is not None else None,
                    by="user" if title is not None else None,
                    system=system,
                    model=model,
                )
            )
        candidates = self._new_keys() if key is None else [check_key(key)]
        for candidate in candidates:
            header = SessionHeader(key=candidate, created=self._clock())
            try:
                self.store.create(SessionRecord(header, tuple(entries)))
            except SessionExists:
                if key is not None:
                    raise
            else:
                return candidate
        raise SessionExists("no free session key was found", advice=("Try again.",))

    def fork(
        self,
        key: str,
        *,
        from_message: int | str | None = None,
        new_key: str | None = None,
        title: str | None = None,
    ) -> str:
        """Copy the session up to and including a message (position or id; None: all of it); return the new key.

        The session itself is only read: it may be running a turn. Raises MessageNotFound (naming the valid range),
        SessionNotFound, SessionExists, SessionDamaged; nothing is made then.
        """
        session, _ = self._open(key)
        last = session.head if from_message is None else session.find_message(from_message).id
        path = session.tree.path_to(last)
        on_path = set(path)
        checkpoints = [one.id for one in session.checkpoints if _covered(one, on_path)]
        now = self._clock()
        then = SetEntry(
            id=new_id(),
            at=now,
            title=self._fork_title(session) if title is None else _checked_title(title),
            by="auto" if title is None else "user",
            system=session.system,
            model=session.model,
            add_tags=session.tags,
            add_pins=tuple(one for one in path if one in session.pins),
        )
        origin = ForkOrigin(session.key, last, len(path))
        candidates = self._fork_keys(session.key) if new_key is None else [check_key(new_key)]
        for candidate in candidates:
            header = SessionHeader(key=candidate, created=now, forked_from=origin)
            try:
                self.store.fork(session.key, header, [*path, *checkpoints], [then])
            except SessionExists:
                if new_key is not None:
                    raise
            else:
                return candidate
        raise SessionExists("no free session key was found", advice=("Give one: --key KEY",))

    # --- changing: none of these needs the hold, so a running turn is not disturbed ---

    def rename(self, key: str, title: str) -> Session:
        """Give the session a title; it beats automatic ones for ever, and the old one still finds the session."""
        return self._set(key, SetEntry(id=new_id(), at=self._clock(), title=_checked_title(title), by="user"))

    def tag(self, key: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Session:
        """Add and remove tags. Raises UsageError for a tag with white space or nothing in it."""
        added = tuple(dict.fromkeys(_checked_tag(tag) for tag in add))
        removed = tuple(dict.fromkeys(_checked_tag(tag) for tag in remove))
        return self._set(key, SetEntry(id=new_id(), at=self._clock(), add_tags=added, remove_tags=removed))

    def archive(self, key: str) -> Session:
        """Put the session out of the usual list."""
        return self._set(key, SetEntry(id=new_id(), at=self._clock(), archived=True))

    def unarchive(self, key: str) -> Session:
        """Put it back."""
        return self._set(key, SetEntry(id=new_id(), at=self._clock(), archived=False))

    # --- removing ---

    def delete(self, key: str) -> TrashedSession:
        """Move the session to the trash. Raises SessionHeld while a turn runs in it, SessionNotFound."""
        if exact_key(key, self.store.keys()) is None:
            raise not_found(key, self.store.keys())
        return self.store.delete(key)

    def restore(self, name: str | None = None) -> str:
        """Bring back a deleted session (None: the one deleted last) by key, title or trash id; return its key.

        When the key is taken meanwhile, it comes back as a copy under a new key. Raises SessionNotFound.
        """
        trashed = self.store.trashed()
        found = [
            one for one in trashed if name is None or name in (one.trash_id, one.key) or name == one.title
        ]
        if not found:
            advice = (f"In the trash: {', '.join(one.key for one in trashed[:5])}",) if trashed else ()
            what = "the trash is empty" if not trashed else f"nothing in the trash is called {name!r}"
            raise SessionNotFound(what, advice=advice)
        newest = max(found, key=lambda one: one.deleted)
        try:
            return self.store.restore(newest.trash_id)
        except SessionExists:
            for candidate in self._fork_keys(newest.key, "restored"):
                try:
                    return self.store.restore(newest.trash_id, key=candidate)
                except SessionExists:
                    continue
            raise

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored, newest first."""
        return self.store.trashed()

    # --- inside ---

    def _open(self, key: str) -> tuple[Session, Cursor]:
        try:
            record, cursor = self.store.open(key)
        except SessionNotFound:
            raise not_found(key, self.store.keys()) from None
        return session_from(record), cursor

    def _set(self, key: str, entry: SetEntry) -> Session:
        session, cursor = self._open(key)
        tail = self.store.append(session.key, (entry,), cursor, exclusive=False)
        base = new_session(session.header) if tail.reloaded else session
        return fold(base, (*tail.entries, entry))

    def _fork_title(self, session: Session) -> str:
        """Return a title that no relative of `session` has: those whose keys begin alike, so that few are read."""
        stem = session.key.partition("-fork")[0].casefold()
        keys = self.store.keys()
        relatives = [key for key in keys if key.casefold().startswith(stem)]
        rows = [self.catalogue.summary(key) for key in relatives[:_RELATIVES]]
        taken = {row.title for row in rows if row is not None}
        return next(title for n in count(1) if (title := fork_title(session.title, n)) not in taken)

    def _new_keys(self) -> Sequence[str]:
        return [new_key(self._clock()) for _ in range(_TRIES)]

    def _fork_keys(self, key: str, word: str = "fork") -> Sequence[str]:
        """Return keys to try for a copy of `key`: `ticket-812-fork`, `ticket-812-fork2`, …, then any new one."""
        stem = key[:100].rstrip(".")
        keys = self.store.keys()
        taken = {one.casefold() for one in keys}
        names = [f"{stem}-{word}", *(f"{stem}-{word}{n}" for n in range(2, 1000))]
        return [name for name in names if name.casefold() not in taken][:_TRIES] + list(self._new_keys())


def _covered(checkpoint: CheckpointEntry, path: set[str]) -> bool:
    return checkpoint.covers in path and (checkpoint.kept_from is None or checkpoint.kept_from in path)


def _checked_title(title: str) -> str:
    cleaned = clean_title(title)
    if not cleaned:
        raise UsageError("a title can't be empty")
    if len(cleaned) > 1000:
        raise UsageError(f"a title has at most 1,000 characters; this one has {len(cleaned):,}")
    return cleaned


def _checked_tag(tag: str) -> str:
    cleaned = clean_title(tag).removeprefix("#")
    if not cleaned or " " in cleaned:
        raise UsageError(f"{tag!r} can't be a tag: a tag is one word")
    if len(cleaned) > 100:
        raise UsageError("a tag has at most 100 characters")
    return cleaned
