"""One advisory lock on an open file, on POSIX and on Windows; who waits and for how long is for `locks`."""

import contextlib
import errno
import os
import sys
import threading
import weakref
from typing import Final

_BUSY: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})


class LocksUnsupported(Exception):
    """The file system has no working locks."""


class LockedFile:
    """An open file that is locked as a whole. Closing it unlocks; the kernel does so when the process dies."""

    __slots__ = ("__weakref__", "_descriptor", "_guard", "_pid")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pid = os.getpid()
        self._guard = threading.Lock()
        _open.add(self)

    @property
    def descriptor(self) -> int:
        """The file's descriptor, -1 once closed."""
        return self._descriptor

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it, rather than a parent it was forked from."""
        return self._pid == os.getpid()

    def close(self) -> None:
        """Unlock and close; twice is once."""
        with self._guard:
            descriptor, self._descriptor = self._descriptor, -1
        _open.discard(self)
        if descriptor >= 0 and self.is_ours:
            _unlock(descriptor)
            _close(descriptor)

    def forget(self) -> None:
        """Close a forked child's copy. It must not unlock: that would free the parent's lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            _close(descriptor)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # it is closed all the same
        os.close(descriptor)


_open: "weakref.WeakSet[LockedFile]" = weakref.WeakSet()


def _forget_in_child() -> None:
    for locked in list(_open):
        locked.forget()
    _open.clear()


if sys.platform == "win32":
    import msvcrt

    # Far beyond any text, so that the text of the file can be read by whoever is refused.
    _OFFSET: Final = 1 << 30

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:  # noqa: ARG001 -- no shared locks there
        """Lock at once or return False."""
        os.lseek(descriptor, _OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise LocksUnsupported(error.strerror) from error
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        except OSError:
            return  # closing unlocks too

else:
    import fcntl

    os.register_at_fork(after_in_child=_forget_in_child)

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Lock at once or return False. Raises LocksUnsupported."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise LocksUnsupported(error.strerror or "no locks") from error
        return True

    def _unlock(descriptor: int) -> None:
        # Closing unlocks, but only when no forked child has a copy: so say it.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        except OSError:
            return
