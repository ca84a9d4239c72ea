"""Which attachments nobody refers to any more, and removing those; a blob is shared by all sessions that have it."""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from shipchat.core.errors import StoreUnavailable
from shipchat.exchange.json_file import is_hash

_REFERENCE: Final = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_YOUNG: Final = 3600.0
"""Seconds within which whoever made a blob may still be about to refer to it."""


def sweep_unused(blobs: Path, sessions: Path) -> int:
    """Remove blobs that no file under `sessions` names; return how many. Raises StoreUnavailable."""
    try:
        names = [name for name in os.listdir(blobs) if is_hash(name)]
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise _failed(error, blobs) from error
    limit = time.time() - _YOUNG
    unused = set(names)
    for data in _all_bytes(sessions) if unused else ():
        unused.difference_update(found.decode("ascii") for found in _REFERENCE.findall(data))
        if not unused:
            break
    removed = 0
    for name in unused:
        path = blobs / name
        try:
            if path.lstat().st_mtime < limit:
                path.unlink()
                removed += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _failed(error, path) from error
    return removed


def _all_bytes(sessions: Path) -> Iterator[bytes]:
    """Yield the bytes of every file in which a blob may be named; one that can't be read raises, to be safe."""
    for directory in (sessions, sessions / ".trash", sessions / ".drafts"):
        try:
            with os.scandir(directory) as listed:
                paths = [item.path for item in listed if item.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _failed(error, directory) from error
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                try:
                    yield Path(path).read_bytes()
                except FileNotFoundError:
                    raise
                except OSError as error:
                    raise _failed(error, path) from error


def _failed(error: OSError, path: Path | str) -> StoreUnavailable:
    reason = error.strerror or type(error).__name__
    return StoreUnavailable(
        f"unused attachments can't be removed: {reason}: {path}",
        details={"path": os.fspath(path), "reason": reason},
    )
