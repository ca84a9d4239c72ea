from pathlib import Path

import pytest

from shipchat.index import catalogue
from tests.index.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(autouse=True)
def _never_small(monkeypatch: pytest.MonkeyPatch) -> None:
    # A few small sessions are read without any index; here the index is what is tested.
    monkeypatch.setattr(catalogue, "SMALL_COUNT", -1)
