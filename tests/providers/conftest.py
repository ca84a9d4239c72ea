"""Fixtures of the provider tests."""

from tests.model_fixture import local_model_dir

__all__ = ["local_model_dir"]
