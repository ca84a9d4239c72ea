"""Calls of tools as providers accept them: identifiers, names, arguments and results of whatever origin made valid.

What is stored is never changed; the same calls always become the same bytes.
"""

import re
from typing import Final

import msgspec

from shipchat.core.messages import ToolCallPart
from shipchat.core.safe_text import without_surrogates

NO_OUTPUT: Final = "(no output)"
"""Sent for a result without a visible character: some servers refuse an empty one."""

NO_RESULT: Final = "outcome unknown (interrupted)"

_UNFIT: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST: Final = 64  # characters of an identifier or a name that every provider takes


class CallIds:
    """Hands out the identifiers of the calls of one request, each once; ask in the order of the conversation."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, call: ToolCallPart) -> str:
        """Return a valid identifier for `call`: its own where possible."""
        wanted = _UNFIT.sub("_", call.call_id)[:_LONGEST] or "call"
        chosen, number = wanted, 1
        while chosen in self._used:
            number += 1
            suffix = f"_{number}"
            chosen = wanted[: _LONGEST - len(suffix)] + suffix
        self._used.add(chosen)
        return chosen


def name_of(call: ToolCallPart) -> str:
    """Return the name of the tool, letters and digits only."""
    return _UNFIT.sub("_", call.name)[:_LONGEST] or "tool"


def arguments_of(call: ToolCallPart) -> bytes:
    """Return the arguments as the JSON object that the model wrote; what is none is wrapped in one."""
    text = without_surrogates(call.arguments)
    data = text.encode()
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict):
        return data
    return msgspec.json.encode({"arguments": text} if text.strip() else {})


def result_of(call: ToolCallPart) -> str:
    """Return the text of the result; never blank."""
    output = NO_RESULT if call.result is None else without_surrogates(call.result.output)
    return output if output.strip() else NO_OUTPUT


def failed(call: ToolCallPart) -> bool:
    """Say whether the tool failed or nobody knows what it did."""
    return call.result is None or call.result.is_error
