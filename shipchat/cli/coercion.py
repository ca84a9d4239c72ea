"""Turns the words of a command line into values, without pydantic.

Typer 0.29 builds a pydantic adapter for each parameter; importing pydantic alone takes 80 to 130 ms, more than all else
that `shipchat list` does. Our parameters are texts, whole numbers, choices and lists of texts: that needs none of it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import typer


def lighten(params: Sequence[Any]) -> None:
    """Let typer's `params` coerce values with the functions here; kinds that are not ours stay typer's affair."""
    for param in params:
        convert = _converter(param)
        if convert is not None:
            plain = _Plain(convert)
            # Shadows the method by which a parameter gets its adapter. Were typer to stop asking it, pydantic would
            # do the same work again: slower, never wrong; a test of what is imported would tell.
            param.get_runtime_param = plain.itself


class _Plain:
    """What a parameter asks to coerce its value, in place of typer's adapter."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert

    def itself(self) -> "_Plain":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        try:
            return [self._convert(one) for one in value] if many else self._convert(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from None


def _converter(param: Any) -> Callable[[Any], Any] | None:
    kind = param.type_descriptor
    if kind.choices is not None:
        return _choice([str(choice) for choice in kind.choices])
    if kind.annotation is int:
        return _number(param.min, param.max)
    if kind.annotation is bool:
        return _flag
    if kind.annotation in (str, list[str]):
        return str
    return None


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither yes nor no")


def _choice(choices: list[str]) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value in choices:
            return str(value)
        raise ValueError(f"{value!r} is none of {', '.join(choices)}")

    return convert


def _number(least: int | None, most: int | None) -> Callable[[Any], int]:
    def convert(value: Any) -> int:
        try:
            number = int(value)
        except (ValueError, OverflowError):
            raise ValueError(f"{str(value)[:40]!r} is no whole number") from None
        if least is not None and number < least:
            raise ValueError(f"{number} is below {least}")
        if most is not None and number > most:
            raise ValueError(f"{number} is above {most}")
        return number

    return convert
