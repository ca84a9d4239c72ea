"""Export and import of sessions of one store: the front of the modules beside this one."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from shipchat.core.entries import Entry, ForkOrigin, SessionRecord
from shipchat.core.errors import SessionExists, SessionNotFound, ShipchatError, UsageError
from shipchat.core.keys import check_key, fold_key, new_key, why_invalid
from shipchat.core.protocols import FullStore
from shipchat.core.session import Session, session_from
from shipchat.exchange.json_file import Imported, attachments_of, decode_export, encode_export
from shipchat.exchange.private_files import read_blob, read_file, write_blob, write_private

ExportKind: TypeAlias = Literal["markdown", "html", "json", "text"]

SUFFIXES: Final[dict[str, ExportKind]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".txt": "text",
}
_ENDINGS: Final[dict[ExportKind, str]] = {"markdown": ".md", "html": ".html", "json": ".json", "text": ".txt"}
_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session that was made of a file: its new key, the key it had, and what is not as it was, a sentence each."""

    key: str
    original: str
    title: str
    messages: int
    attachments: int
    notes: tuple[str, ...] = ()


class Exchange:
    """Takes sessions out of a store and into it. Blocking."""

    def __init__(
        self, store: FullStore, blobs: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`blobs` is the directory of attachments."""
        self._store = store
        self._blobs = blobs
        self._clock = clock

    # --- out ---

    def export(self, key: str, kind: ExportKind, *, also: Sequence[Entry] = ()) -> bytes:
        """Return the session as a file of this kind, in UTF-8.

        `also` are entries to add that are not stored yet (a reply in flight). Raises SessionNotFound, SessionDamaged.
        """
        record, _ = self._store.open(key)
        record = replace(record, entries=(*record.entries, *also))
        if kind == "json":
            found = {one: read_blob(self._blobs, one) for one in attachments_of(record.entries)}
            return encode_export(record, {one: data for one, data in found.items() if data is not None})
        return render(session_from(record), kind).encode("utf-8", "replace")

    def write(self, data: bytes, target: Path, *, force: bool = False) -> None:
        """Write an export, 0600. Raises UsageError when the file is there already, StoreUnavailable."""
        write_private(target, data, force=force)

    def target(self, key: str, given: Path, kind: ExportKind | None) -> tuple[Path, ExportKind]:
        """Return the path and the kind that `-o GIVEN` means: a directory gets a file named by the key.

        Titles name no files. Raises UsageError when the kind can't be told.
        """
        if given.is_dir() or str(given).endswith(os.sep):
            chosen: ExportKind = kind or "markdown"
            return given / f"{check_key(key)}{_ENDINGS[chosen]}", chosen
        by_name = SUFFIXES.get(given.suffix.lower())
        if kind is None and by_name is None:
            raise UsageError(
                f"{given.name!r} does not say what kind of file it is",
                advice=("End it in .md, .html, .json or .txt, or give --format.",),
                details={"path": str(given)},
            )
        return given, kind or cast("ExportKind", by_name)

    # --- in ---

    def read(self, path: Path) -> Imported:
        """Read a file without making anything. Raises UsageError (unreadable), ImportRefused."""
        return decode_export(read_file(path), str(path))

    def add(self, imported: Imported, *, renamed: dict[str, str] | None = None) -> ImportedSession:
        """Make a session of what was read, always under a new key.

        Nothing that is there is changed. `renamed` maps keys of this batch to the ones they got, and is added to, so
        that forks follow their parents. Raises StoreUnavailable.
        """
        record = imported.record
        original = record.key
        notes: list[str] = []
        header = replace(record.header, forked_from=self._origin(record, renamed or {}, notes))
        for sha256, data in imported.blobs.items():
            write_blob(self._blobs, sha256, data)
        missing = [one for one in attachments_of(record.entries) if one not in imported.blobs]
        missing = [one for one in missing if read_blob(self._blobs, one) is None]
        if missing:
            notes.append(f"{len(missing)} attachments were not in the file")
        key = self._create(SessionRecord(header, record.entries))
        if renamed is not None:
            renamed[original] = key
        session = session_from(SessionRecord(replace(header, key=key), record.entries))
        return ImportedSession(
            key, original, session.title, len(session.path), len(imported.blobs), tuple(notes)
        )

    def sweep_attachments(self, sessions: Path) -> int:
        """Remove attachments that no session under the directory `sessions`, its trash or its drafts refers to.

        Returns how many. Raises StoreUnavailable.
        """
        from shipchat.exchange.attachments import sweep_unused

        return sweep_unused(self._blobs, sessions)

    def _create(self, record: SessionRecord) -> str:
        keys = self._store.keys()
        taken = {fold_key(key) for key in keys}
        own = record.key
        # Never its own key, even where that is free: whoever sends to a session by its key must not end up in one
        # that came in a file.
        stem = own[:100].rstrip(".") if why_invalid(own) is None else ""
        names = [f"{stem}-imported", *(f"{stem}-imported{n}" for n in range(2, 1000))] if stem else []
        candidates = [one for one in names if fold_key(one) not in taken][:_TRIES]
        candidates += [new_key(self._clock()) for _ in range(_TRIES)]
        for candidate in candidates:
            try:
                self._store.create(replace(record, header=replace(record.header, key=candidate)))
            except SessionExists:
                continue
            return candidate
        raise SessionExists("no free session key was found", advice=("Try again.",))

    def _origin(self, record: SessionRecord, renamed: dict[str, str], notes: list[str]) -> ForkOrigin | None:
        """Return where the session was forked from, unless a session here only happens to have that key."""
        origin = record.header.forked_from
        if origin is None:
            return None
        if origin.key in renamed:
            return replace(origin, key=renamed[origin.key])
        try:
            parent, _ = self._store.open(origin.key)
        except (SessionNotFound, ShipchatError):
            return origin
        if origin.message is None or origin.message in {entry.id for entry in parent.entries}:
            return origin
        notes.append(f"the session {origin.key} here is another than the one it was forked from")
        return None


def render(session: Session, kind: ExportKind) -> str:
    """Return a session as text of this kind. Raises ValueError for JSON, which needs more than the session."""
    match kind:
        case "markdown":
            from shipchat.exchange.markdown import markdown_of

            return markdown_of(session)
        case "html":
            from shipchat.exchange.html import html_of

            return html_of(session)
        case "text":
            from shipchat.exchange.plain import text_of

            return text_of(session)
        case _:
            raise ValueError(f"no text of kind {kind}")
