from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.model_fixture import local_model_dir

__all__ = ["local_model_dir"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)
