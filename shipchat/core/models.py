"""Names of models, `provider/model`, and what is known of a model: its window and limits."""

import re
from dataclasses import dataclass
from typing import Final

from shipchat.core.errors import UsageError

DEFAULT_MODEL: Final = "local/smollm2"
"""What answers when nothing is configured: needs no key and no network."""

_PROVIDER: Final = re.compile(r"^[a-z0-9][a-z0-9._-]{0,63}$")


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model of a provider; `str(ref)` gives `provider/model`, `name` may itself hold slashes."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


def parse_model(text: str) -> ModelRef:
    """Return the reference that `text`, `provider/model`, names.

    Raises UsageError for anything else, for example a bare model name.
    """
    provider, slash, name = text.strip().partition("/")
    if not slash or not name or not name.isprintable() or not _PROVIDER.match(provider):
        raise UsageError(
            f"{text!r} is no model name: models are written provider/model, for example {DEFAULT_MODEL}",
            advice=("shipchat models lists what is there.",),
            details={"model": text},
        )
    return ModelRef(provider, name)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a provider says of a model. `window` and `max_output` in tokens; `note` is a short honest word to show.

    `tokens_per_o200k` is how many of this model's tokens one token of the o200k encoding is, on average: counts
    are made with o200k and scaled by it until the provider has reported real figures. `accepts` says which sorts of
    files it can be sent (`text`, `image`, `pdf`, see `core.attachments`); text, as text, goes to every model.
    """

    ref: ModelRef
    window: int
    max_output: int
    note: str = ""
    tokens_per_o200k: float = 1.0
    accepts: frozenset[str] = frozenset({"text"})
