"""Python functions as tools: what a model is told of them, and what they are called with."""

import asyncio
import functools
import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat import Agent, InMemorySessionStore, UsageError, tool
from shipchat.sdk.builtin_tools import calculate, current_time
from shipchat.sdk.docstrings import described
from shipchat.sdk.python_tools import PythonTool, ToolOptions, text_of, tool_of
from shipchat.sdk.schemas import ArgumentError, schema_of, value_of


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    city: str
    zip: int | None = None
    tags: list[str] = field(default_factory=list)


class Ticket(TypedDict):
    id: int
    title: NotRequired[str]


def search(  # noqa: PLR0917 -- one parameter of each kind
    text: str,
    limit: int = 10,
    exact: bool = False,
    score: Annotated[float, "the least score"] = 0.5,
    colour: Colour | None = None,
    order: Literal["newest", "oldest"] = "newest",
    place: Optional[Place] = None,  # noqa: UP045 -- both spellings count
    tickets: list[Ticket] | None = None,
    more: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Search the tickets.

    Looks everywhere.

    Args:
        text: what to look for,
            word for word
        limit (int): how many at most

    Returns:
        what was found
    """
    return {name: value for name, value in locals().items() if value is not None}


NULL = {"type": "null"}
PLACE = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "zip": {"anyOf": [{"type": "integer"}, NULL]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}
TICKET = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "title": {"type": "string"}},
    "required": ["id"],
    "additionalProperties": False,
}


def test_a_function_is_described_by_its_annotations_and_docstring() -> None:
    spec = tool_of(search).spec
    assert spec.name == "search"
    assert spec.description == "Search the tickets.\n\nLooks everywhere."
    assert spec.schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what to look for, word for word"},
            "limit": {"type": "integer", "description": "how many at most"},
            "exact": {"type": "boolean"},
            "score": {"type": "number", "description": "the least score"},
            "colour": {"anyOf": [{"enum": ["red", "blue"]}, NULL]},
            "order": {"enum": ["newest", "oldest"]},
            "place": {"anyOf": [PLACE, NULL]},
            "tickets": {"anyOf": [{"type": "array", "items": TICKET}, NULL]},
            "more": {"anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}}, NULL]},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def run(function: Any, **arguments: Any) -> str:
    return asyncio.run(tool_of(function).run(json.dumps(arguments)))


def test_arguments_arrive_as_the_types_that_were_asked_for() -> None:
    got: dict[str, Any] = {}

    def keep(*, colour: Colour, place: Place, ticket: Ticket, size: float, count: int, what: Any) -> None:
        got.update(locals())
        del got["got"]

    given = {
        "colour": "red",
        "place": {"city": "Oslo", "zip": 150},
        "ticket": {"id": 7},
        "size": 3,
        "count": 4.0,
    }
    assert run(keep, **given, what=[None]) == "(done; nothing was returned)"
    assert got == {
        "colour": Colour.RED,
        "place": Place("Oslo", 150, []),
        "ticket": {"id": 7},
        "size": 3.0,
        "count": 4,
        "what": [None],
    }
    assert (type(got["size"]), type(got["count"])) == (float, int)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{}", "missing: text"),
        ("nonsense", "the arguments are not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[1]", "the arguments are not an object"),
        ('{"text": 3}', "text: expected string, got 3"),
        ('{"text": "x", "limit": true}', "limit: expected integer, got True"),
        ('{"text": "x", "limit": 1.5}', "limit: expected integer, got 1.5"),
        ('{"text": "x", "wrong": 1}', "unknown: wrong; there are: text, limit, exact"),
        ('{"text": "x", "order": "any"}', "order: expected one of 'newest', 'oldest', got 'any'"),
        (
            '{"text": "x", "colour": "green"}',
            "colour: expected one of 'red', 'blue', got 'green' or colour: expected null",
        ),
        ('{"text": "x", "place": {"zip": 1}}', "missing: place.city"),
        ('{"text": "x", "tickets": [{"id": "7"}]}', "tickets[0].id: expected integer, got '7'"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        asyncio.run(tool_of(search).run(arguments))
    assert str(caught.value).startswith(message)


def test_no_arguments_at_all_is_an_empty_object() -> None:
    assert asyncio.run(tool_of(lambda_free).run("")) == "free"


def lambda_free() -> str:
    return "free"


class Callable_:  # noqa: N801 -- its name becomes the tool's
    def __call__(self, city: str) -> str:
        """Call it."""
        return city.upper()

    def shout(self, city: str) -> str:
        return city.upper() + "!"


async def wait(city: str) -> str:
    await asyncio.sleep(0)
    return city.lower()


def test_everything_that_can_be_called_by_name_can_be_a_tool() -> None:
    assert run(Callable_(), city="Oslo") == "OSLO"
    assert run(wait, city="Oslo") == "oslo"
    assert run(Callable_().shout, city="Oslo") == "OSLO!"
    spelled = tool(name="towns")(functools.partial(wait))
    assert tool_of(spelled).spec.name == "towns"
    assert run(spelled, city="Oslo") == "oslo"


def test_options_of_a_tool_replace_what_the_function_says() -> None:
    @tool(name="find", description="Find it.", timeout=5, max_output=100)
    def look(text: str) -> str:
        """Look."""
        return text

    found = tool_of(look)
    assert (found.spec.name, found.spec.description, found.timeout, found.max_output) == (
        "find",
        "Find it.",
        5,
        100,
    )
    assert (tool_of(search).timeout, tool_of(search).max_output) == (60.0, 50_000)
    assert tool(look) is look


def no_annotation(x):  # type: ignore[no-untyped-def]  # noqa: ANN001 -- on purpose
    return x


def star(*args: int) -> None: ...


def only_positional(x: int, /) -> None: ...


def strange(x: complex) -> None: ...


def strange_keys(x: dict[int, str]) -> None: ...


def unresolved(x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821 -- on purpose


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (no_annotation, "its parameter x has no annotation"),
        (star, r"\*args: int can't be given by name"),
        (only_positional, "x: int can't be given by name"),
        (strange, "its parameter x: complex can't be described to a model"),
        (strange_keys, "keys are strings"),
        (unresolved, "its parameters can't be read"),
        (lambda: "x", "'<lambda>' can't be the name of a tool"),
        ("text", "it is no function"),
    ],
)
def test_what_can_not_be_a_tool_is_refused_when_the_agent_is_made(function: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        Agent(session_store=InMemorySessionStore(), tools=[function])


def test_two_tools_of_one_name_and_senseless_limits_are_refused() -> None:
    with pytest.raises(UsageError, match="two tools are called search"):
        Agent(session_store=InMemorySessionStore(), tools=[search, search])
    for options in (ToolOptions(timeout=0), ToolOptions(max_output=0)):
        with pytest.raises(UsageError, match="needs a timeout above 0"):
            PythonTool(search, options)


def test_results_are_text_or_json() -> None:
    results = ("text", None, {"a": [1, "ä"]}, Place("Oslo"), 3.5, {"when": Colour.RED})
    assert [text_of(result) for result in results] == [
        "text",
        "(done; nothing was returned)",
        '{"a": [1, "ä"]}',
        '{"city": "Oslo", "zip": null, "tags": []}',
        "3.5",
        '{"when": "Colour.RED"}',
    ]


def test_sphinx_docstrings_are_understood_as_well() -> None:
    text = "Do it.\n\n:param str a: the first\n    of two\n:param b: the second\n:returns: nothing"
    assert described(text) == ("Do it.", {"a": "the first of two", "b": "the second"})
    assert described("") == ("", {})


KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text()),
    (int, st.integers()),
    (bool, st.booleans()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (list[int], st.lists(st.integers())),
    (dict[str, bool], st.dictionaries(st.text(), st.booleans())),
    (int | None, st.none() | st.integers()),
    (Literal["a", 1, True], st.sampled_from(["a", 1, True])),
]


@given(st.sampled_from(KINDS).flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1])))
def test_a_value_of_its_type_comes_through_json_unchanged(case: tuple[Any, Any]) -> None:
    kind, value = case
    assert schema_of(kind)
    back = value_of(kind, json.loads(json.dumps(value)), "x")
    assert (back, type(back)) == (value, type(value))


def test_the_tools_that_come_along() -> None:
    assert calculate("2 ** 10 - -(3 / 4)") == "1024.75"
    for bad in ("__import__('os')", "9 ** 9 ** 9", "True + 1", "a", "1" * 1001, "(1).real"):
        with pytest.raises((ValueError, SyntaxError)):
            calculate(bad)
    assert current_time("Asia/Tokyo").endswith("+09:00")
