"""One writer at a time in a directory, across processes; what is written there is not its affair."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.1
_LOCK_NAME: Final = ".lock"

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextlib.contextmanager
def locked(directory: Path, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Hold the lock of `directory` for the block; make the directory (0700) when it is missing.

    `waiting` is called ten times a second while another process (or thread) has it; what it raises ends the
    waiting. The lock dies with its process. Its file is never removed: removing it would make two holders possible.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)  # not inherited: PEP 446
    try:
        while not _try_lock(descriptor):
            waiting()
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)
