"""The table `[compaction]`: when and how older turns are summarised. Reading and checking it is `settings`'s."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from shipchat.core.shares import DEFAULT_KEEP, DEFAULT_SHARE


def _setting(default: Any, about: str, *, least: int | None = None) -> Any:
    return field(default=default, metadata={"about": about, "least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShares:
    """A table `[compaction.models."PROVIDER/MODEL"]`: other shares for one model."""

    share: float | None = None
    keep: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSettings:
    """The table `[compaction]`; `models` holds those of single models by name."""

    mode: Literal["auto", "remind", "off"] = _setting(
        "auto", "whether older turns are summarised when a session fills the model's window"
    )
    share: float = _setting(DEFAULT_SHARE, "share of the input budget beyond which it is time")
    keep: float = _setting(DEFAULT_KEEP, "share of the budget that the newest turns keep word for word")
    model: str | None = _setting(None, "who summarises, provider/model; unset: the session's model")
    instructions: str | None = _setting(None, "what every summary should heed")
    prompt_file: str | None = _setting(None, "file that replaces our own prompt for a summary")
    timeout: int = _setting(300, "seconds that one call for a summary may take", least=1)
    models: Mapping[str, ModelShares] = field(default_factory=lambda: MappingProxyType({}))
