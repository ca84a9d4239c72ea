"""Writing files for the user, private and never over one that is there, and reading blobs; nothing about sessions."""

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Final

from shipchat.core.errors import StoreUnavailable, UsageError

READ_LIMIT: Final = 1 << 30
"""Bytes of a file to import, or of an attachment, at most."""
_MODE: Final = 0o600


def write_private(path: Path, data: bytes, *, force: bool = False) -> None:
    """Make the file `path`, 0600, whole or not at all. Raises UsageError when it is there (without `force`),
    StoreUnavailable.
    """
    directory = path.parent
    temporary = directory / f".{path.name[:80]}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _no_follow(), _MODE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), _MODE)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if force:
                os.replace(temporary, path)
            else:
                _publish(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    except FileExistsError:
        raise UsageError(
            f"{path} exists already",
            advice=("Choose another name, or write over it with --force.",),
            details={"path": str(path)},
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreUnavailable(
            f"NOT SAVED: {reason}: {path}", details={"path": str(path), "reason": reason}
        ) from error


def _publish(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(temporary, path)


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises UsageError with the reason."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise _unreadable(path, (error.strerror or "unreadable").lower()) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, "not a regular file")
        if status.st_size > READ_LIMIT:
            raise _unreadable(path, f"over {READ_LIMIT >> 30} GiB")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise _unreadable(path, (error.strerror or "unreadable").lower()) from error
    finally:
        os.close(descriptor)


def _unreadable(path: Path, reason: str) -> UsageError:
    return UsageError(f"{path} can't be read: {reason}", details={"path": str(path), "reason": reason})


def read_blob(directory: Path, sha256: str) -> bytes | None:
    """Return the bytes of a blob, None when it is not there or not what its name says."""
    try:
        descriptor = os.open(directory / sha256, os.O_RDONLY | _no_follow() | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(READ_LIMIT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data if hashlib.sha256(data).hexdigest() == sha256 else None


def write_blob(directory: Path, sha256: str, data: bytes) -> None:
    """Keep a blob whose hash has been checked; one that is there stays. Raises StoreUnavailable."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StoreUnavailable(f"NOT SAVED: {reason}: {directory}", details={"reason": reason}) from error
    if read_blob(directory, sha256) is None:
        write_private(directory / sha256, data, force=True)


def _no_follow() -> int:
    return int(getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
