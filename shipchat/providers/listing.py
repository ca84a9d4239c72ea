"""What a server's own list of models says: names, windows, limits. Lists differ; whatever is recognised is used."""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

_WINDOWS: Final = (
    "max_input_tokens",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
"""Where servers put the window: Anthropic, vLLM, OpenRouter, Groq, LM Studio."""

_OUTPUTS: Final = ("max_tokens", "max_output_tokens", "max_completion_tokens")

_MAX_NAME: Final = 200  # characters of a model's name; longer ones are no names


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that a server names; `window` and `max_output` in tokens, None where it does not tell."""

    name: str
    window: int | None = None
    max_output: int | None = None


def read_listing(body: bytes) -> list[ListedModel]:
    """Return the models in `body`, in the server's order; none when it is no such list."""
    try:
        document: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    rows = document.get("data", document.get("models")) if isinstance(document, dict) else document
    if not isinstance(rows, list):
        return []
    found: dict[str, ListedModel] = {}
    for row in rows:
        if not isinstance(row, dict):
            continue
        name = row.get("id") or row.get("name")
        if isinstance(name, str) and name.isprintable() and 0 < len(name) <= _MAX_NAME:
            found.setdefault(name, ListedModel(name, _window(row), _number(row, _OUTPUTS)))
    return list(found.values())


def read_props(body: bytes) -> int | None:
    """Return the context in tokens that llama.cpp says it runs with (`/props`), None when it does not."""
    try:
        document: Any = msgspec.json.decode(body)
        return _number(document["default_generation_settings"], ("n_ctx",))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return None


def _window(row: dict[str, Any]) -> int | None:
    window = _number(row, _WINDOWS)
    if window is None and isinstance(row.get("meta"), dict):
        window = _number(row["meta"], ("n_ctx",))
    return window


def _number(row: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
