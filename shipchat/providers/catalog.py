"""What is known of the vendors' models: windows, limits, prices, abilities. A small table, and dated.

Only a help: a model that is not in it works with cautious figures, a provider's own model list and the config come
first, and no other code names a model.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

AS_OF: Final = "2026-11-29"
"""When the table was put together: prices and most windows from genai-prices 0.2.3, the rest from public pages.

Limits of output and the token scales are estimates where those say nothing. What a provider's own model list says
comes first, and the config beats both.
"""

UNKNOWN_WINDOW: Final = 32_768
"""Tokens: the window of a model that nothing is known of. Almost every current model has more."""

UNKNOWN_WINDOW_HERE: Final = 8_192
"""The same for a server on this machine: those choose small windows to fit the memory, and cut silently."""

UNKNOWN_OUTPUT: Final = 4_096

Thinking = Literal["", "adaptive", "built-in"]


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens: read, written, read from the cache, written to the cache."""

    input: float
    output: float
    cache_read: float = 0.0
    cache_write: float = 0.0

    def of(
        self, *, input_tokens: int, output_tokens: int, cache_read: int = 0, cache_write: int = 0
    ) -> float:
        """Return what a call costs; `input_tokens` includes cache reads and writes, as `core.messages.Usage` has it."""
        fresh = max(0, input_tokens - cache_read - cache_write)
        total = fresh * self.input + output_tokens * self.output
        total += cache_read * (self.cache_read or self.input) + cache_write * (self.cache_write or self.input)
        return total / 1_000_000


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One row. `window` and `max_output` in tokens; `tokens_per_o200k` as in `core.models.ModelInfo`.

    `thinking` says how it thinks: `adaptive` (Anthropic: on request, shown as a summary), `built-in` (OpenAI).
    """

    window: int
    max_output: int
    price: Price
    thinking: Thinking = ""
    images: bool = True
    tokens_per_o200k: float = 1.0


def _claude(
    window: int, output: int, price: Price, *, thinking: Thinking = "adaptive", scale: float = 1.5
) -> KnownModel:
    # Claude's tokenizer since 4.7 makes about 30 % more tokens than the one before, which made about 15 % more
    # than o200k.
    return KnownModel(window, output, price, thinking, tokens_per_o200k=scale)


def _gpt(window: int, output: int, price: Price, thinking: Thinking = "built-in") -> KnownModel:
    return KnownModel(window, output, price, thinking)


_M: Final = 1_000_000

ANTHROPIC: Final = {
    "claude-fable-5-2": _claude(_M, 128_000, Price(8, 40, 0.2, 10)),
    "claude-fable-5-1": _claude(_M, 128_000, Price(10, 50, 0.25, 12.5)),
    "claude-fable-5": _claude(_M, 128_000, Price(10, 50, 1, 12.5)),
    "claude-opus-5-5": _claude(_M, 128_000, Price(4, 20, 0.2, 5)),
    "claude-opus-5": _claude(_M, 128_000, Price(5, 25, 0.5, 6.25)),
    "claude-sonnet-5-5": _claude(_M, 128_000, Price(2, 10, 0.1, 2.5)),
    "claude-sonnet-5": _claude(_M, 128_000, Price(2, 10, 0.2, 2.5)),
    "claude-haiku-5-5": _claude(_M, 128_000, Price(0.1, 0.5, 0.01, 0.125)),
    "claude-opus-4-8": _claude(_M, 128_000, Price(5, 25, 0.5, 6.25)),
    "claude-opus-4-7": _claude(_M, 128_000, Price(5, 25, 0.5, 6.25)),
    "claude-opus-4-6": _claude(_M, 128_000, Price(5, 25, 0.5, 6.25), scale=1.15),
    "claude-sonnet-4-6": _claude(_M, 64_000, Price(3, 15, 0.3, 3.75), scale=1.15),
    "claude-opus-4-5": _claude(200_000, 64_000, Price(5, 25, 0.5, 6.25), thinking="", scale=1.15),
    "claude-sonnet-4-5": _claude(200_000, 64_000, Price(3, 15, 0.3, 3.75), thinking="", scale=1.15),
    "claude-haiku-4-5": _claude(200_000, 64_000, Price(1, 5, 0.1, 1.25), thinking="", scale=1.15),
}

OPENAI: Final = {
    "gpt-6.1-sol": _gpt(1_050_000, 128_000, Price(2, 10, 0.1, 2.5)),
    "gpt-6.1-terra": _gpt(1_050_000, 128_000, Price(1, 5, 0.05, 1.25)),
    "gpt-6-astra": _gpt(1_050_000, 128_000, Price(10, 50, 1, 12.5)),
    "gpt-6-sol": _gpt(1_050_000, 128_000, Price(2, 10, 0.2, 2.5)),
    "gpt-6-luna": _gpt(1_050_000, 128_000, Price(0.1, 0.5, 0.01, 0.125)),
    "gpt-5.6-sol": _gpt(1_050_000, 128_000, Price(4, 20, 0.4, 5)),
    "gpt-5.6-terra": _gpt(1_050_000, 128_000, Price(2, 12, 0.2, 2.5)),
    "gpt-5.6-luna": _gpt(1_050_000, 128_000, Price(0.2, 1.2, 0.02, 0.25)),
    "gpt-5.5": _gpt(_M, 128_000, Price(5, 30, 0.5)),
    "gpt-5.4": _gpt(1_050_000, 128_000, Price(2.5, 15, 0.25)),
    "gpt-5.4-mini": _gpt(400_000, 128_000, Price(0.75, 4.5, 0.075)),
    "gpt-5.2": _gpt(400_000, 128_000, Price(1.75, 14, 0.175)),
    "gpt-5.1": _gpt(400_000, 128_000, Price(1.25, 10, 0.125)),
    "gpt-5": _gpt(400_000, 128_000, Price(1.25, 10, 0.125)),
    "gpt-5-mini": _gpt(400_000, 128_000, Price(0.25, 2, 0.025)),
    "gpt-5-nano": _gpt(400_000, 128_000, Price(0.05, 0.4, 0.005)),
    "gpt-4.1": _gpt(1_000_000, 32_768, Price(2, 8, 0.5), ""),
    "gpt-4.1-mini": _gpt(1_000_000, 32_768, Price(0.4, 1.6, 0.1), ""),
    "gpt-4o": _gpt(128_000, 16_384, Price(2.5, 10, 1.25), ""),
    "gpt-4o-mini": _gpt(128_000, 16_384, Price(0.15, 0.6, 0.075), ""),
    "o3": _gpt(200_000, 100_000, Price(2, 8, 0.5)),
    "o4-mini": _gpt(200_000, 100_000, Price(1.1, 4.4, 0.275)),
}

USUAL: Final = {"anthropic": "claude-sonnet-5-5", "openai": "gpt-6.1-sol"}
"""What a new user of a vendor is given first: good at most things, in the middle of its prices."""

_DATE: Final = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d|latest)$")
_TABLES: Final = {"anthropic": ANTHROPIC, "openai": OPENAI}


def known(vendor: str, model: str) -> KnownModel | None:
    """Return the row of `model`; a dated name (`claude-opus-4-5-20251101`, `gpt-5-2025-08-07`) has that of its family."""
    table = _TABLES.get(vendor, {})
    return table.get(model) or table.get(_DATE.sub("", model))


def usual(vendor: str, listed: Collection[str]) -> str | None:
    """Return the model of `vendor` to begin with, out of those `listed` (none: nobody could tell); None without any."""
    best = USUAL.get(vendor)
    if best is not None and (best in listed or not listed):
        return best
    return next((name for name in _TABLES.get(vendor, {}) if name in listed), next(iter(listed), None))


def unknown_scale(vendor: str) -> float:
    """Return `tokens_per_o200k` of a model without a row, of `vendor` or of nobody known.

    What the vendor's newest have; else a cautious guess (SmolLM2, measured on English: 1.08 to 1.17).
    """
    return {"anthropic": 1.5, "openai": 1.0}.get(vendor, 1.2)
