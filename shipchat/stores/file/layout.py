"""Where the files of a session directory are, and making them private; what is in them is for others."""

import contextlib
import errno
import functools
import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shipchat.core.errors import StoreUnavailable
from shipchat.core.keys import check_key, fold_key, why_invalid
from shipchat.stores.file.disk import FILE_MODE, OPEN_FLAGS, close, sync_directory
from shipchat.stores.file.temporary import TEMPORARY, sweep

DIRECTORY_MODE: Final = 0o700
SUFFIX: Final = ".json"
TEST_LOCK: Final = ".test."
"""How the names of the files begin on which locks are tried out."""

_TRASH_ID: Final = re.compile(r"(?P<key>.+)\.(?P<time>\d{8}T\d{6}\.\d{6}Z)")

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
        self._swept = False

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
            make_private(self.root)
            for directory in (self.locks, self.drafts, self.trash):
                make_private(directory)
            owner = os.stat(self.root).st_uid
        except OSError as error:
            raise not_saved(error, self.root) from error
        self._check_owner(owner)
        if not self._swept:
            self._swept = True
            self.sweep()

    def _check_owner(self, owner: int) -> None:
        # Another user's could be read or changed by them.
        if hasattr(os, "geteuid") and owner != os.geteuid():
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
            return self._listed()
        except OSError as error:
            reason = error.strerror or "failed"
            raise StoreUnavailable(
                f"the sessions can't be listed: {reason}: {self.root}",
                details={"path": str(self.root), "reason": reason},
            ) from error

    def _listed(self) -> list[str]:
        try:
            listed = os.listdir(self.root)
        except FileNotFoundError:
            return []
        cut = -len(SUFFIX)
        return [name[:cut] for name in listed if name.endswith(SUFFIX) and not name.startswith(".")]

    def clash(self, key: str) -> str | None:
        """Return the existing key that is `key` but for case, if any (`key` itself included).

        Raises StoreUnavailable: nothing is made where the names can't be seen.
        """
        folded = fold_key(key)
        try:
            return next((name for name in self._listed() if fold_key(name) == folded), None)
        except OSError as error:
            raise not_saved(error, self.root) from error

    def exists(self, path: str) -> bool:
        """Return whether there is something at `path`. Raises StoreUnavailable when that can't be seen."""
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise not_saved(error, path) from error
        return True

    def sweep(self) -> None:
        """Remove temporary files that writers who are gone left behind: those that nobody has locked."""
        for directory in (self.root, self.drafts, self.trash, self.locks):
            with contextlib.suppress(OSError):
                for name in os.listdir(directory):
                    if name.startswith(".") and (name.endswith(TEMPORARY) or name.startswith(TEST_LOCK)):
                        with contextlib.suppress(OSError):
                            sweep(f"{directory}{os.sep}{name}")


def make_private(directory: Path) -> None:
    """Make a directory and those above it, 0700, when they are not there. Raises OSError."""
    if directory.is_dir():
        return
    missing = [directory]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)
            os.chmod(path, DIRECTORY_MODE)  # whatever the umask took away
            sync_directory(path.parent)  # a file in it is no safer than its own name
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
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
    except OSError:
        close(descriptor)
        raise
    if hasattr(os, "fchmod") and stat.S_IMODE(status.st_mode) != FILE_MODE:
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, FILE_MODE)
    return descriptor


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
