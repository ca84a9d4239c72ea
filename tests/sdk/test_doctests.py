"""Every public name of the Python API has an example, and every example runs."""

import doctest
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

import shipchat
import shipchat.sdk

MODULES = [module.name for module in pkgutil.iter_modules(shipchat.sdk.__path__, "shipchat.sdk.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def public() -> Iterator[tuple[str, object]]:
    for name in shipchat.sdk.__all__:
        value = getattr(shipchat.sdk, name)
        yield name, value
        if inspect.isclass(value) and not issubclass(value, Exception):
            for method, function in vars(value).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "value"), list(public()), ids=[name for name, _ in public()])
def test_every_public_name_has_an_example(name: str, value: object) -> None:
    assert ">>>" in (inspect.getdoc(value) or ""), name


def test_every_name_that_is_promised_is_there() -> None:
    assert {name for name in shipchat.__all__ if not hasattr(shipchat, name)} == set()
    assert set(shipchat.__all__) <= set(dir(shipchat))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = shipchat.nonsense
