"""One item of the transcript as rows: its sections one below the other, drawn as far as they are looked at.

Where the item stands among others is left to `transcript_pile`; colours of focus and selection to the widget.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from textual.strip import Strip

from shipchat.core.safe_text import safe_text
from shipchat.tui.markdown.block import Block, OpenLines
from shipchat.tui.markdown.blocks import BlockSplitter, split
from shipchat.tui.markdown.open_rows import OpenRows
from shipchat.tui.palette import Look
from shipchat.tui.widgets.transcript_heading import divider_row, fold_rows, foot_rows, ground_of, header_row
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_section import (
    Section,
    block_section,
    open_section,
    plain_sections,
    rows_section,
)

_KEPT_NEAR: Final = 200  # sections: some ten screens


@dataclass(frozen=True, slots=True)
class Place:
    """A row of an item: the index of its section, and the row in it (its gap counts as the first)."""

    section: int
    row: int


class ItemLayout:
    """The rows of one item at one width. The row below its last section is blank and part of it."""

    def __init__(self, item: TranscriptItem, width: int, look: Look, *, opened: bool = False) -> None:
        self.item = item
        self.opened = opened
        self._width = max(1, width)
        self._look = look
        self._splitter: BlockSplitter | None = None  # while the reply streams
        self._streamed: list[str] = []
        self._open: OpenRows | None = None
        # From top to bottom: the header and what is folded, what can't change, what can, the error.
        self._head: list[Section] = []
        self._body: list[Section] = []
        self._tail: list[Section] = []
        self._foot: list[Section] = []
        self.sections: list[Section] = []  # all of them
        self._ends: list[int] = []  # the row after each section
        self._newly_drawn = 0  # sections drawn since some were let go
        if item.status == "streaming" and item.kind == "message":
            self._splitter = BlockSplitter()
            self._streamed = [item.text]
            self._grow(self._splitter.feed(safe_text(item.text)))
        else:
            self._body = self._whole_body()
        self._frame()

    # --- what is where -------------------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """Rows of the item, its closing blank row included; sections not drawn yet count as estimated."""
        return (self._ends[-1] if self._ends else 0) + 1

    def place(self, row: int) -> Place:
        """Return where `row` is; the closing blank row belongs to the last section."""
        index = min(bisect_right(self._ends, row), len(self._ends) - 1)
        return Place(index, row - self._start(index))

    def nearest(self, place: Place) -> Place:
        """Return `place`, or the last row of its section if that has become shorter."""
        last = len(self.sections) - 1
        index = min(place.section, last)
        # The closing blank row belongs to the last section.
        return Place(index, min(place.row, max(0, self.sections[index].height - (index < last))))

    def row(self, place: Place) -> int:
        """Return the row of `place`, as near as can be."""
        place = self.nearest(place)
        return self._start(place.section) + place.row

    def strip(self, row: int) -> Strip | None:
        """Return the text of `row`, as wide as the item; None if it is blank."""
        if not 0 <= row < self.height - 1:
            return None
        place = self.place(row)
        section = self.sections[place.section]
        strips = self._drawn(section)
        at = place.row - section.gap
        return strips[at] if 0 <= at < len(strips) else None

    def section_at(self, row: int) -> tuple[Section, int]:
        """Return the section at `row` and the row in it, negative in its gap."""
        place = self.place(row)
        section = self.sections[place.section]
        return section, place.row - section.gap

    def end_of(self, section: Section) -> int:
        """Return the row after `section`, which is one of this item's."""
        return self._ends[next(index for index, one in enumerate(self.sections) if one is section)]

    def uncoloured(self, first: int, last: int) -> Iterator[Section]:
        """Yield the sections between two rows whose code is drawn without its colours for now."""
        if self.height > 1 and last >= 0 and first < self.height:
            for index in range(
                self.place(max(0, first)).section, self.place(min(last, self.height - 1)).section + 1
            ):
                if self.sections[index].colouring is not None:
                    yield self.sections[index]

    def caret_row(self) -> int | None:
        """Return the row after whose text the caret of a reply being written stands."""
        if self._splitter is None:
            return None
        index = len(self.sections) - len(self._foot) - 1
        section = self.sections[index]
        if index < len(self._head):
            return None
        strips = self._drawn(section)
        for at in range(len(strips) - 1, -1, -1):
            if strips[at].text.strip(" " + self._look.glyphs.line):
                return self._start(index) + section.gap + at
        return self._start(index) + section.gap

    # --- drawing -------------------------------------------------------------------------------------------------

    def draw_down(self, section: int, rows: int) -> int:
        """Draw from `section` downwards until `rows` rows are drawn; return how many are."""
        drawn = 0
        first_changed = len(self.sections)
        index = section
        while index < len(self.sections) and drawn < rows:
            if self._draw(self.sections[index]):
                first_changed = min(first_changed, index)
            drawn += self.sections[index].height
            index += 1
        self._sum_up(first_changed)
        self._forget_far_from(section)
        return drawn + (1 if index == len(self.sections) else 0)

    def draw_up(self, section: int, rows: int) -> int:
        """Draw the sections before `section`, the nearest first, until `rows` rows are drawn; return how many are."""
        drawn = 0
        first_changed = len(self.sections)
        index = min(section, len(self.sections)) - 1
        while index >= 0 and drawn < rows:
            if self._draw(self.sections[index]):
                first_changed = index
            drawn += self.sections[index].height
            index -= 1
        self._sum_up(first_changed)
        self._forget_far_from(section)
        return drawn

    def _forget_far_from(self, index: int) -> None:
        """Now and then let the rows of sections far away go: a reply of ten thousand lines is not kept drawn. Their
        heights stay, so that nothing moves.
        """
        if self._newly_drawn < 2 * _KEPT_NEAR:
            return
        self._newly_drawn = 0
        for at, section in enumerate(self.sections):
            if abs(at - index) > _KEPT_NEAR:
                section.strips = None

    def redraw(self, width: int, look: Look) -> None:
        """Change width or look: everything is drawn anew when it is looked at."""
        same_width = self._width == max(1, width)
        self._width, self._look = max(1, width), look
        self._open = None
        for section in self.sections:
            section.strips = None
            if not same_width:
                section.rows = section.estimate(self._width)
        if self._splitter is not None:
            self._grow([])
        self._compose(0)

    # --- changes -------------------------------------------------------------------------------------------------

    def toggle_fold(self) -> bool:
        """Open or close the folded details; return whether they are open."""
        self.opened = not self.opened
        self._frame()
        return self.opened

    def feed(self, text: str) -> int:
        """Take more of a reply being written; return the first row that may have changed."""
        if self._splitter is None:
            return self.height
        self._streamed.append(text)
        first = len(self._head) + len(self._body)
        row = self._start(min(first, len(self.sections)))
        self._grow(self._splitter.feed(safe_text(text)))
        self._compose(first)
        return row

    def set_item(self, item: TranscriptItem) -> None:
        """Show another state of the item.

        While it streams its text is what was fed; the text `item` has counts from the moment it no longer streams.
        """
        before, self.item = self.item, item
        if self._splitter is not None and item.status != "streaming":
            splitter, self._splitter = self._splitter, None
            if item.text == "".join(self._streamed):
                self._grow(splitter.finish(), finished=True)
            else:
                self._tail, self._body = [], self._whole_body()
            self._streamed = []
        elif self._splitter is None and (item.text != before.text or item.attachments != before.attachments):
            self._body = self._whole_body()
        self._frame()

    def text(self) -> str:
        """Return the message as it was written."""
        return "".join(self._streamed) if self._splitter is not None else self.item.text

    # --- the parts -----------------------------------------------------------------------------------------------

    def _whole_body(self) -> list[Section]:
        item = self.item
        if item.kind == "divider":
            return [rows_section(lambda width, look: [divider_row(item.text, width, look)])]
        if item.kind == "notice":
            return plain_sections(item.text, role="muted")
        if item.role == "user":
            ground = ground_of(item)
            attached = ", ".join(item.attachments)
            rows = plain_sections(attached, role="muted", ground=ground) if attached else []
            return rows + (plain_sections(item.text, ground=ground) if item.text or not rows else [])
        return [block_section(block, gap=int(block.gap)) for block in split(safe_text(item.text))]

    def _grow(self, blocks: Sequence[Block], *, finished: bool = False) -> None:
        """Add final blocks, and make the tail anew below them."""
        self._body += [block_section(block, gap=int(block.gap)) for block in blocks]
        before, self._tail = self._tail, []
        if finished or self._splitter is None:
            return
        for part in self._splitter.tail():
            gap = int(part.gap)
            if isinstance(part, OpenLines):
                if self._open is None or not self._open.shows(part, self._width, self._look):
                    self._open = OpenRows(part, self._width, self._look)
                self._tail.append(open_section(part, self._open, gap=gap))
                continue
            at = len(self._tail)
            same = at < len(before) and before[at].block == part and before[at].strips is not None
            self._tail.append(before[at] if same else block_section(part, gap=gap, live=True))
        if not self._tail and not self._body:
            self._tail = [rows_section(lambda _width, _look: [[]])]  # where the caret waits

    def _frame(self) -> None:
        """Make what stands above and below the text anew."""
        item = self.item
        self._head, self._foot = [], []
        if item.kind == "message":
            ground = ground_of(item)
            self._head.append(
                rows_section(lambda width, look: [header_row(item, width, look)], ground=ground)
            )
            if (fold := item.fold) is not None:
                opened = self.opened
                self._head.append(
                    rows_section(lambda width, look: fold_rows(fold, width, look, opened=opened))
                )
            if item.error_text or item.is_cut_off:
                self._foot.append(rows_section(lambda width, look: foot_rows(item, width, look), gap=1))
        for section in (*self._head, *self._foot):  # a few rows: their height had better be exact
            self._draw(section)
        self._compose(0)

    def _compose(self, first: int) -> None:
        """Stack the sections, of which those before `first` are where they were."""
        self.sections = [*self._head, *self._body, *self._tail, *self._foot]
        following = len(self._head)
        if self.item.fold is not None and following < len(self.sections):
            self.sections[following].gap = 1
        elif self._head and following < len(self.sections) and (self._body or self._tail):
            self.sections[following].gap = 0
        for section in self.sections[first:]:
            if section.strips is None and not section.rows:
                section.rows = section.estimate(self._width)
        self._sum_up(first)

    def _sum_up(self, first: int) -> None:
        """Add up the heights of the sections from `first` on."""
        del self._ends[first:]
        end = self._ends[-1] if self._ends else 0
        for section in self.sections[first:]:
            end += section.height
            self._ends.append(end)

    def _start(self, index: int) -> int:
        return self._ends[index - 1] if index > 0 and self._ends else 0

    def _draw(self, section: Section) -> bool:
        """Draw `section` if it isn't; return whether its height turned out another."""
        if section.strips is not None:
            return False
        before = section.rows
        self._drawn(section)
        return section.rows != before

    def _drawn(self, section: Section) -> Sequence[Strip]:
        if section.strips is None:
            self._newly_drawn += 1
            section.strips = section.draw(self._width, self._look)
            section.rows = len(section.strips)
        return section.strips
