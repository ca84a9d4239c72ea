"""A model of power loss: what a disk may hold after a cut, for the calls an operation made.

A file's bytes reach the disk sector by sector, in any order and perhaps never, until the file is waited for (fsync);
its length likewise, apart from the bytes: sectors that never came are NULs. Names (made, linked, renamed, removed)
reach it in any order until their directory is waited for; a rename is one step. What a wait has confirmed stays.
"""

import itertools
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from shipchat.stores.file import FileSessionStore
from tests.fire.shim import Call, shim

SECTOR = 512


@dataclass
class Inode:
    """One file: every state of each sector and of the length since the last wait, oldest first."""

    data: bytes = b""
    lengths: list[int] = field(default_factory=lambda: [0])
    sectors: dict[int, list[bytes]] = field(default_factory=dict)

    def write(self, data: bytes, start: int) -> None:
        size = max(len(self.data), start + len(data))
        self._become(self.data.ljust(size, b"\0")[:start] + data + self.data[start + len(data) :])

    def truncate(self, size: int) -> None:
        self._become(self.data[:size].ljust(size, b"\0"))

    def sync(self) -> None:
        self.lengths, self.sectors = [len(self.data)], {}

    def _become(self, data: bytes) -> None:
        for number in range(max(len(data), len(self.data)) // SECTOR + 1):
            old, new = _sector(self.data, number), _sector(data, number)
            if old != new:
                self.sectors.setdefault(number, [old]).append(new)
        if len(data) != len(self.data):
            self.lengths.append(len(data))
        self.data = data

    def states(self, most: int, chance: random.Random) -> Iterator[bytes]:
        """Yield what the disk may hold of it: all of it when that is at most `most`, else that many of it."""
        numbers = sorted(self.sectors)
        choices: list[Sequence[int]] = [range(len(self.sectors[number])) for number in numbers]
        choices.append(range(len(self.lengths)))
        total = 1
        for choice in choices:
            total *= len(choice)
        picks: Iterator[tuple[int, ...]]
        if total <= most:
            picks = itertools.product(*choices)
        else:
            picks = (tuple(chance.choice(choice) for choice in choices) for _ in range(most))
        for pick in picks:
            data = bytearray(self.data.ljust(max(self.lengths), b"\0"))
            for number, version in zip(numbers, pick, strict=False):
                data[number * SECTOR : (number + 1) * SECTOR] = self.sectors[number][version]
            yield bytes(data[: self.lengths[pick[-1]]].ljust(self.lengths[pick[-1]], b"\0"))


def _sector(data: bytes, number: int) -> bytes:
    return data[number * SECTOR : (number + 1) * SECTOR].ljust(SECTOR, b"\0")


@dataclass(frozen=True)
class Naming:
    """A change of names not confirmed yet: names that go, names that come, in directories."""

    gone: tuple[str, ...]
    come: tuple[tuple[str, int], ...]

    @property
    def directories(self) -> set[str]:
        return {os.path.dirname(path) for path in (*self.gone, *(path for path, _ in self.come))}


@dataclass(frozen=True)
class Found:
    """What is found after a cut: which file each path names, and the bytes of the files."""

    names: dict[str, int]
    data: dict[int, bytes]


class Disk:
    """Follows the calls; `states` yields what may be found after a power cut right now."""

    def __init__(self, root: Path) -> None:
        self.inodes: dict[int, Inode] = {}
        self.names: dict[str, int] = {}  # confirmed
        self.now: dict[str, int] = {}
        self.pending: list[Naming] = []
        self.open: dict[int, int] = {}
        for path in root.rglob("*") if root.exists() else ():
            if path.is_file():
                number = len(self.inodes)
                self.inodes[number] = Inode(path.read_bytes(), [path.stat().st_size])
                self.names[str(path)] = self.now[str(path)] = number

    def take(self, call: Call) -> None:
        match call.name, call.arguments:
            case "open", (int(flags), *_):
                if call.path not in self.now and flags & os.O_CREAT:
                    number = len(self.inodes)
                    self.inodes[number] = Inode()
                    self._name((), ((call.path, number),))
                if call.path in self.now:
                    self.open[call.result] = self.now[call.path]
            case "link", (str(target), *_):
                self._name((), ((target, self.now[call.path]),))
            case "rename" | "replace", (str(target), *_):
                self._name((call.path,), ((target, self.now[call.path]),))
            case "unlink", _:
                self._name((call.path,), ())
            case _:
                pass

    def change(self, name: str, descriptor: int, path: str, arguments: tuple[object, ...]) -> None:
        """Take a call about a descriptor."""
        if os.path.isdir(path):
            if name in ("fsync", "fdatasync"):
                self._confirm(path)
            return
        inode = self.inodes[self.open[descriptor]]
        match name, arguments:
            case "pwrite", (bytes(data), int(start)):
                inode.write(data, start)
            case "ftruncate", (int(size),):
                inode.truncate(size)
            case "fsync" | "fdatasync", _:
                inode.sync()
            case _:
                pass

    def _name(self, gone: tuple[str, ...], come: tuple[tuple[str, int], ...]) -> None:
        self.pending.append(Naming(gone, come))
        _apply(self.now, self.pending[-1])

    def _confirm(self, directory: str) -> None:
        left = []
        for naming in self.pending:
            if directory in naming.directories:
                _apply(self.names, naming)
            else:
                left.append(naming)
        self.pending = left

    def states(self, most: int, chance: random.Random) -> Iterator[Found]:
        """Yield what may be found; about `most` states for each choice of names."""
        subsets = list(itertools.product((False, True), repeat=len(self.pending)))
        if len(subsets) > most:
            subsets = [subsets[0], subsets[-1], *chance.sample(subsets, most - 2)]
        for subset in subsets:
            names = dict(self.names)
            for naming, kept in zip(self.pending, subset, strict=True):
                if kept:
                    _apply(names, naming)
            files = {number: [*self.inodes[number].states(most, chance)] for number in {*names.values()}}
            settled = {number: states[-1] for number, states in files.items()}
            loose = [number for number, states in files.items() if len(states) > 1]
            if not loose:
                yield Found(names, settled)
            for number in loose:  # one file at a time: files know nothing of each other
                for data in files[number]:
                    yield Found(names, settled | {number: data})


def _apply(names: dict[str, int], naming: Naming) -> None:
    for path in naming.gone:
        names.pop(path, None)
    names |= dict(naming.come)


@dataclass
class PowerFigure:
    """How many cuts were tried."""

    cuts: int = 0
    states: int = 0

    def __str__(self) -> str:
        return f"{self.cuts} places to cut the power, {self.states} states of the disk: every acknowledged message loads"


def prove_power(
    place: Path,
    scratch: Path,
    steps: Sequence[Callable[[FileSessionStore], object]],
    check: Callable[..., None],
    figure: PowerFigure,
    *,
    most: int = 64,
) -> None:
    """Do `steps` in `place`, cutting the power after every call; `check(store, acknowledged)` looks at each state.

    Raises AssertionError.
    """
    chance = random.Random(5)
    disk = Disk(place)
    seen: set[int] = set()
    for done, step in enumerate(steps):
        with shim(place) as made:
            step(FileSessionStore(place))
        for call in made.calls:
            descriptor = call.descriptor
            if descriptor is None:
                disk.take(call)
            elif call.name in ("pwrite", "ftruncate", "fsync", "fdatasync"):
                disk.change(call.name, descriptor, call.path, call.arguments)
            else:
                continue
            figure.cuts += 1
            for found in disk.states(most, chance):
                _look(found, (place, scratch), seen, partial(check, acked=done), figure, mark=done)
        for found in disk.states(most, chance):
            _look(found, (place, scratch), seen, partial(check, acked=done + 1), figure, mark=done + 1)


def _look(
    found: Found,
    places: tuple[Path, Path],
    seen: set[int],
    check: Callable[[FileSessionStore], None],
    figure: PowerFigure,
    *,
    mark: int = 0,
) -> None:
    place, scratch = places
    looks = hash(
        (mark, tuple(sorted((path, number, found.data[number]) for path, number in found.names.items())))
    )
    if looks in seen:
        return
    seen.add(looks)
    figure.states += 1
    shutil.rmtree(scratch, ignore_errors=True)
    for directory in (".locks", ".drafts", ".trash"):
        (scratch / directory).mkdir(parents=True)
    made: dict[int, Path] = {}
    for path, number in found.names.items():
        target = scratch / os.path.relpath(path, place)
        if number in made:
            os.link(made[number], target)
        else:
            target.write_bytes(found.data[number])
            made[number] = target
    check(FileSessionStore(scratch))
