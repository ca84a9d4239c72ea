"""What the transcript shows, as values: a message, a divider or a notice; where they come from is left to others.

All texts may be anything at all: they are made safe when they are drawn, never here.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["message", "divider", "notice"]
Role = Literal["user", "assistant"]
Status = Literal["complete", "streaming", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Sibling:
    """Which of how many alternatives is shown, counted from 1."""

    number: int
    count: int


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool call: a few words that say what was done (`read nightly.py`), and its result or error."""

    summary: str
    detail: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class FoldedDetails:
    """What an assistant did before it wrote: its reasoning, the seconds it took (None while it goes on), its tools."""

    reasoning: str = ""
    seconds: int | None = None
    tools: tuple[ToolRow, ...] = ()


@dataclass(frozen=True, slots=True)
class TranscriptItem:
    """One thing in the transcript, identified by `id` (unique in a session).

    A message has `role`, `position` (1-based), and `text` as written: Markdown of an assistant, plain text of a
    user. `activity` is the word shown while it streams. `error_text` is one sentence. `can_continue` offers to
    continue or retry a reply that was interrupted or failed. A divider or a notice has only its `text`.
    """

    id: str
    text: str = ""
    kind: Kind = "message"
    role: Role = "assistant"
    position: int | None = None
    model: str | None = None
    time_text: str = ""
    sibling: Sibling | None = None
    status: Status = "complete"
    activity: str = "writing"
    fold: FoldedDetails | None = None
    attachments: tuple[str, ...] = ()
    error_text: str | None = None
    can_continue: bool = True
    pinned: bool = False
    is_hit: bool = False

    @property
    def is_cut_off(self) -> bool:
        """Whether the reply ended before its time and can be taken up again."""
        return self.kind == "message" and self.status in ("interrupted", "failed") and self.can_continue
