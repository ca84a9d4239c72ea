"""The trash of a session directory: deleted sessions with their drafts, which can be restored or erased."""

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from shipchat.core.errors import SessionNotFound, ShipchatError
from shipchat.core.keys import why_invalid
from shipchat.core.protocols import Hold
from shipchat.core.summaries import Damage, SessionSummary, TrashedSession
from shipchat.formats.summary import read_summary
from shipchat.stores.file.disk import read_all, remove, rename_new, sync_directory
from shipchat.stores.file.drafts import FileDrafts
from shipchat.stores.file.journal import session_exists
from shipchat.stores.file.layout import OPEN_FLAGS, Layout, not_saved, split_trash_id, trash_id
from shipchat.stores.file.locks import Locks

_DELETED: Final = ".deleted"
_SIDE: Final = re.compile(r"(?P<id>.+Z)\.(?P<kind>turn|turn\.live|unsent\.[0-9a-f]{12})")


class FileTrash:
    """Deleting that can be undone. `hold` takes the hold of a session, which both directions need."""

    def __init__(
        self, layout: Layout, locks: Locks, drafts: FileDrafts, hold: Callable[[str, str], Hold]
    ) -> None:
        self._layout = layout
        self._locks = locks
        self._drafts = drafts
        self._hold = hold

    def delete(self, key: str) -> TrashedSession:
        """Move the session (also a damaged one) and its drafts to the trash."""
        path = self._layout.session(key)
        if not os.path.lexists(path):
            raise SessionNotFound(f"there is no session {key}", details={"key": key})
        hold = self._hold(key, "shipchat delete")
        try:
            with self._locks.writing(key):
                name, deleted = self._free_id(key)
                target = self._layout.trashed(name, "deleted")
                try:
                    os.rename(path, target)
                    for source, kind in self._drafts.files(key):
                        rename_new(source, self._layout.trashed(name, kind))
                    sync_directory(self._layout.root)
                    sync_directory(self._layout.trash)
                except FileNotFoundError:
                    raise SessionNotFound(f"there is no session {key}", details={"key": key}) from None
                except OSError as error:
                    raise not_saved(error, path) from error
        finally:
            hold.release()
        return self._row(name, key, deleted)

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Bring it back, never over an existing session; return its key."""
        own, _ = self._known(trash_id)
        key = own if key is None else key
        source = self._layout.trashed(trash_id, "deleted")
        path = self._layout.session(key)
        hold = self._hold(key, "shipchat restore")
        try:
            with self._locks.writing(key):
                clash = self._layout.clash(key)
                if clash is not None:
                    raise session_exists(key, clash)
                try:
                    rename_new(source, path)
                    for name, kind in list(self._side_files(trash_id)):
                        rename_new(name, self._drafts.path_of(key, kind))
                    sync_directory(self._layout.root)
                except FileExistsError:
                    raise session_exists(key, key) from None
                except FileNotFoundError:
                    raise _not_in_trash(trash_id) from None
                except OSError as error:
                    raise not_saved(error, path) from error
        finally:
            hold.release()
        return key

    def erase(self, trash_id: str) -> None:
        """Remove it from the trash for good. Raises SessionNotFound."""
        self._known(trash_id)
        path = self._layout.trashed(trash_id, "deleted")
        try:
            for name, _ in list(self._side_files(trash_id)):
                remove(name)
            remove(path)
        except OSError as error:
            raise not_saved(error, path) from error

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored, newest first."""
        rows: list[TrashedSession] = []
        for name in self._names():
            if name.endswith(_DELETED):
                known = split_trash_id(name.removesuffix(_DELETED))
                if known is not None:
                    rows.append(self._row(name.removesuffix(_DELETED), *known))
        rows.sort(key=lambda row: (row.deleted, row.trash_id), reverse=True)
        return rows

    def _names(self) -> list[str]:
        try:
            return os.listdir(self._layout.trash)
        except OSError:
            return []

    def _side_files(self, name: str) -> Iterator[tuple[str, str]]:
        for listed in self._names():
            found = _SIDE.fullmatch(listed)
            if found is not None and found["id"] == name:
                yield f"{self._layout.trash}{os.sep}{listed}", found["kind"]

    def _free_id(self, key: str) -> tuple[str, datetime]:
        at = datetime.now(UTC)
        while os.path.lexists(self._layout.trashed(trash_id(key, at), "deleted")):
            at += timedelta(microseconds=1)
        return trash_id(key, at), at

    def _known(self, name: str) -> tuple[str, datetime]:
        known = split_trash_id(name)
        if known is None or not os.path.lexists(self._layout.trashed(name, "deleted")):
            raise _not_in_trash(name)
        return known

    def _row(self, name: str, key: str, deleted: datetime) -> TrashedSession:
        """Describe a deleted session; what can't be read still has its key and time."""
        path = self._layout.trashed(name, "deleted")
        summary: SessionSummary | Damage | None = None
        try:
            descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
            try:
                summary = read_summary(read_all(descriptor, 0, os.fstat(descriptor).st_size), key, path)
            finally:
                os.close(descriptor)
        except (OSError, ShipchatError, MemoryError):
            summary = None
        title, messages = (
            (summary.title, summary.messages) if isinstance(summary, SessionSummary) else (key, 0)
        )
        return TrashedSession(trash_id=name, key=key, title=title, deleted=deleted, messages=messages)


def _not_in_trash(name: str) -> SessionNotFound:
    shown = name[:200] if why_invalid(name[:100]) is None else repr(name[:60])
    return SessionNotFound(f"nothing in the trash is called {shown}", details={"trash_id": name[:200]})
