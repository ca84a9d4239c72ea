"""Session keys: which strings may name a session (and its file on every system), and making a new one."""

import re
import secrets
from datetime import datetime
from typing import Final

from shipchat.core.errors import SessionKeyInvalid

_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DEVICES: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))]
)
# No vowels and no look-alikes: no words by accident, nothing to misread.
_LETTERS: Final = "bcdfghjkmnpqrstvwxz23456789"


def why_invalid(key: str) -> str | None:
    """Return why `key` can't be a session key, or None when it can."""
    if not key:
        return "it is empty"
    if len(key) > 128:
        return "it is longer than 128 characters"
    if not _KEY.fullmatch(key):
        return "it may hold only letters, digits, '.', '_' and '-', and starts with a letter or digit"
    if key.endswith("."):
        return "it ends in a dot"
    if key.casefold().endswith(".json"):
        return "it ends in .json"
    if key.partition(".")[0].upper() in _DEVICES:
        return "it is the name of a device on Windows"
    return None


def check_key(key: str) -> str:
    """Return `key` when it is valid; raise SessionKeyInvalid with the reason when not."""
    reason = why_invalid(key)
    if reason is not None:
        raise SessionKeyInvalid(
            f"{key[:60]!r} can't be a session key: {reason}",
            advice=("Titles are free text: shipchat new KEY --title 'Anything you like'",),
            details={"key": key, "reason": reason},
        )
    return key


def fold_key(key: str) -> str:
    """Return the form in which two keys that differ only in case are one: names of locks, clashes of keys."""
    return key.casefold()


def new_key(now: datetime) -> str:
    """Return a short sortable key such as `2026-11-29-k3f9x` for `now`, shown in local time.

    Five letters out of 27 make a clash within a day unlikely (one in 14 million a pair); creating never clobbers.
    """
    letters = "".join(secrets.choice(_LETTERS) for _ in range(5))
    return f"{now.astimezone():%Y-%m-%d}-{letters}"
