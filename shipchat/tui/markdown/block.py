"""The values a text is split into: blocks that are final, and lines that are shown as they stand; splitting is left to
`blocks`, drawing to `render` and `open_rows`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from shipchat.tui.markdown.parser import References

Kind = Literal["paragraph", "heading", "list_item", "fence", "code", "table", "quote", "rule", "html"]


@dataclass(frozen=True, slots=True)
class ListItem:
    """Where an item stands in its list: the list's marker (`-`, `*`, `+`, `.`, `)`), its number if the list has
    numbers, whether it is the list's first.
    """

    marker: str
    number: int | None
    first: bool

    @property
    def preface(self) -> str:
        """A line that makes what follows a later item of the same list."""
        # Its text stands as far right as a marker allows, so that an item indented by up to 3 is not inside it.
        return f"1{self.marker}   x\n" if self.number is not None else f"{self.marker}    x\n"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the top level, or one item of a list there: its kind and its lines, ready to be drawn.

    `gap` says whether a blank row stands before it; `references` are the link references it may use.
    """

    kind: Kind
    source: str
    gap: bool = True
    item: ListItem | None = None
    references: References = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class OpenLines:
    """Lines shown as they stand because their block isn't closed yet: an open fence, an open table, a huge block.

    `start` names the run of lines: two of equal `start` and `fence` are the same run, the later one longer. `lines`
    is the splitter's own growing list: take what is new and keep no reference. `partial` is the line being written.
    """

    start: int
    fence: str | None
    lines: Sequence[str]
    partial: str
    gap: bool = True
