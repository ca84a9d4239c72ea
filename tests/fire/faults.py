"""Every file system call of every operation fails, is cut short, or is the last one: old or new, never between."""

import itertools
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shipchat.core.errors import (
    SessionDamaged,
    SessionExists,
    SessionNotFound,
    ShipchatError,
    StoreUnavailable,
)
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import prompt
from tests.fire.operations import Operation, Places, leftovers, next_start, state
from tests.fire.shim import CHANGING, ERRNOS, WRITING, Fault, shim


@dataclass
class Figure:
    """What was tried and how it ended."""

    calls: int = 0
    kills: int = 0
    errors: int = 0
    shorts: int = 0
    said: int = 0

    def __str__(self) -> str:
        return (
            f"{self.calls} calls: {self.kills} kills, {self.errors} errors ({self.said} said NOT SAVED, the others "
            f"did no harm), {self.shorts} short writes; each left old or new"
        )


def calls_of(operation: Operation, places: Places) -> list[str]:
    """Return the names of the calls that `operation` makes."""
    place = places.fresh()
    with shim(place) as seen:
        operation.act(FileSessionStore(place))
    shutil.rmtree(place)
    return [call.name for call in seen.calls]


def faults_at(number: int, name: str, errnos: Sequence[int], *, lasting: bool) -> Iterator[Fault]:
    yield Fault(number)
    if name in WRITING:
        yield Fault(number, short=True)
        yield Fault(number, short=True, dies=True)
    for code in errnos:
        yield Fault(number, code)
        if lasting and name in CHANGING:
            yield Fault(number, code, lasting=True)


def prove(base: Path, operation: Operation, figure: Figure, *, every: bool) -> None:
    """Try all faults (`every`), or at each call a death and one error in turn. Raises AssertionError."""
    turn = itertools.cycle(ERRNOS)
    with Places(base, operation) as places:
        names = calls_of(operation, places)
        figure.calls += len(names)
        old = state(places.fresh())
        states = [old]
        for act in (*operation.between, operation.act):
            place = places.fresh()
            act(FileSessionStore(place))
            states.append(state(place))
        for number, name in enumerate(names):
            errnos = ERRNOS if every else (next(turn),)
            for fault in faults_at(number, name, errnos, lasting=every or number % 4 == 0):
                place = places.fresh()
                _try(place, operation, fault, states, figure)
                shutil.rmtree(place)


def _try(
    place: Path, operation: Operation, fault: Fault, states: list[dict[str, object]], figure: Figure
) -> None:
    where = f"{operation.name}: {fault}"
    error: ShipchatError | None = None
    with shim(place, fault) as seen:
        try:
            operation.act(FileSessionStore(place))
        except ShipchatError as caught:
            error = caught
    assert seen.hit, where
    if fault.number is not None:
        figure.errors += 1
        if error is not None:
            figure.said += 1
            _check_words(error, where)
    elif fault.short:
        figure.shorts += 1
        assert error is None, f"{where}: {error!r}"
    if fault.dies or (fault.number is None and not fault.short):
        figure.kills += 1
    store = next_start(place)
    after = state(place)
    # A copy of a torn or damaged end may be there once more: it is made before anything is changed.
    kept = after.pop("kept")
    wanted = [{name: value for name, value in one.items() if name != "kept"} for one in states]
    assert after in wanted, f"{where}: neither old nor new: {after}"
    assert len(kept) <= 1, where
    if error is None and not seen.dead and not operation.lenient:
        assert after == wanted[-1], f"{where}: called done and is not"
    assert leftovers(place) == [], where
    _act_again(store, operation, None if after == wanted[-1] else wanted[-1], place, where)
    _add_to_all(store, where)


def _check_words(error: ShipchatError, where: str) -> None:
    if isinstance(error, StoreUnavailable):
        assert "NOT SAVED" in str(error) or "can't be listed" in str(error), f"{where}: {error}"
        assert error.exit_code == 6
    else:
        # What could not be read is called unreadable, with its path; never missing.
        assert isinstance(error, SessionDamaged), f"{where}: {error!r}"
        assert error.path, where


def _act_again(
    store: FileSessionStore, operation: Operation, new: dict[str, object] | None, place: Path, where: str
) -> None:
    """Do the same once more, now that nothing fails; `new` is what comes of it, None when it was done already."""
    done = new is None
    try:
        operation.act(store)
    except (SessionExists, SessionNotFound):
        assert done, where
    except IndexError:
        assert done, where  # nothing in the trash any more
    else:
        if not done:
            after = state(place)
            after.pop("kept")
            assert after == new, f"{where}: the next try did not do it"


def _add_to_all(store: FileSessionStore, where: str) -> None:
    for key in [*store.keys()]:
        try:
            record, cursor = store.open(key)
        except SessionDamaged:
            continue
        store.append(key, [prompt("last", record.entries[0].id)], cursor, exclusive=True)
        again = store.load(key)
        assert again is not None
        assert again.entries == (*record.entries, prompt("last", record.entries[0].id)), where
