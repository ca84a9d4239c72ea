import contextlib
import errno
import shutil
from pathlib import Path

import pytest

from shipchat.core.errors import ShipchatError
from shipchat.stores.file import FileSessionStore
from tests.fire.faults import Figure, calls_of, prove
from tests.fire.operations import ERASING, OPERATIONS, Operation, Places, next_start, state
from tests.fire.shim import Fault, memory_directory, shim


@pytest.mark.parametrize("operation", OPERATIONS, ids=[one.name for one in OPERATIONS])
def test_a_fault_at_any_call_leaves_old_or_new(operation: Operation) -> None:
    figure = Figure()
    with memory_directory() as base:
        prove(base, operation, figure, every=False)
    assert figure.kills >= figure.calls >= 2


@pytest.mark.parametrize("operation", ERASING, ids=[one.name for one in ERASING])
def test_erasing_that_is_broken_off_harms_nothing_else_and_can_be_done_again(operation: Operation) -> None:
    with memory_directory() as base, Places(base, operation) as places:
        done = places.fresh()
        operation.act(FileSessionStore(done))
        wanted = state(done)
        for number, _ in enumerate(calls_of(operation, places)):
            for fault in (Fault(number), Fault(number, errno.EIO)):
                place = places.fresh()
                with shim(place, fault) as seen, contextlib.suppress(ShipchatError):
                    operation.act(FileSessionStore(place))
                assert seen.hit
                store = next_start(place)
                with contextlib.suppress(IndexError):  # erased already
                    operation.act(store)
                assert state(place) == wanted, str(fault)
                shutil.rmtree(place)


def test_locks_are_never_removed_or_renamed() -> None:
    with memory_directory() as base:
        for operation in (*OPERATIONS, *ERASING):
            with Places(base, operation) as places:
                place = places.fresh()
                before = _locks(place)
                with shim(place) as seen:
                    operation.act(FileSessionStore(place))
                after = _locks(place)
                assert {name: after[name] for name in before} == before
                for call in seen.calls:
                    if call.name in ("unlink", "rename", "replace"):
                        assert not call.path.endswith((".hold", ".write")), call


def _locks(place: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in place.glob(".locks/*.[hw]*")}
