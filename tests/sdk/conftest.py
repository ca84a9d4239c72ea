"""Stores of three kinds, and a data directory that is nobody's."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from shipchat import FileSessionStore, InMemorySessionStore, SessionRecord, SessionStore


class OwnStore:
    """The least a user's store can be."""

    def __init__(self) -> None:
        self.records: dict[str, SessionRecord] = {}

    def load(self, session_id: str) -> SessionRecord | None:
        return self.records.get(session_id)

    def save(self, record: SessionRecord) -> None:
        self.records[record.key] = record

    def list_all(self) -> Iterable[SessionRecord]:
        return list(self.records.values())


@pytest.fixture(params=["file", "memory", "own"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    if request.param == "file":
        return FileSessionStore(tmp_path / "sessions")
    return InMemorySessionStore() if request.param == "memory" else OwnStore()


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHIPCHAT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"
