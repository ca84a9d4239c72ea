"""Reports of unexpected errors: where in the code it happened, and nothing the user said, typed or set."""

import contextlib
import errno
import logging
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shipchat.cli.printing import note
from shipchat.cli.table import COMMANDS
from shipchat.config.paths import directories
from shipchat.core.errors import ShipchatError, StoreUnavailable
from shipchat.version import __version__

# Errors whose message speaks of code alone. Others (ValueError, KeyError, …) quote the values they met.
_ABOUT_CODE: Final = (AttributeError, ImportError, NameError, NotImplementedError, RecursionError)

# What a machine may refuse at any time, for example a full disk behind standard output.
_REFUSALS: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.ENOMEM,
        errno.EMFILE,
    }
)


class Bug(ShipchatError):
    """Something nobody expected; a report was written."""

    code = "bug"
    exit_code = 1


class SystemFailure(ShipchatError):
    """The operating system refused something that no part of ours had an answer for."""

    code = "system"
    exit_code = 6


def reported(error: Exception, arguments: Sequence[str]) -> ShipchatError:
    """Return what to tell the user of an unexpected error; a bug is written to a report (0600) first.

    The report holds versions, the command's name and the places in the code: no local variables, no arguments, no
    message that could quote a value, so that neither keys nor conversations can be in it.
    """
    if isinstance(error, OSError) and (error.filename is not None or error.errno in _REFUSALS):
        reason = (error.strerror or type(error).__name__).lower()
        name = error.filename  # a path, or the number of a descriptor
        where = os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else "the output"
        return SystemFailure(f"{where}: {reason}", details={"errno": error.errno})
    what = f"an unexpected {type(error).__name__}"
    try:
        path = _write(_text(error, arguments))
    except OSError as failed:
        advice = [f"No report could be written: {(failed.strerror or 'unknown reason').lower()}."]
    else:
        advice = [f"This is a bug in shipchat. A report without your data: {path}"]
    return Bug(f"{what} (a bug)", advice=advice, details={"type": type(error).__name__})


class _BugReports(logging.Handler):
    """Writes a report of each exception that is logged, and prints nothing but where it is."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception):
            with contextlib.suppress(OSError):  # the turn's own last event tells the user that it failed
                note(f"A report without your data: {_write(_text(error, sys.argv[1:]))}")


@contextlib.contextmanager
def bug_reports() -> Iterator[None]:
    """Let exceptions that are logged in here become reports: without a handler, logging prints tracebacks."""
    root, handler = logging.getLogger(), _BugReports(logging.ERROR)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def _text(error: BaseException, arguments: Sequence[str]) -> str:
    names = {row.name for row in COMMANDS}
    command = next((one for one in arguments if one in names), "(none)")
    lines = [
        f"shipchat {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}, command: {command}, encoding: {sys.stdout.encoding}",
        "",
    ]
    cause: BaseException | None = error
    while cause is not None:
        said = f": {cause}" if isinstance(cause, _ABOUT_CODE) else ""
        lines.append(f"{type(cause).__module__}.{type(cause).__qualname__}{said}")
        lines += [
            f"  {frame.filename}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(cause.__traceback__)
        ]
        cause = cause.__cause__ or cause.__context__
    return "\n".join(lines) + "\n"


def _write(text: str) -> Path:
    name = f"shipchat-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}.txt"
    try:
        folder = directories().reports
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _write_private(folder / name, text)
    except (OSError, StoreUnavailable):
        return _write_private(Path(tempfile.gettempdir()) / name, text)


def _write_private(path: Path, text: str) -> Path:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path
