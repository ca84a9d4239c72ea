"""Bringing entries and headers of older versions up to date: one pure step per version, none so far.

A step turns the JSON form of version n into that of n + 1. To make version 2: raise VERSION, add `1: Step(…)`,
and add a golden file of version 1 to the tests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from shipchat.core.messages import Json

VERSION: Final = 1
"""The version that is written."""


@dataclass(frozen=True, slots=True)
class Step:
    """From one version to the next: a new header and new entries, the old ones untouched."""

    header: Callable[[dict[str, Json]], dict[str, Json]]
    entry: Callable[[dict[str, Json]], dict[str, Json]]


STEPS: Final[Mapping[int, Step]] = {}
"""The step that leads away from each older version."""


def steps_from(
    version: int, *, to: int = VERSION, steps: Mapping[int, Step] = STEPS
) -> tuple[Step, ...] | None:
    """Return the steps from `version` up to `to`, none when it is that; None when no way leads there."""
    way = tuple(steps[n] for n in range(version, to) if n in steps)
    return way if version <= to and len(way) == to - version else None
