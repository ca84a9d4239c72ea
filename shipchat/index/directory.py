"""One look at a directory of sessions: which files there are, and what tells whether each is still the same."""

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import Final, Self, TypeAlias

from shipchat.core.errors import StoreUnavailable

Print: TypeAlias = tuple[int, int, int, int]
"""Size (-1: no regular file), time of change (of contents, then of anything; nanoseconds; 0: too young to tell), inode."""

_SUFFIX: Final = ".json"
_YOUNG: Final = 50_000_000
"""Nanoseconds within which a file can change twice without its times telling (the kernel's clock ticks in 4 ms)."""
_COARSE: Final = 2_500_000_000
"""The same where times are whole seconds."""
_VERIFIED: Final = 256 * 1024
"""Bytes of a file that is read twice to be sure. A larger one can be edited unseen, and no longer, if that happens in
the same tick of the clock as an append and leaves its size as it was: nothing of ours does that."""
_FLAGS: Final = os.O_RDONLY | (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_HERE: Final = os.supports_dir_fd >= {os.stat} and hasattr(os, "O_DIRECTORY")


def look(root: Path) -> dict[str, Print]:
    """Return the print of each session file by its name without `.json`; empty where there is no directory.

    Costs about 5 us a file. Raises StoreUnavailable.
    """
    try:
        return _look_inside(root) if _HERE else _look_at_paths(root)
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = error.strerror or "failed"
        raise StoreUnavailable(
            f"the sessions can't be listed: {reason}: {root}", details={"path": str(root), "reason": reason}
        ) from error


def _look_inside(root: Path) -> dict[str, Print]:
    """Look by names relative to the open directory: the kernel need not walk the path ten thousand times."""
    found: dict[str, Print] = {}
    status_of = os.stat
    limit = time.time_ns() - _COARSE
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in os.listdir(directory):
            if not name.endswith(_SUFFIX) or name.startswith("."):
                continue
            try:
                status = status_of(name, dir_fd=directory, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            changed = status.st_mtime_ns
            if changed > limit and status.st_size <= _VERIFIED and _is_young(changed):
                changed = 0
            size = status.st_size if stat.S_ISREG(status.st_mode) else -1
            found[name[:-5]] = (size, changed, status.st_ctime_ns, status.st_ino)
    finally:
        os.close(directory)
    return found


def _look_at_paths(root: Path) -> dict[str, Print]:
    found: dict[str, Print] = {}
    with os.scandir(root) as listed:
        for item in listed:
            if item.name.endswith(_SUFFIX) and not item.name.startswith("."):
                seen = look_at(root, item.name[:-5])
                if seen is not None:
                    found[item.name[:-5]] = seen
    return found


def look_at(root: Path, name: str) -> Print | None:
    """Return the print of one file, None when there is none."""
    try:
        status = os.stat(f"{root}{os.sep}{name}{_SUFFIX}", follow_symlinks=False)
    except OSError:
        return None
    changed = status.st_mtime_ns
    if status.st_size <= _VERIFIED and _is_young(changed):
        changed = 0
    size = status.st_size if stat.S_ISREG(status.st_mode) else -1
    return size, changed, status.st_ctime_ns, status.st_ino


def _is_young(changed: int) -> bool:
    patience = _COARSE if changed % 1_000_000_000 == 0 else _YOUNG
    return changed > time.time_ns() - patience


class Files:
    """The files of one directory, opened by name: as a context it keeps the directory open meanwhile.

    A link is never followed, and the other end of a FIFO never waited for.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._directory: int | None = None

    def __enter__(self) -> Self:
        if _HERE:
            with contextlib.suppress(OSError):
                self._directory = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        if self._directory is not None:
            os.close(self._directory)
            self._directory = None

    def read(self, name: str, start: int, size: int) -> bytes | None:
        """Return the bytes of a file from `start` on, up to its end; `size` is how many there should be.

        None when it can't be read. Whether it is a regular file was looked at before.
        """
        try:
            descriptor = self._open(name)
        except OSError:
            return None
        try:
            return _read(descriptor, start, size)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def span(self, name: str, start: int, length: int) -> bytes | None:
        """Return exactly these bytes of a file, None when it does not have them."""
        try:
            descriptor = self._open(name)
        except OSError:
            return None
        try:
            os.lseek(descriptor, start, os.SEEK_SET)
            data = os.read(descriptor, length)
            return data if len(data) == length else None
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int:
        if self._directory is not None:
            return os.open(name + _SUFFIX, _FLAGS, dir_fd=self._directory)
        return os.open(f"{self._root}{os.sep}{name}{_SUFFIX}", _FLAGS)


def _read(descriptor: int, start: int, size: int) -> bytes:
    if start:
        os.lseek(descriptor, start, os.SEEK_SET)
    data = os.read(descriptor, size + 1)
    if len(data) == size or not data:
        return data  # nearly always; a file that is shorter or longer now is read to where it ends
    chunks = [data]
    while chunk := os.read(descriptor, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)
