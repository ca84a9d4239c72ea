"""Where the files of a session directory are, and making them private; what is in them is for others."""

import contextlib
import errno
import functools
import os
import re
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shipchat.core.errors import StoreUnavailable
from shipchat.core.keys import check_key, fold_key, why_invalid

FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700
SUFFIX: Final = ".json"
_TEMPORARY: Final = ".tmp"
_STALE_AFTER: Final = 3600.0
"""Seconds after which a temporary file whose writer is gone is swept."""

_TRASH_ID: Final = re.compile(r"(?P<key>.+)\.(?P<time>\d{8}T\d{6}\.\d{6}Z)")

# Read by everything that opens a file of ours: never through a symbolic link, never waiting for a FIFO's other end.
OPEN_FLAGS: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
) | getattr(os, "O_BINARY", 0)


# Every append asks for three paths of one key; what was refused is not remembered.
_checked: Final = functools.lru_cache(maxsize=1024)(check_key)


class Layout:
    """The paths under one directory of sessions."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """`root` may be relative or start with `~`; it is made absolute now, so that a later chdir changes nothing."""
        self.root: Final = Path(os.path.abspath(os.path.expanduser(os.fspath(root))))
        self.locks: Final = self.root / ".locks"
        self.drafts: Final = self.root / ".drafts"
        self.trash: Final = self.root / ".trash"

    def session(self, key: str) -> str:
        """Return the path of a session's file. Raises SessionKeyInvalid."""
        return f"{self.root}{os.sep}{_checked(key)}{SUFFIX}"

    def hold_lock(self, key: str) -> str:
        """Return the path of the file that is locked while a turn runs."""
        return f"{self.locks}{os.sep}{fold_key(_checked(key))}.hold"

    def write_lock(self, key: str) -> str:
        """Return the path of the file that is locked while someone writes."""
        return f"{self.locks}{os.sep}{fold_key(_checked(key))}.write"

    def turn_draft(self, key: str, *, live: bool) -> str:
        """Return the path of the turn draft: the durable one, or the `live` one written in between."""
        return f"{self.drafts}{os.sep}{_checked(key)}.turn{'.live' if live else ''}{SUFFIX}"

    def window_draft(self, key: str, window: str) -> str:
        """Return the path of one window's unsent text."""
        return f"{self.drafts}{os.sep}{_checked(key)}.{window}{SUFFIX}"

    def trashed(self, trash_id: str, kind: str) -> str:
        """Return the path in the trash of `kind` (`deleted`, `torn`, `damaged`, `turn`, `unsent`)."""
        return f"{self.trash}{os.sep}{trash_id}.{kind}"

    def make(self) -> None:
        """Make the directories, private to this user. Raises StoreUnavailable with the reason."""
        try:
            _make_private(self.root)
            for directory in (self.locks, self.drafts, self.trash):
                _make_private(directory)
        except OSError as error:
            raise not_saved(error, self.root) from error
        self.check_owner()

    def check_owner(self) -> None:
        """Raise StoreUnavailable when the directory is another user's: it could be read or changed by them."""
        if not hasattr(os, "geteuid"):
            return
        with contextlib.suppress(FileNotFoundError):
            owner = os.stat(self.root).st_uid
            if owner != os.geteuid():
                raise StoreUnavailable(
                    f"NOT SAVED: the directory belongs to another user (uid {owner}): {self.root}",
                    advice=("Choose one of your own: SHIPCHAT_DATA_DIR=/a/path",),
                    details={"path": str(self.root), "reason": "foreign owner"},
                )

    def keys(self) -> list[str]:
        """Return the keys of all session files, without reading them. Raises StoreUnavailable."""
        return [name for name in self.names() if why_invalid(name) is None]

    def names(self) -> list[str]:
        """Return the names (without `.json`) of all files that look like sessions, valid keys or not."""
        try:
            listed = os.listdir(self.root)
        except FileNotFoundError:
            return []
        except OSError as error:
            reason = error.strerror or "failed"
            raise StoreUnavailable(
                f"the sessions can't be listed: {reason}: {self.root}",
                details={"path": str(self.root), "reason": reason},
            ) from error
        cut = -len(SUFFIX)
        return [name[:cut] for name in listed if name.endswith(SUFFIX) and not name.startswith(".")]

    def clash(self, key: str) -> str | None:
        """Return the existing key that is `key` but for case, if any (`key` itself included)."""
        folded = fold_key(key)
        return next((name for name in self.names() if fold_key(name) == folded), None)

    def sweep(self) -> None:
        """Remove temporary files that writers who are gone left behind; a live writer's are young."""
        limit = time.time() - _STALE_AFTER
        for directory in (self.root, self.drafts):
            with contextlib.suppress(OSError), os.scandir(directory) as listed:
                for item in listed:
                    if item.name.startswith(".") and item.name.endswith(_TEMPORARY):
                        with contextlib.suppress(OSError):
                            if item.stat(follow_symlinks=False).st_mtime < limit:
                                os.unlink(item.path)


def _make_private(directory: Path) -> None:
    if directory.is_dir():
        return
    missing = [directory]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)
            os.chmod(path, DIRECTORY_MODE)  # whatever the umask took away
    if not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))


def not_saved(error: OSError, path: str | os.PathLike[str]) -> StoreUnavailable:
    """Return the error that says that nothing was saved, why and where."""
    reason = error.strerror or type(error).__name__
    return StoreUnavailable(
        f"NOT SAVED: {reason}: {os.fspath(path)}",
        advice=("It is kept in memory and tried again; free the disk or fix the permissions.",),
        details={"path": os.fspath(path), "reason": reason},
    )


def open_private(path: str) -> int:
    """Open a lock or side file for reading and writing, made 0600 when it is not there yet. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | OPEN_FLAGS, FILE_MODE)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    if hasattr(os, "fchmod") and stat.S_IMODE(status.st_mode) != FILE_MODE:
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, FILE_MODE)
    return descriptor


@contextlib.contextmanager
def temporary(directory: Path, name: str) -> Iterator[tuple[int, str]]:
    """Give a new private file with a unique name in `directory`; it is gone afterwards unless renamed away."""
    path = f"{directory}{os.sep}.{name[:100]}.{os.getpid()}.{os.urandom(6).hex()}{_TEMPORARY}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, FILE_MODE)
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, FILE_MODE)
        yield descriptor, path
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(path)


def trash_id(key: str, at: datetime) -> str:
    """Return the name under which something of `key` goes to the trash at `at`."""
    return f"{key}.{at.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}"


def split_trash_id(name: str) -> tuple[str, datetime] | None:
    """Return the key and the time of a trash id, None when it is none."""
    found = _TRASH_ID.fullmatch(name)
    if found is None or why_invalid(found["key"]) is not None:
        return None
    with contextlib.suppress(ValueError):
        return found["key"], datetime.strptime(found["time"], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    return None
