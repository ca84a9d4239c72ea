"""Walking through earlier prompts with Up and Down, as a value; the draft one began with is never lost."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

#: Prompts remembered at most; older ones are forgotten here (never on disk).
CAPACITY = 1000


@dataclass(frozen=True, slots=True)
class PromptHistory:
    """Earlier prompts, oldest first, and where one stands in them.

    `index` is the entry shown; `len(entries)` means that the draft is shown. `draft` is what was typed before Up was
    first pressed, kept until it is shown again.
    """

    entries: tuple[str, ...] = ()
    index: int = 0
    draft: str = ""

    @classmethod
    def of(cls, entries: Iterable[str]) -> "PromptHistory":
        """Return a history of these prompts, oldest first, standing at the draft."""
        kept = tuple(entries)[-CAPACITY:]
        return cls(kept, len(kept))

    @property
    def walking(self) -> bool:
        """Whether an entry is shown instead of the draft."""
        return self.index < len(self.entries)

    def older(self, shown: str) -> tuple["PromptHistory", str] | None:
        """Return the history one step back and the text to show, None at the oldest entry.

        `shown` is the text in the composer: it becomes the draft when the walk begins.
        """
        if self.index == 0:
            return None
        draft = self.draft if self.walking else shown
        index = self.index - 1
        return replace(self, index=index, draft=draft), self.entries[index]

    def newer(self) -> tuple["PromptHistory", str] | None:
        """Return the history one step forward and the text to show (at last the draft), None at the draft."""
        if not self.walking:
            return None
        index = self.index + 1
        if index == len(self.entries):
            return replace(self, index=index, draft=""), self.draft
        return replace(self, index=index), self.entries[index]

    def remember(self, text: str) -> "PromptHistory":
        """Return the history with `text` as its newest entry, standing at an empty draft.

        A draft that was set aside by a walk is kept as an entry of its own: sending an old prompt again does not
        lose what one had begun to type. A text equal to the newest entry is not repeated.
        """
        entries = self.entries
        for new in (self.draft, text):
            if new.strip() and entries[-1:] != (new,):
                entries = (*entries, new)
        return PromptHistory.of(entries)
