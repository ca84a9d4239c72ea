"""Time, as everything here takes it: aware, in UTC, injectable."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """Return this instant."""
    return datetime.now(UTC)
