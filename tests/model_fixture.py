"""The real local model for tests: fetched once through our own pull code, then reused from run to run.

It is kept in the directory that SHIPCHAT_TEST_MODELS names, else in ~/.cache/shipchat-test-models. Workers of
pytest-xdist that come at the same time wait for the first (the models directory has a lock). Use it with

    from tests.model_fixture import local_model_dir  # in a conftest.py or a test module

and mark the tests with `pytest.mark.model`.
"""

import os
from pathlib import Path

import pytest

from shipchat.providers.local_models import LocalModels


@pytest.fixture(scope="session")
def local_model_dir() -> Path:
    pytest.importorskip("xllamacpp", reason="needs the extra: pip install -e '.[local]'")
    default = Path.home() / ".cache" / "shipchat-test-models"
    directory = Path(os.environ.get("SHIPCHAT_TEST_MODELS") or default)
    LocalModels(directory).pull("smollm2", progress=lambda _: None)
    return directory
