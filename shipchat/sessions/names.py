"""Resolves what a user typed to one session, or says which ones it could be: ambiguity is never guessed."""

from collections.abc import Iterable, Sequence

from shipchat.core.errors import SessionAmbiguous, SessionNotFound, UsageError
from shipchat.core.keys import fold_key, why_invalid
from shipchat.core.summaries import SessionSummary


def exact_key(name: str, keys: Iterable[str]) -> str | None:
    """Return the key that `name` is, or differs from only in case; None when there is none."""
    folded = fold_key(name)
    return next((key for key in keys if fold_key(key) == folded), None)


def resolve(name: str, sessions: Sequence[SessionSummary]) -> str:
    """Return the key of the one session that `name` means.

    Levels, the first that matches anything decides: exact key, exact title, beginning of a key, former title.
    Raises SessionAmbiguous when a level has several, SessionNotFound (with the nearest keys) when none matches,
    UsageError for an empty name.
    """
    if not name.strip():
        raise UsageError("the name of a session is empty", advice=("shipchat list shows the sessions.",))
    wanted = name.strip()
    folded = fold_key(wanted)
    levels = (
        [session for session in sessions if fold_key(session.key) == folded],
        [session for session in sessions if session.title == wanted],
        [session for session in sessions if fold_key(session.key).startswith(folded)],
        [session for session in sessions if wanted in session.old_titles],
    )
    for found in levels:
        if len(found) == 1:
            return found[0].key
        if found:
            raise _ambiguous(wanted, found)
    raise not_found(wanted, [session.key for session in sessions])


def _ambiguous(name: str, found: Sequence[SessionSummary]) -> SessionAmbiguous:
    shown = ", ".join(f"{session.key} ({session.title})" for session in found[:5])
    more = f", and {len(found) - 5} more" if len(found) > 5 else ""
    return SessionAmbiguous(
        f"{name!r} could be {len(found)} sessions",
        advice=(f"{shown}{more}", "Give the whole key."),
        details={"name": name, "candidates": [session.key for session in found]},
    )


def not_found(name: str, keys: Sequence[str]) -> SessionNotFound:
    """Return the error for a name that no session has, with the nearest keys and how to begin one."""
    from difflib import get_close_matches  # 6 ms, and only when something went wrong

    near = get_close_matches(name, keys, n=3, cutoff=0.5)
    advice = [f"Nearest: {', '.join(near)}"] if near else []
    advice.append(
        f"Begin it: shipchat new {name}" if why_invalid(name) is None else "See them all: shipchat list"
    )
    return SessionNotFound(
        f"there is no session {name[:80]!r}", advice=advice, details={"name": name, "nearest": list(near)}
    )
