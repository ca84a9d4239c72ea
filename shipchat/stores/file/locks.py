"""The two locks of a session: the hold (who runs a turn) and the write lock (who writes this instant).

Both are on permanent side files that are never removed or replaced, so that two processes can't lock two files of
one name. The holder's text in the hold file serves messages only; the lock alone decides.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from shipchat.core.errors import HolderInfo, SessionHeld, StoreUnavailable
from shipchat.stores.file.disk import FILE_MODE, OPEN_FLAGS, close, read_all, write_all
from shipchat.stores.file.flock import LockedFile, LocksUnsupported, try_lock
from shipchat.stores.file.layout import TEST_LOCK, Layout, not_saved, open_private

HOLD_PATIENCE: Final = 0.1
"""Seconds an acquirer of a hold tries again: longer than any probe, shorter than anybody notices."""
WRITE_PATIENCE: Final = 5.0
"""Seconds a writer waits for another writer, who needs milliseconds."""
_TEXT_LIMIT: Final = 4096


class FileHold:
    """A hold on one session, until released or the process dies."""

    def __init__(self, locked: LockedFile) -> None:
        self._locked = locked

    def release(self) -> None:
        """Give it up; twice is once. In a forked child it does nothing: the hold is the parent's."""
        descriptor = self._locked.descriptor
        if descriptor < 0:
            return
        if self._locked.is_ours:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
        self._locked.close()


class Locks:
    """The locks under one directory. `warning` says so when single-writer can't be promised there."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.warning: str | None = None
        self._tested = False

    def hold(self, key: str, program: str) -> FileHold:
        """Take the hold within 100 ms. Raises SessionHeld, StoreUnavailable."""
        path = self._layout.hold_lock(key)
        self._layout.make()
        self._test()
        descriptor = self._open(path)
        locked = LockedFile(descriptor)
        try:
            if not self._lock(descriptor, HOLD_PATIENCE):
                raise SessionHeld(key, _read_holder(descriptor))
        except BaseException:
            locked.forget()
            raise
        import socket  # 5 ms that a list need not wait for

        text = json.dumps(
            {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "since": datetime.now(UTC).isoformat(),
                "program": program,
            }
        )
        try:
            os.ftruncate(descriptor, 0)
            write_all(descriptor, text.encode(), 0)
        except OSError:
            with contextlib.suppress(OSError):  # a full disk: the lock is what counts, the text is a courtesy
                os.ftruncate(descriptor, 0)
        except BaseException:
            locked.close()
            raise
        return FileHold(locked)

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds the session now; a text that a killed holder left counts for nothing."""
        return self.probe(self._layout.hold_lock(key))

    def probe(self, path: str) -> HolderInfo | None:
        """Return who holds the lock on this hold file."""
        try:
            descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
        except OSError:
            return None
        try:
            holder = _read_holder(descriptor)
            if holder is None:
                return None
            # Shared and for an instant: an acquirer that meets it tries again within its 100 ms.
            try:
                free = try_lock(descriptor, shared=True)
            except LocksUnsupported:
                return holder if holder.pid == os.getpid() else None
            return None if free else holder
        finally:
            close(descriptor)

    def held(self) -> dict[str, HolderInfo]:
        """Return the holders of all held sessions, by case-folded key; looks only at files with a holder's text."""
        found: dict[str, HolderInfo] = {}
        with contextlib.suppress(OSError), os.scandir(self._layout.locks) as listed:
            for item in listed:
                with contextlib.suppress(OSError):
                    if item.name.endswith(".hold") and item.stat(follow_symlinks=False).st_size:
                        holder = self.probe(item.path)
                        if holder is not None:
                            found[item.name.removesuffix(".hold")] = holder
        return found

    @contextlib.contextmanager
    def writing(self, key: str, *, patience: float = WRITE_PATIENCE) -> Iterator[None]:
        """Hold the write lock of a session. Raises StoreUnavailable when it can't be had in time."""
        path = self._layout.write_lock(key)
        try:
            descriptor = open_private(path)
        except FileNotFoundError:
            self._layout.make()
            descriptor = self._open(path)
        except OSError as error:
            raise not_saved(error, path) from error
        locked = LockedFile(descriptor)
        try:
            if not self._lock(descriptor, patience):
                locked.forget()
                raise StoreUnavailable(
                    f"NOT SAVED: another process has been writing for {patience:.0f} s: {path}",
                    advice=("It is kept in memory and tried again.",),
                    details={"path": path, "reason": "write lock not had"},
                )
            yield
        finally:
            locked.close()

    @contextlib.contextmanager
    def reading(self, key: str) -> Iterator[bool]:
        """Keep writers away for an instant; gives False when one is writing now (or there are no locks)."""
        path = self._layout.write_lock(key)
        try:
            descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS, FILE_MODE)
        except OSError:
            yield True  # nobody ever wrote with this store: nobody writes now
            return
        locked = LockedFile(descriptor)
        try:
            try:
                yield try_lock(descriptor, shared=True)
            except LocksUnsupported:
                yield True
        finally:
            locked.close()

    def _open(self, path: str) -> int:
        try:
            return open_private(path)
        except OSError as error:
            raise not_saved(error, path) from error

    def _lock(self, descriptor: int, patience: float) -> bool:
        """Lock within `patience` seconds; on a file system without locks everybody gets it."""
        deadline = time.monotonic() + patience
        pause = 0.0002
        while True:
            try:
                if try_lock(descriptor):
                    return True
            except LocksUnsupported as error:
                self._warn(str(error))
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.004)

    def _test(self) -> None:
        """Find out once whether a lock here keeps a second one out; some network file systems only pretend."""
        if self._tested:
            return
        self._tested = True
        path = f"{self._layout.locks}{os.sep}{TEST_LOCK}{os.getpid()}.{os.urandom(4).hex()}"
        first = second = -1
        try:
            first, second = open_private(path), open_private(path)
            if try_lock(first) and try_lock(second):
                self._warn("a second lock was granted")
        except LocksUnsupported as error:
            self._warn(str(error))
        except OSError:
            self._tested = False
        finally:
            for descriptor in (first, second):
                if descriptor >= 0:
                    close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(path)

    def _warn(self, reason: str) -> None:
        self.warning = (
            f"this file system has no working locks ({reason}): two programs could run a turn in one session at once"
            f" in {self._layout.root}"
        )


def _read_holder(descriptor: int) -> HolderInfo | None:
    """Return what the holder wrote about itself, None when there is nothing (yet) or it makes no sense."""
    try:
        value = json.loads(read_all(descriptor, 0, _TEXT_LIMIT))
        pid, host, program = value["pid"], value["host"], value["program"]
        since = datetime.fromisoformat(value["since"])
        if isinstance(pid, int) and isinstance(host, str) and isinstance(program, str) and since.tzinfo:
            return HolderInfo(pid, host[:100], since, program[:100])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None
