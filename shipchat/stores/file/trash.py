"""The trash of a session directory: deleted sessions with their drafts, which can be restored or erased."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from shipchat.core.errors import SessionNotFound, ShipchatError, StoreUnavailable
from shipchat.core.keys import fold_key, why_invalid
from shipchat.core.protocols import Hold
from shipchat.core.summaries import Damage, SessionSummary, TrashedSession
from shipchat.formats.summary import read_summary
from shipchat.stores.file.disk import (
    NO_LINKS,
    OPEN_FLAGS,
    close,
    read_all,
    remove,
    rename_new,
    sync_directory,
)
from shipchat.stores.file.drafts import FileDrafts
from shipchat.stores.file.journal import session_exists
from shipchat.stores.file.layout import Layout, not_saved, split_trash_id, trash_id
from shipchat.stores.file.locks import Locks

_DELETED: Final = ".deleted"
_SIDE: Final = re.compile(r"(?P<id>.+Z)\.(?P<kind>turn|turn\.live|unsent\.[0-9a-f]{12})")

_OF: Final = re.compile(r"(?P<key>.+)\.\d{8}T\d{6}\.\d{6}Z\..+")


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
        if not self._layout.exists(path):
            raise SessionNotFound(f"there is no session {key}", details={"key": key})
        hold = self._hold(key, "shipchat delete")
        try:
            with self._locks.writing(key):
                name, deleted = self._free_id(key)
                try:
                    drafts = [
                        (one, self._layout.trashed(name, kind)) for one, kind in self._drafts.files(key)
                    ]
                    self._move(path, self._layout.trashed(name, "deleted"), drafts)
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
            with contextlib.ExitStack() as locked:
                # Both, so that nobody settles what is half done; in one order, so that two can't wait for each other.
                for one in sorted({fold_key(key), fold_key(own)}):
                    locked.enter_context(self._locks.writing(one))
                clash = self._layout.clash(key)
                if clash is not None:
                    raise session_exists(key, clash)
                drafts = [(one, self._drafts.path_of(key, kind)) for one, kind in self._side_files(trash_id)]
                try:
                    self._move(source, path, drafts)
                except FileNotFoundError:
                    raise _not_in_trash(trash_id) from None
                except OSError as error:
                    raise not_saved(error, path) from error
        finally:
            hold.release()
        return key

    def _move(self, source: str, target: str, drafts: Sequence[tuple[str, str]]) -> None:
        """Rename a session, which is the instant it is moved, and its drafts with it. Raises OSError: not moved.

        The drafts get their new names before that instant and lose the old ones after it; `settle` ends what a crash
        in between left.
        """
        linked: list[str] = []
        try:
            for old, new in drafts:
                try:
                    os.link(old, new, follow_symlinks=False)
                except (FileExistsError, FileNotFoundError):
                    continue  # never over another one
                except (OSError, NotImplementedError) as error:
                    if isinstance(error, OSError) and error.errno not in NO_LINKS:
                        raise
                    continue
                linked.append(new)
            for directory in {os.path.dirname(new) for new in linked}:
                sync_directory(directory)  # a power cut must not keep the move and lose these
            os.rename(source, target)
            try:
                sync_directory(self._layout.root)
                sync_directory(self._layout.trash)
                if drafts:
                    sync_directory(self._layout.drafts)
            except OSError:
                try:
                    os.rename(target, source)
                except OSError:
                    linked.clear()  # it stays moved, so its drafts must stay with it
                raise
        except OSError:
            for new in linked:
                with contextlib.suppress(OSError):
                    os.unlink(new)
            raise
        for old, new in drafts:
            with contextlib.suppress(OSError):
                if new in linked or os.path.samestat(os.lstat(old), os.lstat(new)):
                    os.unlink(old)
                    continue
            with contextlib.suppress(OSError):  # without links: at worst it stays where it was
                rename_new(old, new)

    def settle(self) -> None:
        """End the moves of drafts that a crash broke off: each has two names, and one of them is left."""
        with contextlib.suppress(OSError, ShipchatError):
            twice = {
                (item.stat(follow_symlinks=False).st_dev, item.stat(follow_symlinks=False).st_ino): item.path
                for item in os.scandir(self._layout.drafts)
                if item.stat(follow_symlinks=False).st_nlink > 1
            }
            for name in self._names() if twice else ():
                side, known = _SIDE.fullmatch(name), split_trash_id(name.partition("Z.")[0] + "Z")
                if side is None or known is None:
                    continue
                path = f"{self._layout.trash}{os.sep}{name}"
                with contextlib.suppress(OSError, ShipchatError), self._locks.writing(known[0], patience=0):
                    status = os.lstat(path)
                    other = twice.get((status.st_dev, status.st_ino))
                    if other is not None and os.path.samestat(status, os.lstat(other)):
                        deleted = self._layout.exists(self._layout.trashed(side["id"], "deleted"))
                        os.unlink(other if deleted else path)

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

    def purge(self, key: str) -> list[str]:
        """Remove a session, its drafts and everything of it in the trash, copies of damaged files included.

        Returns the paths removed. The files that are locked stay, empty: they are never removed.
        """
        hold = self._hold(key, "shipchat purge")
        try:
            with self._locks.writing(key):
                try:
                    paths = [path for path, _ in self._drafts.files(key)]
                except OSError as error:
                    raise not_saved(error, self._layout.drafts) from error
                paths += [
                    f"{self._layout.trash}{os.sep}{name}" for name in self._names() if _is_of(name, key)
                ]
                path = self._layout.session(key)
                if self._layout.exists(path):
                    paths.append(path)  # last: as long as something is left, it is found again
                for one in paths:
                    try:
                        remove(one)
                    except OSError as error:
                        raise not_saved(error, one) from error
                for directory in (self._layout.drafts, self._layout.trash, self._layout.root):
                    try:
                        sync_directory(directory)
                    except OSError as error:
                        raise not_saved(error, directory) from error
        finally:
            hold.release()
        return paths

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
        except FileNotFoundError:
            return []
        except OSError as error:
            reason = error.strerror or "failed"
            raise StoreUnavailable(
                f"the trash can't be listed: {reason}: {self._layout.trash}",
                details={"path": str(self._layout.trash), "reason": reason},
            ) from error

    def _side_files(self, name: str) -> Iterator[tuple[str, str]]:
        for listed in self._names():
            found = _SIDE.fullmatch(listed)
            if found is not None and found["id"] == name:
                yield f"{self._layout.trash}{os.sep}{listed}", found["kind"]

    def _free_id(self, key: str) -> tuple[str, datetime]:
        at = datetime.now(UTC)
        while self._layout.exists(self._layout.trashed(trash_id(key, at), "deleted")):
            at += timedelta(microseconds=1)
        return trash_id(key, at), at

    def _known(self, name: str) -> tuple[str, datetime]:
        known = split_trash_id(name)
        if known is None or not self._layout.exists(self._layout.trashed(name, "deleted")):
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
                close(descriptor)
        except (OSError, ShipchatError, MemoryError):
            summary = None
        title, messages = (
            (summary.title, summary.messages) if isinstance(summary, SessionSummary) else (key, 0)
        )
        return TrashedSession(trash_id=name, key=key, title=title, deleted=deleted, messages=messages)


def _is_of(name: str, key: str) -> bool:
    """Return whether the file `name` of the trash is of the session `key`: `<key>.<time>.<kind>`."""
    found = _OF.fullmatch(name)
    return found is not None and found["key"] == key


def _not_in_trash(name: str) -> SessionNotFound:
    shown = name[:200] if why_invalid(name[:100]) is None else repr(name[:60])
    return SessionNotFound(f"nothing in the trash is called {shown}", details={"trash_id": name[:200]})
