"""Python functions as tools: described to the model by annotations and docstring, run in a thread or on their loop."""

import asyncio
import dataclasses
import inspect
import json
import re
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, Final, TypeVar, get_type_hints, overload

from shipchat.core.errors import UsageError
from shipchat.core.messages import Json
from shipchat.core.protocols import Tool, ToolSpec
from shipchat.sdk.background import CALLER
from shipchat.sdk.docstrings import described
from shipchat.sdk.schemas import ArgumentError, fitted, object_schema, schema_of

TIMEOUT: Final = 60.0
"""Seconds that a tool has unless it is given another time."""

MAX_OUTPUT: Final = 50_000
"""Characters of a result that a model is sent unless told otherwise: about 12,000 tokens."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")  # what Anthropic and OpenAI both take
_ATTRIBUTE: Final = "__shipchat_tool__"

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, slots=True)
class ToolOptions:
    """What `tool` was told of a function. `timeout` in seconds, `max_output` in characters."""

    name: str | None = None
    description: str | None = None
    timeout: float = TIMEOUT
    max_output: int = MAX_OUTPUT


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float = TIMEOUT,
    max_output: int = MAX_OUTPUT,
) -> Callable[[Function], Function]: ...
def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float = TIMEOUT,
    max_output: int = MAX_OUTPUT,
) -> Any:
    """Say more of a function that is a tool; it stays the function it was, for `Agent(tools=[...])`.

    `name` and `description` replace the function's own name and docstring. After `timeout` seconds the model is told
    that nothing came back (a thread can't be stopped: it is left behind). Of a result longer than `max_output`
    characters the middle is left out. Raises UsageError for a function that can't be a tool.

    >>> from shipchat import tool
    >>> @tool(timeout=5)
    ... def weather(city: str, days: int = 1) -> str:
    ...     '''Tell the weather of a city.'''
    ...     return f"{city}: rain for {days} days"
    >>> weather("Oslo")
    'Oslo: rain for 1 days'
    """
    options = ToolOptions(name, description, timeout, max_output)

    def note(function: Function) -> Function:
        PythonTool(function, options)  # a mistake shows where it was made
        setattr(function, _ATTRIBUTE, options)
        return function

    return note if function is None else note(function)


def tool_of(one: Any) -> Tool:
    """Return the tool that `one`, a function or a tool already, is. Raises UsageError when it can be neither."""
    if isinstance(one, PythonTool):
        return one
    if all(hasattr(one, name) for name in ("spec", "timeout", "max_output", "run")):
        ready: Tool = one
        return ready
    if not callable(one):
        raise UsageError(f"{one!r:.80} can't be a tool: it is no function")
    return PythonTool(one, getattr(one, _ATTRIBUTE, ToolOptions()))


class PythonTool:
    """A function as a tool; implements `core.protocols.Tool`."""

    def __init__(self, function: Callable[..., Any], options: ToolOptions) -> None:
        """Raises UsageError, naming the parameter, for a function whose parameters can't be described."""
        self._function = function
        self.timeout = options.timeout
        self.max_output = options.max_output
        name: str = options.name or getattr(function, "__name__", None) or type(function).__name__
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} can't be the name of a tool: letters, digits, _ and -, at most 64",
                advice=("Give it one: tool(name=...).",),
            )
        if options.timeout <= 0 or options.max_output < 1:
            raise UsageError(f"the tool {name} needs a timeout above 0 and a max_output of at least 1")
        self._hints, self._required = _parameters(function, name)
        about, arguments = described(inspect.getdoc(function) or "")
        properties: dict[str, dict[str, Json]] = {}
        for parameter, hint in self._hints.items():
            schema = _schema(name, parameter, hint)
            if parameter in arguments and "description" not in schema:
                schema["description"] = arguments[parameter]
            properties[parameter] = schema
        self.spec = ToolSpec(name, options.description or about, object_schema(properties, self._required))

    def __repr__(self) -> str:
        return f"PythonTool({self.spec.name!r})"

    async def run(self, arguments: str) -> str:
        """Call the function with `arguments` (JSON text) and return what it returned as text."""
        try:
            given = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"the arguments are not JSON: {error}") from None
        if not isinstance(given, dict):
            raise ArgumentError("the arguments are not an object")
        values = fitted(self._hints, self._required, given)
        if inspect.iscoroutinefunction(self._function):
            return text_of(await _on_their_loop(self._function(**values)))
        result = await _in_a_thread(lambda: self._function(**values))
        if inspect.iscoroutine(result):  # a callable object or partial whose call is a coroutine
            result = await _on_their_loop(result)
        return text_of(result)


def text_of(result: Any) -> str:
    """Return what a function returned as the model is told it: text as it is, all else as JSON where it has any."""
    if isinstance(result, str):
        return result
    if result is None:
        return "(done; nothing was returned)"
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        result = dataclasses.asdict(result)
    return json.dumps(result, ensure_ascii=False, default=str)


def _parameters(function: Callable[..., Any], name: str) -> tuple[dict[str, Any], list[str]]:
    target = function if inspect.isroutine(function) else getattr(function, "func", type(function).__call__)
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(target, include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise UsageError(f"{name} can't be a tool: its parameters can't be read ({error})") from error
    found: dict[str, Any] = {}
    required: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(f"{name} can't be a tool: {parameter} can't be given by name")
        if parameter.name not in hints:
            raise UsageError(
                f"{name} can't be a tool: its parameter {parameter.name} has no annotation",
                advice=(f"Say what it is, for example {parameter.name}: str",),
            )
        found[parameter.name] = hints[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return found, required


def _schema(name: str, parameter: str, hint: Any) -> dict[str, Json]:
    try:
        return schema_of(hint)
    except UsageError as error:
        raise UsageError(
            f"{name} can't be a tool: its parameter {parameter}: {error}", advice=error.advice
        ) from error


async def _on_their_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """Await a user's coroutine on the loop they called us from, where their connections live; else here."""
    theirs = CALLER.get()
    if theirs is None or theirs is asyncio.get_running_loop() or not theirs.is_running():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, theirs))


async def _in_a_thread(work: Callable[[], Any]) -> Any:
    """Call `work` in a thread of its own: one that hangs costs nobody else a thread, and never keeps a program up."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():  # abandoned: too late, or interrupted
            return
        if error is None:
            done.set_result(result)
        else:
            # StopIteration and SystemExit can't leave a future, or would end the loop.
            fit = isinstance(error, Exception) and not isinstance(error, StopIteration)
            done.set_exception(error if fit else RuntimeError(repr(error)))

    def call() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 -- handed on to whoever waits
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    context = copy_context()
    threading.Thread(target=context.run, args=(call,), name="shipchat-tool", daemon=True).start()
    return await done
