"""What is known of one session file: what was read before, and what has just been read."""

from dataclasses import dataclass

from shipchat.core.summaries import SessionSummary
from shipchat.formats.summary import RowState
from shipchat.index.directory import Print


@dataclass(slots=True)
class StoredRow:
    """What was read of a file before: `print` is the file's as it was then; `row` is None while it is not stored."""

    print: Print
    state: RowState | None
    row: SessionSummary | None = None


@dataclass(slots=True)
class FreshRow:
    """What has been read of one file. `same_text`: it has only grown, so that its full text is still right."""

    name: str
    print: Print
    row: SessionSummary
    state: RowState | None
    same_text: bool

    def as_stored(self) -> StoredRow:
        """Return it as what was read before."""
        return StoredRow(self.print, self.state)
