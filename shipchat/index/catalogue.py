"""The rows of a directory of sessions at the speed of an index, and never other than the files say.

Every look compares the directory with what is remembered and reads only what has changed; of a file that has grown,
only what was added. What is remembered is in memory and, for the next process, in SQLite; without SQLite it is read
from the files as the store does.
"""

import contextlib
import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from shipchat.core.errors import HolderInfo
from shipchat.core.keys import fold_key, why_invalid
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.formats.lines import CLOSING
from shipchat.formats.summary import extend_row, read_row
from shipchat.index.directory import Files, Print, look, look_at
from shipchat.index.faults import IndexUnavailable
from shipchat.index.stored_rows import FreshRow, StoredRow

if TYPE_CHECKING:
    from shipchat.index.row_table import RowTable

SMALL_COUNT: Final = 100
SMALL_BYTES: Final = 512 * 1024
"""So few sessions of so few bytes are read sooner (in under 10 ms) than SQLite is loaded and opened."""
_READ_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a file that are read here; a larger one is the store's affair, which has limits of its own."""
_BATCH: Final = 500


class RowSource(Protocol):
    """What is needed of a file store."""

    def keys(self) -> list[str]:
        """Return all keys."""
        ...

    def path(self, key: str) -> str:
        """Return the path of a session's file."""
        ...

    def row(self, name: str) -> SessionSummary | None:
        """Return the row of a file, waiting for an append in progress; None when it is gone."""
        ...

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield all rows the slow way."""
        ...

    def held(self) -> dict[str, HolderInfo]:
        """Return who holds what, by case-folded key."""
        ...

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds a session."""
        ...


@dataclass(slots=True)
class _Kept:
    """What is remembered, by name. Two dicts, because comparing one with the directory is then a single step."""

    prints: dict[str, Print] = field(default_factory=dict)
    rows: dict[str, SessionSummary] = field(default_factory=dict)

    def put(self, name: str, print_: Print, row: SessionSummary) -> None:
        self.prints[name] = print_
        self.rows[name] = row

    def drop(self, name: str) -> None:
        self.prints.pop(name, None)
        self.rows.pop(name, None)


class IndexedCatalogue:
    """Implements `core.protocols.Catalogue` over a file store; safe to use from several threads."""

    def __init__(self, store: RowSource, root: Path, path: Path) -> None:
        """`root` is the store's directory of sessions, `path` the SQLite file of the index."""
        self._store = store
        self._root = root
        self._guard = threading.RLock()
        self._kept: _Kept | None = None
        self._unsaved: dict[str, FreshRow] = {}
        self._gone: set[str] = set()
        self._path: Final = path
        self._opened: RowTable | None = None
        self.vanished: list[str] = []
        """Paths of session files that were here at an earlier look, and were removed by something else since."""

    @property
    def _table(self) -> "RowTable":
        """The rows in SQLite, which is loaded only when somebody needs it (7 ms)."""
        if self._opened is None:
            from shipchat.index.row_table import RowTable

            self._opened = RowTable(self._path, self._root)
        return self._opened

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._path

    @property
    def problem(self) -> str | None:
        """Why there is no index; None while there is one, or nobody needed it yet."""
        return None if self._opened is None else self._opened.problem

    @property
    def rebuilt(self) -> str | None:
        """Why the index was begun anew by this process, None when it was not."""
        return None if self._opened is None else self._opened.database.rebuilt

    def close(self) -> None:
        """Close what is open; it is opened again when need be."""
        if self._opened is not None:
            self._opened.database.close()

    # --- the catalogue ---

    def keys(self) -> list[str]:
        """Return all keys, damaged sessions included, without reading any file."""
        return self._store.keys()

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each session, damaged ones included. Raises StoreUnavailable."""
        return iter(self.rows())

    def rows(self) -> list[SessionSummary]:
        """Return a row for each session, damaged ones included. Raises StoreUnavailable."""
        seen = look(self._root)
        with self._guard:
            if self._kept is None and _is_small(seen):
                return list(self._store.summaries())
            with _no_collections():
                kept = self._brought_up_to(seen)
                rows = list(kept.rows.values())
        held = self._store.held()
        if held:
            rows = [_held_by(row, held) for row in rows]
        return rows

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none. Raises SessionKeyInvalid."""
        self._store.path(key)
        seen = look_at(self._root, key)
        if seen is None:
            return None
        with self._guard:
            same = self._kept is not None and seen[1] != 0 and self._kept.prints.get(key) == seen
            kept = self._kept.rows.get(key) if self._kept is not None and same else None
        row = kept if kept is not None else self._store.row(key)
        holder = None if row is None else self._store.holder(key)
        return row if row is None or holder is None else replace(row, holder=holder)

    def bring_up_to_date(self) -> dict[str, SessionSummary]:
        """Look at all files and write what has changed into the index, however small; return the rows by name.

        Raises IndexUnavailable, StoreUnavailable.
        """
        seen = look(self._root)
        with self._guard, _no_collections():
            if self._kept is not None and self._table.is_another():
                self._kept = None
                self._unsaved.clear()
                self._gone.clear()
            kept = self._brought_up_to(seen)
            if self.problem is not None:
                raise IndexUnavailable(self.problem)
            return dict(kept.rows)

    # --- inside ---

    def _brought_up_to(self, seen: dict[str, Print]) -> _Kept:
        """Return what is kept, as the directory says; a file is read at most once for each change of it."""
        if self._kept is None:
            self._kept = self._load()
        kept = self._kept
        if kept.prints != seen or any(print_[1] == 0 for print_ in seen.values()):
            prints = kept.prints
            gone = [name for name in prints if name not in seen]
            self.vanished += self._not_in_trash(gone)
            for name in gone:
                kept.drop(name)
                self._gone.add(name)
                self._unsaved.pop(name, None)
            # In the order of names, in which they cost SQLite least.
            changed = sorted(
                name for name, print_ in seen.items() if print_[1] == 0 or prints.get(name) != print_
            )
            with Files(self._root) as files:
                writable = self.problem is None
                for begin in range(0, len(changed), _BATCH):
                    self._read(changed[begin : begin + _BATCH], seen, kept, files)
                    # Whoever is kept waiting by another writer once does not wait again for each batch.
                    writable = writable and self._save()
            if not writable:
                return kept
        if self._unsaved or self._gone:
            self._save()
        return kept

    def _not_in_trash(self, gone: list[str]) -> list[str]:
        """Return the paths of files that went without having been deleted here."""
        if not gone:
            return []
        try:
            trashed = os.listdir(self._root / ".trash")
        except OSError:
            trashed = []
        deleted = {name.rsplit(".", 3)[0] for name in trashed if name.endswith(".deleted")}
        return [f"{self._root}{os.sep}{name}.json" for name in gone if name not in deleted]

    def _read(self, names: list[str], seen: dict[str, Print], kept: _Kept, files: Files) -> None:
        known = self._known(names)
        for name in names:
            stored = known.get(name)
            if stored is not None and stored.row is not None and stored.print == seen[name] and seen[name][1]:
                kept.put(name, stored.print, stored.row)  # another process was first
                continue
            fresh = self._fresh(files, name, seen[name], stored)
            if fresh is None:
                kept.drop(name)
                self._gone.add(name)
                continue
            before = self._unsaved.get(name)
            if before is not None and not before.same_text:
                fresh.same_text = False
            kept.put(name, fresh.print, fresh.row)
            self._unsaved[name] = fresh
            self._gone.discard(name)

    def _fresh(self, files: Files, name: str, print_: Print, stored: "StoredRow | None") -> FreshRow | None:
        """Read what is new of a file, or all of it; None when it is gone."""
        size, *_, inode = print_
        if not 0 <= size <= _READ_LIMIT or why_invalid(name) is not None:
            row = self._store.row(name)
            return None if row is None else FreshRow(name, print_, row, None, same_text=False)
        state = None if stored is None or stored.print[3] != inode else stored.state
        if state is not None and size > state.end + len(CLOSING):
            base = state.end - len(state.seal)
            tail = files.read(name, base, size - base)
            grown = None if tail is None else extend_row(state, tail, base)
            if tail is not None and grown is not None and grown.count > state.count:
                return FreshRow(name, print_, grown.summary(name, base + len(tail)), grown, same_text=True)
        data = files.read(name, 0, size)
        if data is not None:
            reading = read_row(data, name, f"{self._root}{os.sep}{name}.json")
            if not isinstance(reading, Damage) and reading.row.damage is None:
                same = (
                    state is not None
                    and len(data) > state.end + len(CLOSING)
                    and data.startswith(state.seal, state.end - len(state.seal))
                )
                return FreshRow(name, print_, reading.row, reading.state, same_text=same)
        row = self._store.row(name)
        return None if row is None else FreshRow(name, print_, row, None, same_text=False)

    # --- SQLite ---

    def _load(self) -> _Kept:
        loaded = self._table.load()
        if loaded is None:
            return _Kept()
        names, prints, rows = loaded
        return _Kept(dict(zip(names, prints, strict=True)), dict(zip(names, rows, strict=True)))

    def _known(self, names: list[str]) -> dict[str, StoredRow]:
        """Return what was read of these files before, by this process or another."""
        known = {}
        asked: list[str] = []
        for name in names:
            unsaved = self._unsaved.get(name)
            if unsaved is None:
                asked.append(name)
            else:
                known[name] = unsaved.as_stored()
        return known | self._table.known(asked)

    def _save(self) -> bool:
        """Write what has changed; False when that is for next time, because another process is writing."""
        if not self._table.save(self._gone, self._unsaved.values()):
            return False
        self._unsaved.clear()
        self._gone.clear()
        return True


def _is_small(seen: dict[str, Print]) -> bool:
    return len(seen) <= SMALL_COUNT and sum(print_[0] for print_ in seen.values()) <= SMALL_BYTES


def _held_by(row: SessionSummary, held: dict[str, HolderInfo]) -> SessionSummary:
    holder = held.get(fold_key(row.key))
    return row if holder is None else replace(row, holder=holder)


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Ten thousand rows stay: looking through them for garbage again and again costs as much as making them."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
