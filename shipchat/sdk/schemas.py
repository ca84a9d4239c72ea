"""Python annotations as JSON schemas, and JSON values as the annotated types: both ways through one table of types."""

import dataclasses
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from shipchat.core.errors import UsageError
from shipchat.core.messages import Json

_SIMPLE: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


class ArgumentError(ValueError):
    """A value that a model gave and that does not fit; the message says which and what was expected."""


def schema_of(kind: Any) -> dict[str, Json]:
    """Return the JSON schema of an annotation. Raises UsageError for one that has none.

    >>> schema_of(list[int])
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if kind is None or kind is types.NoneType:
        return {"type": "null"}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if origin is Annotated:
        notes: list[Json] = [note for note in args[1:] if isinstance(note, str)]
        return schema_of(args[0]) | ({"description": notes[0]} if notes else {})
    if origin in (Required, NotRequired):
        return schema_of(args[0])
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in args]}
    if kind is list or origin is list:
        return {"type": "array", "items": schema_of(args[0])} if args else {"type": "array"}
    if kind is dict or origin is dict:
        if args and args[0] is not str:
            raise UsageError(f"{_name(kind)} has no JSON form: keys are strings")
        return {"type": "object", "additionalProperties": schema_of(args[1])} if args else {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    if is_typeddict(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        hints, required = _fields(kind)
        return object_schema({name: schema_of(hint) for name, hint in hints.items()}, required)
    raise UsageError(
        f"{_name(kind)} can't be described to a model",
        advice=(
            "Use str, int, float, bool, list, dict, Literal, Enum, Optional, a dataclass or a TypedDict.",
        ),
    )


def object_schema(properties: dict[str, dict[str, Json]], required: list[str]) -> dict[str, Json]:
    """Return the schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": {**properties},
        "required": [*required],
        "additionalProperties": False,
    }


def value_of(kind: Any, value: Json, where: str) -> Any:
    """Return a JSON value as the annotated type. Raises ArgumentError; `where` names the value in it.

    >>> value_of(float, 3, "size")
    3.0
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Annotated, Required, NotRequired):
        return value_of(args[0], value, where)
    if origin in (Union, types.UnionType):
        return _one_of(args, value, where)
    if origin is Literal:
        return _chosen(value, [(one, one) for one in args], where)
    if kind is list or origin is list:
        items = _expect(list, value, "a list", where)
        return [value_of(args[0], one, f"{where}[{at}]") for at, one in enumerate(items)] if args else items
    if kind is dict or origin is dict:
        entries = _expect(dict, value, "an object", where)
        return (
            {name: value_of(args[1], one, f"{where}.{name}") for name, one in entries.items()}
            if args
            else entries
        )
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _chosen(value, [(one.value, one) for one in kind], where)
    if is_typeddict(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        hints, required = _fields(kind)
        make: Callable[..., Any] = dict if is_typeddict(kind) else kind
        return make(**fitted(hints, required, _expect(dict, value, "an object", where), f"{where}."))
    return _simple(kind, value, where)


def fitted(
    hints: Mapping[str, Any], required: list[str], given: dict[str, Json], where: str = ""
) -> dict[str, Any]:
    """Return the values of an object as the types in `hints`. Raises ArgumentError for missing and unknown ones."""
    missing = [where + name for name in required if name not in given]
    if missing:
        raise ArgumentError(f"missing: {', '.join(missing)}")
    unknown = [where + name for name in given if name not in hints]
    if unknown:
        raise ArgumentError(f"unknown: {', '.join(unknown)}; there are: {', '.join(hints) or 'no arguments'}")
    return {name: value_of(hints[name], value, where + name) for name, value in given.items()}


def _simple(kind: Any, value: Json, where: str) -> Any:
    if kind is None or kind is types.NoneType:
        return _expect(types.NoneType, value, "null", where)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)  # 3.0 is 3 in JSON
    if kind is not bool and isinstance(value, bool):
        raise _wrong(_SIMPLE[kind], value, where)
    return _expect(kind, value, _SIMPLE[kind], where)


def _one_of(kinds: tuple[Any, ...], value: Json, where: str) -> Any:
    errors: list[str] = []
    for kind in kinds:
        try:
            return value_of(kind, value, where)
        except ArgumentError as error:
            errors.append(str(error))
    raise ArgumentError(" or ".join(dict.fromkeys(errors)))


def _chosen(value: Json, choices: list[tuple[Any, Any]], where: str) -> Any:
    for choice, means in choices:
        if choice == value and type(choice) is type(value):  # 1 and True are equal
            return means
    raise ArgumentError(
        f"{where}: expected one of {', '.join(repr(choice) for choice, _ in choices)}, got {value!r:.80}"
    )


def _expect(kind: type, value: Json, name: str, where: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(name, value, where)
    return value


def _wrong(name: str, value: Json, where: str) -> ArgumentError:
    return ArgumentError(f"{where}: expected {name}, got {value!r:.80}")


def _fields(kind: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the annotations of a dataclass or TypedDict, and which of its fields must be given."""
    hints = get_type_hints(kind, include_extras=True)
    if is_typeddict(kind):
        return hints, [name for name in hints if name in kind.__required_keys__]
    made = [one for one in dataclasses.fields(kind) if one.init]
    required = [
        one.name
        for one in made
        if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
    ]
    return {one.name: hints[one.name] for one in made}, required


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
