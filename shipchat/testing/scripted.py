"""A provider that answers from a script: exact, quick, and stoppable at any place, for tests in and out of process.

In a test's own process, give `ScriptedProvider` replies made of texts, events, exceptions, pauses and gates:

    gate = asyncio.Event()
    provider = ScriptedProvider(["a whole reply", Reply((TextDelta("half "), gate, TextDelta("of it")))])

A `Reply` whose steps hold no StreamEnded is ended properly for you; `ends=False` makes a stream that merely stops.

In a process that a test starts (`shipchat send` and the like), two environment variables plug it in as
`scripted/<any name>`:

    SHIPCHAT_EXTRA_PROVIDERS=scripted=shipchat.testing.scripted:from_environment
    SHIPCHAT_TEST_SCRIPT=/path/to/script.json

The script is JSON; all fields but `replies` are optional:

    {"replies": [{"chunks": ["Hel", "lo"], "delay": 0.05, "first_delay": 0, "stop_reason": "stop",
                  "usage": {"input_tokens": 3, "output_tokens": 2}, "ends": true,
                  "fails": {"code": "provider_unavailable", "message": "..."}},
                 {"echo": true}],
     "repeat_last": true, "window": 100000, "max_output": 4096, "log": "/path/to/requests.jsonl",
     "accepts": ["text", "image", "pdf"]}

`delay` (seconds) comes before each chunk, so that a test can kill the process in mid-reply. `echo` answers with all
that was sent, a line a message (`role: text`, the system prompt first). `fails` raises that error after the
chunks. Without `repeat_last`, a request beyond the last reply fails. `log` gets a JSON line a request.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from shipchat.core.attachments import TEXT_ONLY
from shipchat.core.errors import (
    ConfigInvalid,
    ContextOverflow,
    ProviderAuth,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    ShipchatError,
)
from shipchat.core.events import StreamEnded, StreamEvent, TextDelta
from shipchat.core.messages import AssistantMessage, AttachmentPart, Message, Usage
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import ModelRequest

SCRIPT_VARIABLE: Final = "SHIPCHAT_TEST_SCRIPT"
"""The environment variable that names the script's file."""

_ERRORS: Final[Mapping[str, type[ShipchatError]]] = {
    kind.code: kind
    for kind in (
        ContextOverflow,
        ProviderAuth,
        ProviderError,
        ProviderRateLimited,
        ProviderRejected,
        ProviderUnavailable,
    )
}


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait this many seconds: only for processes that a test will kill; inside a process use a gate."""

    seconds: float


Step: TypeAlias = str | StreamEvent | BaseException | asyncio.Event | Pause
"""A text (a delta), an event, an error to raise, or a gate or pause to wait for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, step by step; ended with `stop_reason` and `usage` unless a step ends it or `ends` is False."""

    steps: tuple[Step, ...]
    stop_reason: str = "stop"
    usage: Usage | None = None
    ends: bool = True


Answer: TypeAlias = str | Reply | Sequence[Step] | Callable[[ModelRequest], "str | Reply"]
"""A reply in a script: a text, steps, or a function of the request."""


@dataclass
class ScriptedProvider:
    """Answers each request with the next of `answers`; implements `core.protocols.Provider`.

    `requests` are those it got, in order; `cancelled` counts the replies that were closed before their end;
    `closed` tells whether `close` was called. With `repeat_last` the last answer is given again and again.
    """

    answers: Sequence[Answer]
    repeat_last: bool = False
    window: int = 100_000
    max_output: int = 4096
    name: str = "scripted"
    log: Path | None = None
    accepts: frozenset[str] = TEXT_ONLY
    requests: list[ModelRequest] = field(default_factory=list)
    cancelled: int = 0
    closed: bool = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the next answer of the script. Raises what it says, and ProviderRejected when it is at its end."""
        reply = self._next(request)
        whole = False
        now = asyncio.get_running_loop().time
        due = now()  # a server sends by its own clock, however busy whoever listens is
        try:
            for step in reply.steps:
                match step:
                    case str():
                        yield TextDelta(step)
                    case asyncio.Event():
                        await step.wait()
                        due = now()
                    case Pause():
                        due += step.seconds
                        await asyncio.sleep(max(0.0, due - now()))
                    case BaseException():
                        whole = True
                        raise step
                    case StreamEnded():
                        whole = True
                        yield step
                        return
                    case _:
                        yield step
            whole = True
            if reply.ends:
                yield StreamEnded(reply.stop_reason, reply.usage)
        finally:
            self.cancelled += not whole

    async def info(self, model: str) -> ModelInfo:
        """Return the window and limit that the script gives."""
        return ModelInfo(
            ModelRef(self.name, model),
            self.window,
            self.max_output,
            note="a script, for tests",
            accepts=self.accepts,
        )

    async def close(self) -> None:
        """Note that it was closed."""
        self.closed = True

    def _next(self, request: ModelRequest) -> Reply:
        number = len(self.requests)
        self.requests.append(request)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"model": request.model, "sent": sent_text(request)}) + "\n")
        if number >= len(self.answers):
            if not (self.repeat_last and self.answers):
                raise ProviderRejected(
                    f"the script has {len(self.answers)} replies; this is request {number + 1}"
                )
            number = len(self.answers) - 1
        answer = self.answers[number]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Reply):
            return answer
        return Reply((answer,)) if isinstance(answer, str) else Reply(tuple(answer))


def sent_text(request: ModelRequest) -> str:
    """Return all that `request` sends, a line a message: `role: text`, the system prompt first when there is one.

    A file that goes with a message stands behind its text: ` [name, type, bytes]`.
    """
    lines = [f"system: {request.system}"] if request.system else []
    lines += [
        f"{'assistant' if isinstance(message, AssistantMessage) else 'user'}: {message.text}{_files(message)}"
        for message in request.messages
    ]
    return "\n".join(lines)


def _files(message: Message) -> str:
    files = [part for part in message.parts if isinstance(part, AttachmentPart)]
    return "".join(f" [{one.name}, {one.media_type}, {one.size}]" for one in files)


def from_environment() -> ScriptedProvider:
    """Return the provider of the script that SHIPCHAT_TEST_SCRIPT names. Raises ConfigInvalid for a bad one."""
    place = os.environ.get(SCRIPT_VARIABLE, "")
    if not place:
        raise ConfigInvalid(f"{SCRIPT_VARIABLE} names no script")
    return from_file(Path(place))


def from_file(path: Path) -> ScriptedProvider:
    """Return the provider of the JSON script at `path` (see the module's head). Raises ConfigInvalid for a bad one."""
    try:
        script: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(script, dict):
            raise ConfigInvalid(f"{path}: a script is a JSON object")
        known = {"replies", "repeat_last", "window", "max_output", "log", "accepts"}
        if unknown := script.keys() - known:
            raise ConfigInvalid(f"{path}: unknown in a script: {', '.join(sorted(unknown))}")
        return ScriptedProvider(
            [_answer(reply) for reply in script["replies"]],
            repeat_last=script.get("repeat_last", False),
            window=script.get("window", 100_000),
            max_output=script.get("max_output", 4096),
            log=Path(script["log"]) if "log" in script else None,
            accepts=frozenset(script.get("accepts", TEXT_ONLY)),
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigInvalid(f"{path} is no script: {error!r}") from error


def _answer(reply: Mapping[str, Any]) -> Answer:
    if reply.get("echo"):
        return sent_text
    pause = Pause(reply["delay"]) if reply.get("delay") else None
    steps: list[Step] = [Pause(reply["first_delay"])] if reply.get("first_delay") else []
    steps += _spaced(reply.get("chunks", ()), pause)
    if "fails" in reply:
        steps.append(_ERRORS[reply["fails"]["code"]](reply["fails"].get("message", "the script says so")))
    usage = Usage(**reply["usage"]) if "usage" in reply else None
    return Reply(tuple(steps), reply.get("stop_reason", "stop"), usage, reply.get("ends", True))


def _spaced(chunks: Iterable[str], pause: Pause | None) -> list[Step]:
    steps: list[Step] = []
    for chunk in chunks:
        if pause is not None:
            steps.append(pause)
        steps.append(chunk)
    return steps
