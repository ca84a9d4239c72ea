"""Bytes to the disk and back: whole writes, making them durable, names that clobber nothing."""

import contextlib
import errno
import os
import sys
import time
from typing import Final

FILE_MODE: Final = 0o600

# Read by everything that opens a file of ours: never through a symbolic link, never waiting for a FIFO's other end.
OPEN_FLAGS: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
) | getattr(os, "O_BINARY", 0)

_WINDOWS: Final = sys.platform == "win32"
_REPLACE_TRIES: Final = 6
"""Attempts at a rename that a virus scanner or an indexer on Windows keeps refusing; about 0.6 s together."""

NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EXDEV, errno.EACCES}
)
"""What a file system without hard links answers when asked for one."""


def read_all(descriptor: int, start: int, size: int) -> bytes:
    """Return up to `size` bytes from `start` on. Raises OSError."""
    if not hasattr(os, "pread"):
        os.lseek(descriptor, start, os.SEEK_SET)
    chunks: list[bytes] = []
    while size > 0:
        chunk = os.pread(descriptor, size, start) if hasattr(os, "pread") else os.read(descriptor, size)
        if not chunk:
            break
        chunks.append(chunk)
        start += len(chunk)
        size -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def write_all(descriptor: int, data: bytes, start: int) -> None:
    """Write all of `data` at `start`, going on after short writes. Raises OSError."""
    view = memoryview(data)
    if not hasattr(os, "pwrite"):
        os.lseek(descriptor, start, os.SEEK_SET)
    while view:
        written = os.pwrite(descriptor, view, start) if hasattr(os, "pwrite") else os.write(descriptor, view)
        if written == 0:
            raise OSError(errno.EIO, "nothing was written")
        view = view[written:]
        start += written


def sync(descriptor: int) -> None:
    """Wait until the bytes and the length of a file are on the disk. Raises OSError."""
    # The length is data to fdatasync; only times are left out, and those are never read.
    if hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def sync_directory(directory: str | os.PathLike[str]) -> None:
    """Wait until the names in a directory are on the disk (nothing to do on Windows). Raises OSError."""
    if _WINDOWS:
        return
    descriptor = os.open(directory, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems have no such thing
            raise
    finally:
        close(descriptor)


def replace(source: str, target: str) -> None:
    """Rename over `target`; on Windows try again while another program has it open. Raises OSError."""
    for attempt in range(_REPLACE_TRIES):
        try:
            os.replace(source, target)
        except PermissionError:
            if not _WINDOWS or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(0.02 * 2**attempt)
        else:
            return


def rename_new(source: str, target: str) -> None:
    """Rename `source` to `target`, never over a file that is there. Raises FileExistsError, OSError."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:
        # Directories and file systems without links: the callers hold the write lock of the name.
        if isinstance(error, OSError) and error.errno not in NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        replace(source, target)
    else:
        with contextlib.suppress(OSError):  # the file has its name: its old one is swept later
            os.unlink(source)


def close(descriptor: int) -> None:
    """Close a file. An error is of no account: what had to be on the disk was waited for before."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file that may be gone already. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
