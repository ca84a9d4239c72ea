"""Running the tools that a model calls: side by side, within their time, and with results of a bearable length.

What a tool is, is its own affair (`core.protocols.Tool`); when calls are run, and how results are kept, is `turn`'s.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shipchat.core.errors import ShipchatError, UsageError
from shipchat.core.events import StreamEvent
from shipchat.core.messages import ToolCallPart, ToolResult
from shipchat.core.models import ModelInfo
from shipchat.core.protocols import ModelRequest, Provider, Tool, ToolSpec
from shipchat.core.safe_text import without_surrogates

MAX_CALLS: Final = 50
"""Model calls in one turn at most: a model that never stops calling tools must not run up a bill."""

_HEAD_SHARE: Final = 0.75  # of a result that is too long, the beginning tells more than the end


class TooManyModelCalls(ShipchatError):
    """A model called tools again and again and was stopped."""

    code = "too_many_model_calls"
    exit_code = 7


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of an agent by name."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Toolbox":
        """Return the box of `tools`. Raises UsageError when two have one name."""
        named: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in named:
                raise UsageError(f"two tools are called {tool.spec.name}")
            named[tool.spec.name] = tool
        return cls(named)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of them, always in the same order."""
        return tuple(tool.spec for tool in self.tools.values())

    async def run(
        self, calls: Mapping[int, ToolCallPart], finished: Callable[[int, ToolResult], Awaitable[None]]
    ) -> None:
        """Run all `calls` side by side; `finished` is awaited with each place and result as it comes.

        Tools that fail give a result that says so. Cancelling this abandons what still runs.
        """

        async def one(place: int, call: ToolCallPart) -> None:
            await finished(place, await self._result(call))

        async with asyncio.TaskGroup() as group:
            for place, call in calls.items():
                group.create_task(one(place, call))

    async def _result(self, call: ToolCallPart) -> ToolResult:
        tool = self.tools.get(call.name)
        if tool is None:
            there = ", ".join(self.tools) or "none"
            return ToolResult(f"there is no tool {call.name!r}; tools: {there}", is_error=True)
        time_is_up = asyncio.timeout(tool.timeout)
        try:
            async with time_is_up:
                output, is_error = await tool.run(call.arguments), False
        except Exception as error:  # noqa: BLE001 -- a tool may raise anything; the model is told
            is_error = True
            if isinstance(error, TimeoutError) and time_is_up.expired():
                output = f"nothing came back within {tool.timeout:g} s; the outcome is unknown"
            else:
                output = f"{type(error).__name__}: {error}".removesuffix(": ")
        return ToolResult(shortened(without_surrogates(output), tool.max_output), is_error=is_error)


def shortened(text: str, limit: int) -> str:
    """Return `text`, without its middle when it has more than `limit` characters; a marker says how much is missing."""
    if len(text) <= limit:
        return text
    head = int(limit * _HEAD_SHARE)
    tail = limit - head
    marker = f"\n[… {len(text) - limit:,} of {len(text):,} characters left out …]\n"
    return text[:head] + marker + text[len(text) - tail :]


@dataclass(frozen=True, slots=True)
class Equipped:
    """A provider together with the tools that its model may call in a turn: whoever answers brings them along.

    Other calls (a summary, a title) go through it and know nothing of the tools.
    """

    provider: Provider
    toolbox: Toolbox

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Yield what the provider yields."""
        return self.provider.stream(request)

    async def info(self, model: str) -> ModelInfo:
        """Return what the provider says of `model`."""
        return await self.provider.info(model)

    async def close(self) -> None:
        """Close the provider."""
        await self.provider.close()


def toolbox_of(provider: Provider) -> Toolbox:
    """Return the tools that come with `provider`; none for one that is not `Equipped`."""
    return provider.toolbox if isinstance(provider, Equipped) else Toolbox()
