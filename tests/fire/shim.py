"""Stands between the store and the file system in this process: counts calls, fails one, dies at one, records them.

What `strace -e inject` does to a process from outside, without starting one: hundreds of faults a second. Only calls
that concern `root` are touched. A death is an exception that no handler of the store takes for an error; from then
on no call has any effect, as if the process were gone, except that descriptors are closed, as the kernel would.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHANGING = (
    "write",
    "pwrite",
    "fsync",
    "fdatasync",
    "ftruncate",
    "mkdir",
    "link",
    "rename",
    "replace",
    "unlink",
    "chmod",
    "fchmod",
)
LOOKING = ("open", "stat", "lstat", "fstat", "listdir", "scandir", "pread", "close")

WRITING = ("write", "pwrite")

ERRNOS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS)


class Dead(BaseException):
    """The process was killed."""


@dataclass(frozen=True)
class Fault:
    """What happens at call number `at`.

    `number`: it fails with this errno, and so does every later change when `lasting`. `short`: a write takes half of
    what it was given (and the process dies, with `dies`). Otherwise the process dies before the call.
    """

    at: int
    number: int | None = None
    lasting: bool = False
    short: bool = False
    dies: bool = False

    def __str__(self) -> str:
        what = errno.errorcode[self.number] if self.number else "short" if self.short else "killed"
        return f"{what}{' from' if self.lasting else ' at'} call {self.at}{' and dies' if self.dies else ''}"


@dataclass(frozen=True)
class Call:
    """One call that was made: its name, the path it concerns, its other arguments, and the inode it changed."""

    name: str
    path: str
    arguments: tuple[Any, ...]
    result: Any = None
    descriptor: int | None = None


@dataclass
class Shim:
    """See the head of this module; `calls` are those made so far, `hit` tells whether the fault came to pass."""

    root: str
    fault: Fault | None = None
    calls: list[Call] = field(default_factory=list)
    hit: bool = False
    dead: bool = False
    descriptors: dict[int, str] = field(default_factory=dict)

    def call(self, name: str, real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        path = self._concerns(arguments)
        if path is None:
            return real(*arguments, **options)
        if self.dead:
            raise Dead
        here = len(self.calls)
        fault = self.fault
        if fault is not None and self._strikes(fault, here, name, arguments):
            self.hit = True
            self._strike(fault, name, real, arguments)
            if fault.short:
                half = memoryview(arguments[1])[: max(1, len(arguments[1]) // 2)]
                result = real(arguments[0], half, *arguments[2:])
                self.calls.append(Call(name, path, (bytes(half), *arguments[2:]), result))
                if fault.dies:
                    self._die()
                return result
        rest = tuple(bytes(one) if isinstance(one, memoryview) else one for one in arguments[1:])
        try:
            result = real(*arguments, **options)
        except OSError:
            self.calls.append(Call(f"failed {name}", path, rest))
            raise
        first = arguments[0] if isinstance(arguments[0], int) else None
        self.calls.append(Call(name, path, rest, result, first))
        if name == "open":
            self.descriptors[result] = path
        elif name == "close":
            self.descriptors.pop(arguments[0], None)
        return result

    def _concerns(self, arguments: tuple[Any, ...]) -> str | None:
        first = arguments[0] if arguments else None
        if isinstance(first, int):
            return self.descriptors.get(first)
        if not isinstance(first, str | os.PathLike):
            return None
        path = os.fspath(first)
        return path if isinstance(path, str) and f"{path}/".startswith(f"{self.root}/") else None

    def _strikes(self, fault: Fault, here: int, name: str, arguments: tuple[Any, ...]) -> bool:
        if here == fault.at:
            return not fault.short or name in WRITING
        creates = name == "open" and bool(arguments[1] & (os.O_WRONLY | os.O_RDWR))
        return fault.lasting and here > fault.at and (name in CHANGING or creates)

    def _strike(self, fault: Fault, name: str, real: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if fault.number is not None:
            self.calls.append(Call(f"failed {name}", "", ()))
            if name == "close":
                real(*arguments)
                self.descriptors.pop(arguments[0], None)
            raise OSError(fault.number, os.strerror(fault.number))
        if not fault.short:
            self._die()

    def _die(self) -> None:
        self.dead = True
        for descriptor in [*self.descriptors]:
            with contextlib.suppress(OSError):
                _REAL_CLOSE(descriptor)
        raise Dead


_REAL_CLOSE = os.close


@contextlib.contextmanager
def shim(root: str | os.PathLike[str], fault: Fault | None = None) -> Iterator[Shim]:
    """Let every call about `root` pass through a Shim while this lasts."""
    made = Shim(os.fspath(root), fault)
    with pytest.MonkeyPatch.context() as patch:
        for name in (*CHANGING, *LOOKING):
            real = getattr(os, name)

            def call(
                *arguments: Any, _name: str = name, _real: Callable[..., Any] = real, **options: Any
            ) -> Any:
                return made.call(_name, _real, *arguments, **options)

            patch.setattr(os, name, call)
        with contextlib.suppress(Dead):
            yield made


@contextlib.contextmanager
def memory_directory() -> Iterator[Path]:
    """Give a directory that is quick to write to: what is proved here does not depend on the disk."""
    import shutil
    import tempfile

    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    place = Path(tempfile.mkdtemp(prefix="shipchat-fire-", dir=base))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
