"""What a list shows of a session without opening it, and what the trash holds."""

from dataclasses import dataclass
from datetime import datetime

from shipchat.core.entries import ForkOrigin, SessionRecord
from shipchat.core.errors import HolderInfo


@dataclass(frozen=True, slots=True)
class Damage:
    """Why a session can't be opened whole: path, line (1-based, 0: the file as such), reason, stable code."""

    path: str
    line: int
    reason: str
    code: str = "session_damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """One row of a list. `updated` is the time of the latest message (of creation when there is none)."""

    key: str
    title: str
    created: datetime
    updated: datetime
    tags: tuple[str, ...] = ()
    archived: bool = False
    messages: int = 0
    model: str | None = None
    forked_from: ForkOrigin | None = None
    old_titles: tuple[str, ...] = ()
    size: int = 0
    holder: HolderInfo | None = None
    damage: Damage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrashedSession:
    """A deleted session that can be restored; `trash_id` names it in the trash."""

    trash_id: str
    key: str
    title: str
    deleted: datetime
    messages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairPlan:
    """What a repair of a damaged session would write: `record`; `notes` says in a sentence each what it changes.

    `reason` is what is wrong with the file, None when nothing is and there is nothing to repair. `fingerprint` is that
    of the file the plan was made for: a file that has changed since is not repaired by it.
    """

    key: str
    path: str
    reason: str | None
    record: SessionRecord
    notes: tuple[str, ...] = ()
    fingerprint: str = ""
