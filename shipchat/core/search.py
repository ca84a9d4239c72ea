"""What a search over all sessions gives: hits with a snippet each, and whether everything was looked at."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

HitRole: TypeAlias = Literal["user", "assistant", "title"]
"""Who said what was found; `title` when a session's title, former title or tag matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One message (or title) that matches.

    `position` is its 1-based place on its path and `on_path` whether that is the current path; when it is not, `branch`
    is the id of the message at the end of the branch it is on. `marks` are the ranges of `snippet` that match. `score` is how well its words match (bm25; more is better): the order of
    hits takes their age into account as well.
    """

    key: str
    title: str
    role: HitRole
    at: datetime
    snippet: str
    marks: tuple[tuple[int, int], ...] = ()
    message_id: str | None = None
    position: int | None = None
    on_path: bool = True
    branch: str | None = None
    archived: bool = False
    tags: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first.

    `complete` says that every session was searched; otherwise `missing` of them were not yet. `more` says that there
    are hits beyond the limit; `widened` that nothing matched whole words, so their beginnings were looked for.
    """

    hits: tuple[SearchHit, ...] = ()
    complete: bool = True
    missing: int = 0
    more: bool = False
    widened: bool = False


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far the full text of all sessions is: `done` of `total` sessions."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.done >= self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """What `doctor` says of the index: `problem` is why it can't be used (then files are read instead), else None."""

    path: str
    problem: str | None = None
    size: int = 0
    sessions: int = 0
    progress: IndexProgress | None = None
    rebuilt: str | None = None
