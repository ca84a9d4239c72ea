"""Where the bytes of attachments are kept, once each, by their SHA-256; which message has which is the sessions'.

A blob is on the disk before the message that names it. One that nobody names (a crash came between the two) harms
nobody; purging removes it.
"""

import contextlib
import hashlib
import os
import re
import stat
import threading
from pathlib import Path
from typing import Final

from shipchat.core.protocols import Blobs
from shipchat.stores.file.disk import OPEN_FLAGS, close, read_all
from shipchat.stores.file.layout import make_private, not_saved
from shipchat.stores.file.temporary import TEMPORARY, publish_over, sweep

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class FileBlobs:
    """Blobs as files `<directory>/<sha256>`, 0600 in a directory 0700; implements `core.protocols.Blobs`."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Nothing is read or made before it is used."""
        self.directory: Final = Path(os.path.abspath(os.fspath(directory)))
        self._swept = False

    def put(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256; on return it is on the disk. Raises StoreUnavailable."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = f"{self.directory}{os.sep}{sha256}"
        try:
            make_private(self.directory)
            self._sweep()
            if self.read(sha256) is None:
                publish_over(self.directory, sha256, path, data, durable=True)
            else:
                # Young again: a purge that runs just now leaves young ones alone, even if nobody names them yet.
                os.utime(path)
        except OSError as error:
            raise not_saved(error, path) from error
        return sha256

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes, None when they are not there, or are not what their name says."""
        if not _HASH.fullmatch(sha256):
            return None
        try:
            descriptor = os.open(self.directory / sha256, os.O_RDONLY | OPEN_FLAGS)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            data = read_all(descriptor, 0, status.st_size) if stat.S_ISREG(status.st_mode) else b""
        except OSError:
            return None
        finally:
            close(descriptor)
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def _sweep(self) -> None:
        """Remove what writers who are gone left half-written."""
        if self._swept:
            return
        self._swept = True
        with contextlib.suppress(OSError):
            for name in os.listdir(self.directory):
                if name.startswith(".") and name.endswith(TEMPORARY):
                    with contextlib.suppress(OSError):
                        sweep(f"{self.directory}{os.sep}{name}")


class MemoryBlobs:
    """Blobs that are gone with the process, for sessions that are stored nowhere; implements `core.protocols.Blobs`.

    What is not here is looked for `behind`: a private copy of a session has the attachments of that one.
    """

    def __init__(self, behind: Blobs | None = None) -> None:
        self._behind = behind
        self._kept: dict[str, bytes] = {}
        self._guard = threading.Lock()

    def put(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256."""
        sha256 = hashlib.sha256(data).hexdigest()
        with self._guard:
            self._kept.setdefault(sha256, data)
        return sha256

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes, None when they are not there."""
        with self._guard:
            data = self._kept.get(sha256)
        if data is None and self._behind is not None:
            return self._behind.read(sha256)
        return data
