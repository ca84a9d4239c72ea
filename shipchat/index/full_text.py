"""Bringing the full text up to date, a few sessions at a time: only what was appended since, newest sessions first.

Any number of processes may do this at once. What is written is checked, in the same transaction, against what was
there when it was read; so nothing is indexed twice, and breaking off loses at most one batch.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from shipchat.core.search import IndexProgress
from shipchat.core.summaries import SessionSummary
from shipchat.formats.cached import BadCache, decode_row
from shipchat.formats.texts import IndexedText, texts_of
from shipchat.index.database import Database, transaction
from shipchat.index.directory import Files
from shipchat.index.faults import DamagedIndex
from shipchat.index.words import index_form

USER: Final = 0
ASSISTANT: Final = 1
TITLE: Final = 2

_BATCH_BYTES: Final = 2_000_000
_BATCH_SESSIONS: Final = 200
_STALE: Final = 20_000
"""Messages that are gone but whose words are still there, before the full text is made anew (if there are no more
that are alive)."""
_LEASE: Final = 5.0
"""Seconds for which one process builds while others wait for it."""


@dataclass(slots=True)
class _Job:
    """One session that is behind: `text_end` is where its text was left off (bytes; 0 nothing yet, -1 begin again)."""

    id: int
    name: str
    size: int
    changed: int
    text_end: int
    heading: str | None
    row: SessionSummary
    texts: list[IndexedText] = field(default_factory=list)
    read_to: int = 0
    more: bool = False


class FullText:
    """The words of all sessions. `database` is one for this object alone; the catalogue has its own."""

    def __init__(self, database: Database, root: Path) -> None:
        self._database = database
        self._root = root

    def progress(self) -> IndexProgress:
        """Return how many sessions are up to date. Raises IndexUnavailable."""
        return self._database.run(_progress)

    def catch_up(
        self,
        *,
        progress: Callable[[IndexProgress], None] | None = None,
        stop: Callable[[], bool] | None = None,
        until: float | None = None,
        alone: bool = False,
    ) -> IndexProgress:
        """Go on until nothing is missing, `stop` says so or `until` (monotonic seconds) has come.

        With `alone` it leaves the work to another process that is at it, if there is one. Raises IndexUnavailable,
        sqlite3.OperationalError (locked).
        """
        now = self.progress()
        if self._is_worn():
            self.begin_again()
            now = self.progress()
        while not now.complete:
            if (stop is not None and stop()) or (until is not None and time.monotonic() >= until):
                break
            if alone and not self._database.run(_take_lease):
                time.sleep(0.25)
                now = self.progress()
            else:
                self._step()
                now = self.progress()
            if progress is not None:
                progress(now)
        if alone:
            self._database.run(_give_lease)
        return now

    def begin_again(self) -> None:
        """Empty the full text, so that no word of what is gone remains; it is made anew by catching up."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
                connection.execute("DELETE FROM messages")
                connection.execute("UPDATE sessions SET text_end = 0, heading = NULL, pending = 1")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        self._database.run(work)

    def _is_worn(self) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            alive = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
            newest = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").fetchone()
            oldest = connection.execute("SELECT min(id) FROM messages").fetchone()[0]
            used = 0 if newest is None or oldest is None else newest[0] - oldest + 1
            return bool(used - alive > max(_STALE, alive))

        return self._database.run(work)

    def _step(self) -> None:
        """Bring a few sessions up to date, if any are behind."""
        jobs = self._database.run(_jobs)
        if not jobs:
            return
        done: list[_Job] = []
        read = 0
        with Files(self._root) as files:
            for job in jobs:
                _read(job, files)
                done.append(job)
                read += sum(text.length for text in job.texts)
                if read >= _BATCH_BYTES:
                    break

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                for job in done:
                    _write(connection, job)

        self._database.run(work)


def _progress(connection: sqlite3.Connection) -> IndexProgress:
    total = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    behind = connection.execute("SELECT count(*) FROM sessions WHERE pending").fetchone()[0]
    return IndexProgress(total - behind, total)


def _jobs(connection: sqlite3.Connection) -> list[_Job]:
    found = connection.execute(
        "SELECT id, name, size, changed, text_end, heading, row, checksum FROM sessions WHERE pending"
        " ORDER BY changed = 0 DESC, changed DESC LIMIT ?",
        (_BATCH_SESSIONS,),
    ).fetchall()
    try:
        return [_job(one) for one in found]
    except BadCache as error:
        raise DamagedIndex(str(error)) from error


def _job(found: tuple[Any, ...]) -> _Job:
    number, name, size, changed, text_end, heading, row, checksum = found
    return _Job(number, name, size, changed, text_end, heading, decode_row(row, checksum))


def _read(job: _Job, files: Files) -> None:
    """Read what the full text lacks of a session, a batch of it when that is much."""
    start = max(job.text_end, 0)
    job.read_to = start
    if job.size <= start:
        return
    data = files.read(job.name, start, job.size - start)
    if data is None:
        return
    read = 0
    for text in texts_of(data, job.name, start):
        if read >= _BATCH_BYTES:
            job.more = True
            break
        job.texts.append(text)
        read += text.length
        job.read_to = text.place + text.length


def _write(connection: sqlite3.Connection, job: _Job) -> None:
    same = connection.execute(
        "SELECT 1 FROM sessions WHERE id = ? AND size = ? AND changed = ? AND text_end = ? AND heading IS ?",
        (job.id, job.size, job.changed, job.text_end, job.heading),
    ).fetchone()
    if same is None:
        return  # another process was first, or the session has changed: its next turn will come
    if job.text_end < 0:
        connection.execute("DELETE FROM messages WHERE session = ?", (job.id,))
        job.heading = None
    _write_texts(connection, job)
    heading = heading_of(job.row)
    if heading != job.heading:
        connection.execute("DELETE FROM messages WHERE session = ? AND role = ?", (job.id, TITLE))
        _add(connection, job.id, (None, None, 0, TITLE, _seconds(job.row.updated.timestamp()), 0, 0), heading)
    connection.execute(
        "UPDATE sessions SET text_end = ?, heading = ?, pending = ? WHERE id = ?",
        (job.read_to, heading, job.more, job.id),
    )


def _write_texts(connection: sqlite3.Connection, job: _Job) -> None:
    if not job.texts:
        return
    known = _Known(connection, job.id, fresh=job.text_end <= 0)
    for text in job.texts:
        if known.has(text.id):
            continue
        parent, depth = known.place_of(text.parent)
        role = ASSISTANT if text.role == "assistant" else USER
        fields = (text.id, parent, depth + 1, role, _seconds(text.at.timestamp()), text.place, text.length)
        known.add(text.id, _add(connection, job.id, fields, text.text), depth + 1)


class _Known:
    """Which messages of a session are there, and how deep: of those stored earlier only the last is looked at first."""

    def __init__(self, connection: sqlite3.Connection, session: int, *, fresh: bool) -> None:
        self._connection = connection
        self._session = session
        self._places: dict[str, tuple[int, int]] = {}
        self._all = fresh
        if not fresh:
            self._remember("ORDER BY id DESC LIMIT 1")

    def has(self, message_id: str) -> bool:
        return message_id in self._places

    def add(self, message_id: str, row: int, depth: int) -> None:
        self._places[message_id] = (row, depth)

    def place_of(self, parent: str | None) -> tuple[int | None, int]:
        """Return the row and the depth of a parent; one that is not there counts as none."""
        if parent is None:
            return None, 0
        if parent not in self._places and not self._all:
            self._remember("")
            self._all = True
        return self._places.get(parent, (None, 0))

    def _remember(self, order: str) -> None:
        found = self._connection.execute(
            f"SELECT message, id, depth FROM messages WHERE session = ? AND role <> {TITLE} {order}",  # noqa: S608 -- ours
            (self._session,),
        )
        self._places = {message: (row, depth) for message, row, depth in found} | self._places


def _add(
    connection: sqlite3.Connection,
    session: int,
    fields: tuple[str | None, int | None, int, int, int, int, int],
    text: str,
) -> int:
    added = connection.execute(
        "INSERT INTO messages (session, message, parent, depth, role, at, place, length)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (session, *fields),
    )
    row = added.lastrowid or 0
    connection.execute("INSERT INTO words (rowid, text, pieces) VALUES (?, ?, ?)", (row, *index_form(text)))
    return row


def heading_of(row: SessionSummary) -> str:
    """Return what is found of a session besides its messages: its title, former titles and tags, a line each."""
    return "\n".join([row.title, *row.old_titles, *(f"#{tag}" for tag in row.tags)])


def _seconds(timestamp: float) -> int:
    return int(timestamp)


def _take_lease(connection: sqlite3.Connection) -> bool:
    """Return whether this process may build; others wait until it is done, or has not been heard of for a while."""
    with transaction(connection):
        found = connection.execute("SELECT value FROM meta WHERE name = 'builder'").fetchone()
        holder, _, until = ("" if found is None else str(found[0])).partition(" ")
        with contextlib.suppress(ValueError):
            remaining = float(until) - time.time()
            if holder != str(os.getpid()) and 0 < remaining <= _LEASE:
                return False
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('builder', ?)", (f"{os.getpid()} {time.time() + _LEASE}",)
        )
        return True


def _give_lease(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM meta WHERE name = 'builder' AND value LIKE ?", (f"{os.getpid()} %",))


def path_of(connection: sqlite3.Connection, session: int, head: str | None) -> Iterator[int]:
    """Yield the rows of the messages on the path that ends at the message `head`, from its end."""
    parents: dict[int, int | None] = {}
    at: int | None = None
    for row, message, parent in connection.execute(
        "SELECT id, message, parent FROM messages WHERE session = ? AND role <> ?", (session, TITLE)
    ):
        parents[row] = parent
        if message == head:
            at = row
    while at is not None:
        yield at
        at = parents.get(at)
