"""A directory of sessions with an index beside it, and messages to put there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shipchat.core.entries import Entry, MessageEntry, SessionHeader, SessionRecord
from shipchat.core.messages import AssistantMessage, Part, TextPart, UserMessage
from shipchat.core.summaries import SessionSummary
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.index.search import SessionSearch
from shipchat.stores.file.store import FileSessionStore

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


def prompt(message_id: str, parent: str | None, text: str, minute: int = 0) -> Entry:
    return MessageEntry(
        message=UserMessage(
            id=message_id, parent=parent, at=START + timedelta(minutes=minute), parts=(TextPart(text),)
        )
    )


def reply(message_id: str, parent: str | None, text: str, *more: Part, minute: int = 0) -> Entry:
    return MessageEntry(
        message=AssistantMessage(
            id=message_id,
            parent=parent,
            at=START + timedelta(minutes=minute),
            parts=(TextPart(text), *more),
            model="local/smollm2",
            stop_reason="end_turn",
        )
    )


@dataclass
class Place:
    """Every `catalogue()` and `search()` is what a new process would have."""

    directory: Path

    @property
    def root(self) -> Path:
        return self.directory / "sessions"

    @property
    def path(self) -> Path:
        return self.directory / "cache" / "index.sqlite3"

    @property
    def store(self) -> FileSessionStore:
        return FileSessionStore(self.root)

    def put(self, key: str, entries: Sequence[Entry]) -> None:
        self.store.create(SessionRecord(SessionHeader(key=key, created=START), tuple(entries)))

    def append(self, key: str, *entries: Entry) -> None:
        store = self.store
        _, cursor = store.open(key)
        store.append(key, entries, cursor, exclusive=False)

    def file(self, key: str) -> Path:
        return self.root / f"{key}.json"

    def catalogue(self) -> IndexedCatalogue:
        return IndexedCatalogue(self.store, self.root, self.path)

    def search(self) -> SessionSearch:
        return SessionSearch(self.catalogue(), self.root)

    def plain(self) -> list[SessionSummary]:
        return by_key(self.store.summaries())

    def found(self, query: str) -> list[tuple[str, int | None]]:
        """Key and position of each hit, of a complete index, sorted."""
        search = self.search()
        try:
            result = search.search(query, patience=30.0, limit=100, per_session=None)
        finally:
            search.close()
        assert result.complete
        return sorted((hit.key, hit.position) for hit in result.hits if hit.role != "title")


def by_key(rows: object) -> list[SessionSummary]:
    assert hasattr(rows, "__iter__")
    return sorted(rows, key=lambda row: row.key)
