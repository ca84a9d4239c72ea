"""Disks that fail at every call, and power that is cut after every call."""

from pathlib import Path

from tests.fire.cuts import cut_appends, cut_the_rest
from tests.fire.faults import Figure, prove
from tests.fire.operations import OPERATIONS
from tests.fire.power import SECTOR, PowerFigure
from tests.fire.shim import ERRNOS, memory_directory
from tests.fire.traced import prove_traced, works
from tests.fire.turns import TurnFigure, prove_turns

TRACED = (
    "first",
    "create",
    "append",
    "append two",
    "append to torn",
    "fork",
    "delete",
    "restore",
    "draft",
    "repair",
)


def faults(_: Path) -> str:
    """Kill, fail (four errors, once and from then on) and cut short every call of every operation."""
    figure = Figure()
    with memory_directory() as base:
        for operation in OPERATIONS:
            prove(base / "faults", operation, figure, every=True)
    return f"{len(OPERATIONS)} operations, {figure}"


def turns(_: Path) -> str:
    """Fail every call of a whole turn, with each error, once and from then on."""
    figure = TurnFigure()
    for code in ERRNOS:
        with memory_directory() as base:
            prove_turns(base, (code,), figure, lasting=(False, True))
    return str(figure)


def strace(place: Path) -> str:
    """The same with real system calls of real processes."""
    if not works():
        return "not run: strace is missing or may not trace here"
    return prove_traced(
        place, TRACED, ["signal=SIGKILL", "error=ENOSPC", "error=EIO", "error=EACCES", "error=EROFS"]
    )


def power(_: Path) -> str:
    """Cut the power after every call, wherever the files stand on their sectors."""
    figure = PowerFigure()
    for length in (*range(SECTOR - 12, SECTOR + 12), 100, 250, 400):
        with memory_directory() as base:
            cut_appends(base, length, figure, most=512)
    with memory_directory() as base:
        cut_the_rest(base, figure, most=64)
    return str(figure)
