"""Files that are not there until they are whole: temporary ones, publishing them, sweeping what was left of others."""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from shipchat.stores.file.disk import (
    FILE_MODE,
    OPEN_FLAGS,
    close,
    rename_new,
    replace,
    sync,
    sync_directory,
    write_all,
)
from shipchat.stores.file.flock import LocksUnsupported, try_lock

TEMPORARY: Final = ".tmp"
"""How the names of temporary files end; they begin with a dot."""

_STALE_AFTER: Final = 3600.0
"""Seconds after which a temporary file is swept where locks can't tell whether its writer is gone."""
_TRIES: Final = 10
_WINDOWS: Final = sys.platform == "win32"


def publish_new(directory: Path, name: str, target: str, data: bytes) -> os.stat_result:
    """Make the durable file `target`; return its status. Raises FileExistsError, OSError."""
    with temporary(directory, name) as (descriptor, path):
        write_all(descriptor, data, 0)
        os.fsync(descriptor)
        status = os.fstat(descriptor)
        rename_new(path, target)
        try:
            sync_directory(directory)
        except OSError:
            with contextlib.suppress(OSError):  # what is called not saved must not be there
                os.unlink(target)
            raise
        return status


def publish_over(directory: Path, name: str, target: str, data: bytes, *, durable: bool) -> None:
    """Make or replace the file `target` in one step; `durable` waits for the disk. Raises OSError."""
    with temporary(directory, name) as (descriptor, path):
        write_all(descriptor, data, 0)
        if durable:
            sync(descriptor)
        replace(path, target)
        if durable:
            sync_directory(directory)


@contextlib.contextmanager
def temporary(directory: Path, name: str) -> Iterator[tuple[int, str]]:
    """Give a new private file with a unique name in `directory`; it is gone afterwards unless renamed away."""
    descriptor, path = new_temporary(directory, name)
    try:
        yield descriptor, path
    finally:
        close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(path)


def new_temporary(directory: Path, name: str) -> tuple[int, str]:
    """Make a private file with a unique name, locked, so that nobody sweeps it; the caller removes it. Raises OSError."""
    for _ in range(_TRIES):
        path = f"{directory}{os.sep}.{name[:100]}.{os.getpid()}.{os.urandom(6).hex()}{TEMPORARY}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, FILE_MODE)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, FILE_MODE)
            if _WINDOWS:
                return descriptor, path
            try:
                mine = try_lock(descriptor)
            except LocksUnsupported:
                return descriptor, path
            if mine and os.fstat(descriptor).st_nlink:
                return descriptor, path
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)
            close(descriptor)
            raise
        close(descriptor)  # somebody swept it in the instant before it was locked
    raise OSError(errno.EAGAIN, "temporary files are removed as soon as they are made", os.fspath(directory))


def sweep(path: str) -> None:
    """Remove a file that a writer left behind, unless it is locked: then its writer lives. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
    try:
        try:
            gone = not _WINDOWS and try_lock(descriptor)
        except LocksUnsupported:
            gone = False
        if gone or os.fstat(descriptor).st_mtime < time.time() - _STALE_AFTER:
            os.unlink(path)
    finally:
        close(descriptor)
