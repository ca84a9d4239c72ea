"""Which sessions there are: one row for each file, read without building messages; a bad file never stops the list."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from shipchat.core.errors import HolderInfo, SessionDamaged, SessionNotFound, StoreUnavailable
from shipchat.core.keys import fold_key, why_invalid
from shipchat.core.safe_text import without_surrogates
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.formats.summary import read_summary
from shipchat.stores.file.disk import close, read_all
from shipchat.stores.file.layout import SUFFIX, Layout
from shipchat.stores.file.locks import Locks
from shipchat.stores.file.session_file import SessionFiles

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a session whose own can't be read."""


class FileCatalogue:
    """The rows of one directory of sessions."""

    def __init__(self, layout: Layout, locks: Locks, files: SessionFiles) -> None:
        self._layout = layout
        self._locks = locks
        self._files = files

    def keys(self) -> list[str]:
        """Return all valid keys, without reading the files."""
        return self._layout.keys()

    def summaries(self) -> Iterator[SessionSummary]:
        """Yield a row for each file, damaged ones and misnamed ones included."""
        held = self._locks.held()
        for name in self._layout.names():
            row = self.row(name)
            if row is not None:
                holder = held.get(fold_key(name)) if held else None
                yield row if holder is None else replace(row, holder=holder)

    def row(self, name: str) -> SessionSummary | None:
        """Return the row of the file `name` (without `.json`), whoever holds it left open; None when it is gone."""
        reason = why_invalid(name)
        if reason is None:
            return self._row(name)
        path = without_surrogates(f"{self._layout.root}{os.sep}{name}{SUFFIX}")
        return _damaged_row(
            without_surrogates(name), Damage(path, 0, f"its name can't be a session key: {reason}")
        )

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none. Raises SessionKeyInvalid."""
        row = self._row(key)
        holder: HolderInfo | None = None if row is None else self._locks.holder(key)
        return row if row is None or holder is None else replace(row, holder=holder)

    def _row(self, key: str) -> SessionSummary | None:
        path = self._layout.session(key)
        try:
            data = self._read(key)
            row = read_summary(data, key, path)
            if isinstance(row, Damage) or row.damage is not None:
                # An append may be in progress: look again while writers are kept away.
                with self._locks.reading(key):
                    data = self._read(key)
                    row = read_summary(data, key, path)
        except SessionNotFound:
            return None
        except SessionDamaged as error:
            return _damaged_row(key, Damage(error.path, error.line, error.reason, error.code))
        except (OSError, StoreUnavailable) as error:
            return _damaged_row(key, Damage(path, 0, str(error)))
        except MemoryError:
            return _damaged_row(key, Damage(path, 0, "not enough memory to read it"))
        return _damaged_row(key, row, len(data)) if isinstance(row, Damage) else row

    def _read(self, key: str) -> bytes:
        descriptor, status = self._files.open(key)
        try:
            return read_all(descriptor, 0, status.st_size)
        finally:
            close(descriptor)


def _damaged_row(key: str, damage: Damage, size: int = 0) -> SessionSummary:
    return SessionSummary(key=key, title=key, created=EPOCH, updated=EPOCH, size=size, damage=damage)
