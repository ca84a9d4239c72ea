"""Searching all sessions: ranks what the full text finds, and shows of it only what the files still say."""

import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from shipchat.core.errors import StoreUnavailable
from shipchat.core.search import HitRole, IndexProgress, IndexState, SearchHit, SearchResult
from shipchat.core.summaries import SessionSummary
from shipchat.formats.texts import text_at
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.index.database import Database, is_busy
from shipchat.index.directory import Files
from shipchat.index.faults import IndexUnavailable
from shipchat.index.full_text import ASSISTANT, TITLE, USER, FullText, heading_of, path_of
from shipchat.index.snippets import snippet
from shipchat.index.words import Term, match_expression, parse_query, widened

FRESH: Final = 1.0
"""Seconds for which a look at the directory counts: a search for each key pressed need not look each time."""
NO_FTS5: Final = "this Python's SQLite has no full-text search (FTS5)"
_PAUSE: Final = 0.02
"""Seconds between two tries while another process writes."""
_COMMON: Final = 20_000
"""Messages that are ranked; of a word that more have, the newest and the oldest so many are (0.1 s)."""
_RANKED: Final = 400
"""Best matches that recency may reorder."""
_HALF_LIFE: Final = 30 * 86_400.0
"""Seconds after which a message's recency counts half."""

_RANK: Final = "bm25(words, 4.0, 1.0)"
_MATCHES: Final = f"""
SELECT m.id, m.session, m.message, m.depth, m.role, m.at, m.place, m.length, s.name, {_RANK}
FROM words JOIN messages m ON m.id = words.rowid JOIN sessions s ON s.id = m.session WHERE words MATCH ?
"""  # noqa: S608 -- a constant

_ROLES: Final[dict[int, HitRole]] = {USER: "user", ASSISTANT: "assistant", TITLE: "title"}
_NUMBERS: Final = {role: number for number, role in _ROLES.items()}


@dataclass(frozen=True, slots=True)
class _Match:
    row: int
    session: int
    message: str | None
    depth: int
    role: int
    at: int
    place: int
    length: int
    name: str
    rank: float

    def score(self, now: float, *, titled: bool) -> float:
        """Return how good it is: its words first (bm25, negative in FTS5), then how new it is.

        In a session whose title matches as well (`titled`) it counts more.
        """
        recency: float = 0.5 ** (max(now - self.at, 0.0) / _HALF_LIFE)
        return -self.rank * (1.0 + 0.5 * recency) * (1.5 if titled else 1.0)


@dataclass(frozen=True, slots=True)
class _Filter:
    tags: tuple[str, ...]
    archived: bool | None
    role: HitRole | None
    since: datetime | None

    def sql(self) -> tuple[str, list[Any]]:
        clauses: list[str] = []
        values: list[Any] = []
        for tag in self.tags:
            clauses.append("instr(s.tags, ?) > 0")
            values.append(f" {tag} ")
        if self.archived is not None:
            clauses.append("s.archived = ?")
            values.append(self.archived)
        if self.role is not None:
            clauses.append("m.role = ?")
            values.append(_NUMBERS[self.role])
        if self.since is not None:
            clauses.append("m.at >= ?")
            values.append(int(self.since.timestamp()))
        return "".join(f" AND {clause}" for clause in clauses), values


class SessionSearch:
    """Implements `core.protocols.Search` over the index of a file store; safe to use from several threads."""

    def __init__(self, catalogue: IndexedCatalogue, root: Path) -> None:
        self._catalogue = catalogue
        self._root = root
        path = catalogue.path
        self._database = Database(path, root, patience=2.0)
        self._full_text = FullText(self._database, root)
        self._guard = threading.Lock()
        self._rows: dict[str, SessionSummary] = {}
        self._looked = -math.inf

    # --- the port ---

    def search(
        self,
        query: str,
        *,
        tags: Sequence[str] = (),
        archived: bool | None = None,
        role: HitRole | None = None,
        since: datetime | None = None,
        limit: int = 20,
        per_session: int | None = 3,
        prefix_last: bool = False,
        patience: float = 0.3,
    ) -> SearchResult:
        """Return what matches; see `core.protocols.Search`. Raises StoreUnavailable."""
        terms = parse_query(query, prefix_last=prefix_last)
        if not self._root.is_dir():
            return SearchResult()  # nothing was ever said: no reason to make an index
        try:
            progress = self._prepare(patience)
            if not terms:
                return SearchResult(complete=progress.complete, missing=progress.total - progress.done)
            chosen = _Filter(tuple(tags), archived, role, since)
            found = self._found(terms, chosen)
            wider = False
            if not found and (beginnings := widened(terms)) != terms:
                terms = beginnings
                found = self._found(terms, chosen)
                wider = bool(found)
            hits, more = self._hits(found, terms, limit, per_session)
        except (IndexUnavailable, sqlite3.OperationalError) as error:
            raise _no_search(error) from error
        return SearchResult(
            hits=tuple(hits),
            complete=progress.complete,
            missing=progress.total - progress.done,
            more=more,
            widened=wider,
        )

    def catch_up(
        self,
        *,
        progress: Callable[[IndexProgress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> IndexProgress:
        """Bring everything up to date; see `core.protocols.Search`. Raises StoreUnavailable."""
        background = Database(self._database.path, self._root, patience=10.0)
        try:
            self._look(force=True)
            if not self._database.searchable:
                raise IndexUnavailable(NO_FTS5)
            return FullText(background, self._root).catch_up(progress=progress, stop=stop, alone=True)
        except (IndexUnavailable, sqlite3.OperationalError) as error:
            raise _no_search(error) from error
        finally:
            background.close()

    def forget(self) -> None:
        """Erase every word of sessions that are gone; the full text of the others is made anew by and by.

        Raises StoreUnavailable when the index can neither be emptied nor removed.
        """
        if not self._database.path.exists():
            return
        try:
            self._look(force=True)
            self._full_text.begin_again()
        except IndexUnavailable as error:
            raise _no_search(error) from error
        except sqlite3.OperationalError as error:
            raise _no_search(error) from error

    def state(self) -> IndexState:
        """Return what there is to say about the index."""
        path = self._database.path
        if not self._root.is_dir():
            return IndexState(path=str(path))
        try:
            self._look(force=True)
            progress = self._full_text.progress()
            problem = (
                None if self._database.searchable else "this Python's SQLite has no full-text search (FTS5)"
            )
        except (IndexUnavailable, sqlite3.OperationalError, StoreUnavailable) as error:
            return IndexState(path=str(path), problem=str(error))
        rebuilt = self._database.rebuilt or self._catalogue.rebuilt
        size = path.stat().st_size if path.exists() else 0
        return IndexState(
            path=str(path),
            problem=problem,
            size=size,
            sessions=progress.total,
            progress=progress,
            rebuilt=rebuilt,
        )

    def close(self) -> None:
        """Close the connections; they are opened again when need be."""
        self._database.close()
        self._catalogue.close()

    # --- inside ---

    def _look(self, *, force: bool = False) -> None:
        with self._guard:
            if force or time.monotonic() - self._looked > FRESH:
                self._rows = self._catalogue.bring_up_to_date()
                self._looked = time.monotonic()

    def _prepare(self, patience: float) -> IndexProgress:
        """Look what has changed and bring the newest of it up to date within `patience` seconds."""
        until = time.monotonic() + patience
        self._look()
        while True:
            now = self._full_text.progress()
            if not self._database.searchable:
                raise IndexUnavailable(NO_FTS5)
            try:
                if not now.complete:
                    now = self._full_text.catch_up(until=until)
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
            lacking = len(self._rows) - now.total  # kept from being written by another process
            if (lacking <= 0 and now.complete) or time.monotonic() >= until:
                return IndexProgress(now.done, max(now.total, len(self._rows)))
            time.sleep(_PAUSE)
            self._look(force=lacking > 0)

    def _found(self, terms: tuple[Term, ...], chosen: _Filter) -> list[_Match]:
        expression = match_expression(terms)
        clauses, values = chosen.sql()

        def work(connection: sqlite3.Connection) -> list[_Match]:
            span = _span(connection, expression)
            found = [
                _Match(*row)
                for row in connection.execute(
                    f"{_MATCHES}{span}{clauses} ORDER BY {_RANK} LIMIT {_RANKED}", (expression, *values)
                )
            ]
            now = time.time()
            titled = {match.session for match in found if match.role == TITLE}
            found.sort(
                key=lambda match: (match.score(now, titled=match.session in titled), match.row), reverse=True
            )
            return found

        try:
            return self._database.run(work)
        except IndexUnavailable as error:
            if "fts5" in str(error):  # a query that FTS5 can make nothing of
                return []
            raise

    def _hits(
        self, found: Sequence[_Match], terms: tuple[Term, ...], limit: int, per_session: int | None
    ) -> tuple[list[SearchHit], bool]:
        hits: list[SearchHit] = []
        shown: dict[int, int] = {}
        # A title is a hit of its own only where no message of the session is one: mostly it is the first prompt again.
        said = {match.session for match in found if match.role != TITLE}
        for match in found:
            if match.role == TITLE and match.session in said:
                continue
            if per_session is not None and shown.get(match.session, 0) >= per_session:
                continue
            hit = self._hit(match, terms)
            if hit is None:
                continue
            if len(hits) == limit:
                return hits, True
            hits.append(hit)
            shown[match.session] = shown.get(match.session, 0) + 1
        return hits, len(found) == _RANKED

    def _hit(self, match: _Match, terms: tuple[Term, ...]) -> SearchHit | None:
        """Return a match as a hit; None when the files say something else by now."""
        row = self._rows.get(match.name)
        if row is None:
            return None
        hit = SearchHit(
            key=row.key,
            title=row.title,
            role=_ROLES[match.role],
            at=datetime.fromtimestamp(match.at, UTC),
            snippet="",
            archived=row.archived,
            tags=row.tags,
            score=-match.rank,
        )
        if match.role == TITLE:
            text, marks = snippet(heading_of(row).replace("\n", " · "), terms)
            return replace(hit, snippet=text, marks=marks)
        line = Files(self._root).span(match.name, match.place, match.length)
        said = None if line is None else text_at(line)
        if said is None or said[0] != match.message:
            return None
        text, marks = snippet(said[1], terms)
        on_path, branch = self._database.run(lambda connection: _branch(connection, match, row))
        return replace(
            hit,
            snippet=text,
            marks=marks,
            message_id=match.message,
            position=match.depth,
            on_path=on_path,
            branch=branch,
        )


def _span(connection: sqlite3.Connection, expression: str) -> str:
    """Return a condition that leaves the newest and the oldest matches of a word that very many messages have."""
    sides = []
    for order, sign in (("DESC", ">="), ("ASC", "<=")):
        edge = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid {order} LIMIT 1 OFFSET ?",  # noqa: S608 -- ours
            (expression, _COMMON // 2),
        ).fetchone()
        if edge is None:
            return ""
        sides.append(f"words.rowid {sign} {int(edge[0])}")
    return f" AND ({' OR '.join(sides)})"


def _branch(connection: sqlite3.Connection, match: _Match, row: SessionSummary) -> tuple[bool, str | None]:
    """Return whether a message is on the current path, and if not, the message at the end of its branch."""
    count = connection.execute(
        f"SELECT count(*) FROM messages WHERE session = ? AND role <> {TITLE}",  # noqa: S608 -- a constant
        (match.session,),
    ).fetchone()[0]
    if count == row.messages:  # no branches: every message is on the path
        return True, None
    from shipchat.formats.cached import decode_state

    found = connection.execute("SELECT state FROM sessions WHERE id = ?", (match.session,)).fetchone()
    state = None if found is None else decode_state(found[0])
    if state is None or match.row in set(path_of(connection, match.session, state.head)):
        return True, None
    end = connection.execute(
        "WITH RECURSIVE below (id) AS (SELECT ? UNION ALL SELECT m.id FROM messages m JOIN below ON m.parent = below.id"
        " WHERE m.session = ?) SELECT message FROM messages WHERE id = (SELECT max(id) FROM below)",
        (match.row, match.session),
    ).fetchone()
    return False, None if end is None else end[0]


def _no_search(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"there can be no search: {error}",
        advice=("The sessions themselves are fine. See: shipchat doctor",),
        details={"reason": str(error)},
    )
