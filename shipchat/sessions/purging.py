"""Erasing sessions for good, the one thing that can't be undone: files, drafts, trash; and attachments nobody has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from shipchat.core.errors import SessionNotFound, UsageError
from shipchat.core.protocols import Purges
from shipchat.sessions.session_manager import SessionManager


@dataclass(frozen=True, slots=True)
class Purged:
    """What was erased of one session: how many files."""

    key: str
    files: int


def everything(manager: SessionManager) -> list[str]:
    """Return the keys of all sessions and of all that is in the trash, each once."""
    return list(dict.fromkeys([*manager.store.keys(), *(one.key for one in manager.trashed())]))


def purge(manager: SessionManager, keys: Sequence[str]) -> list[Purged]:
    """Erase these sessions, in the trash or not. Raises SessionHeld, SessionNotFound, StoreUnavailable.

    What was erased before an error stays erased. Raises UsageError for a store that can't erase.
    """
    store = manager.store
    if not hasattr(store, "purge"):
        raise UsageError("this store can't erase sessions for good")
    known = set(everything(manager))
    missing = next((key for key in keys if key not in known), None)
    if missing is not None:
        raise SessionNotFound(f"there is no session {missing}", details={"key": missing})
    purges = cast("Purges", store)
    return [Purged(key, len(purges.purge(key))) for key in keys]
