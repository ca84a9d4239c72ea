"""One conformance suite against every store."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import HolderInfo, SessionConflict, StoreUnavailable
from shipchat.core.protocols import Hold, SessionStore
from shipchat.stores.complete import complete
from shipchat.stores.file import FileSessionStore
from shipchat.stores.memory import InMemorySessionStore
from shipchat.testing.conformance import StoreConformance
from shipchat.testing.samples import header, prompt, raises


class TestFileStore(StoreConformance):
    @pytest.fixture(autouse=True)
    def directory(self, tmp_path: Path) -> None:
        self.root = tmp_path / "data" / "sessions"

    def make_store(self) -> SessionStore:
        shutil.rmtree(self.root, ignore_errors=True)
        return FileSessionStore(self.root)


class TestMemoryStore(StoreConformance):
    def make_store(self) -> SessionStore:
        return InMemorySessionStore()


class ThreeMethods:
    """The least a store can be, as a user would write it."""

    def __init__(self) -> None:
        self.records: dict[str, SessionRecord] = {}

    def load(self, session_id: str) -> SessionRecord | None:
        return self.records.get(session_id)

    def save(self, record: SessionRecord) -> None:
        stored = self.records.get(record.key)
        if stored is not None and not {e.id for e in stored.entries} <= {e.id for e in record.entries}:
            raise SessionConflict("entries are missing")
        self.records[record.key] = record

    def list_all(self) -> Iterator[SessionRecord]:
        return iter(list(self.records.values()))


class TestCompletedStore(StoreConformance):
    deletes = False
    refuses_case_clash = False

    def make_store(self) -> SessionStore:
        return ThreeMethods()


def test_a_store_with_everything_is_its_own_completion() -> None:
    store = InMemorySessionStore()
    assert complete(store) is store


def test_capabilities_that_a_store_has_are_used() -> None:
    class WithHolds(ThreeMethods):
        def __init__(self) -> None:
            super().__init__()
            self.inner = InMemorySessionStore()

        def hold(self, key: str, program: str) -> Hold:
            return self.inner.hold(key, program)

        def holder(self, key: str) -> HolderInfo | None:
            return self.inner.holder(key)

    own = WithHolds()
    store = complete(own)
    hold = store.hold("k", "p")
    assert own.inner.holder("k") == store.holder("k") is not None
    hold.release()


def test_two_completions_of_one_store_share_their_holds() -> None:
    store = ThreeMethods()
    one, two = complete(store), complete(store)
    hold = one.hold("k", "here")
    assert two.holder("k") == one.holder("k") is not None
    hold.release()


def test_a_failing_save_says_not_saved() -> None:
    class Full(ThreeMethods):
        def save(self, record: SessionRecord) -> None:
            raise OSError(28, f"No space left on device for {record.key}")

    store = complete(Full())
    with pytest.raises(StoreUnavailable, match=r"NOT SAVED: .*No space left on device"):
        store.create(SessionRecord(header("k"), (prompt("a"),)))


def test_what_the_suite_expects_is_exact() -> None:
    with pytest.raises(AssertionError), raises(StoreUnavailable):
        raise SessionConflict("another kind")
    with pytest.raises(AssertionError), raises(StoreUnavailable):
        tempfile.gettempdir()
