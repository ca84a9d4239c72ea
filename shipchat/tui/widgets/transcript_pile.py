"""The items of the transcript one below the other: which row is whose, and what must be drawn for a view of them.

Of ten thousand items only those near the view are laid out; the heights of the others are estimates. So a session
opens at its end at once, and what is read never jumps: a line of the view is the anchor, and when a height above it
turns out another, the view moves by as much. The widget scrolls, paints and hears keys; it is asked for nothing here.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from shipchat.tui.palette import Look
from shipchat.tui.widgets.transcript_heights import Heights
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_layout import ItemLayout, Place
from shipchat.tui.widgets.transcript_section import estimated_rows

_KEPT: Final = 120  # layouts whose rows are kept drawn


@dataclass(frozen=True, slots=True)
class Anchor:
    """A line that stays where it is: a place in the item with this id."""

    item_id: str
    place: Place


class Pile:
    """Items, their heights and layouts at one width and look."""

    def __init__(self, width: int, look: Look) -> None:
        self.items: list[TranscriptItem] = []
        self.opened: set[str] = set()  # ids of items whose details are unfolded
        self._width = width
        self._look = look
        self._index: dict[str, int] = {}
        self._heights = Heights()
        self._layouts: OrderedDict[str, ItemLayout] = OrderedDict()

    # --- the items -----------------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """All rows."""
        return self._heights.total

    def index_of(self, item_id: str) -> int | None:
        """Return where the item stands, None if there is none of this id."""
        return self._index.get(item_id)

    def set_items(self, items: Iterable[TranscriptItem]) -> None:
        """Show these items and no others."""
        self.items = list(items)
        self._layouts.clear()
        self._renumber()

    def prepend(self, items: Sequence[TranscriptItem]) -> None:
        """Add items before the first."""
        self.items[:0] = items
        self._renumber()

    def append(self, item: TranscriptItem) -> None:
        """Add an item after the last."""
        self._index[item.id] = len(self.items)
        self.items.append(item)
        self._heights.append(self._estimate(item))

    def update(self, item: TranscriptItem) -> bool:
        """Show another state of an item; return whether there is one of its id."""
        index = self._index.get(item.id)
        if index is None:
            return False
        self.items[index] = item
        layout = self._layouts.get(item.id)
        if layout is None:
            self._heights.set(index, self._estimate(item))
        else:
            layout.set_item(item)
            self._heights.set(index, layout.height)
        return True

    def truncate(self, count: int) -> None:
        """Keep the first `count` items."""
        for item in self.items[count:]:
            self._index.pop(item.id, None)
            self._layouts.pop(item.id, None)
        del self.items[count:]
        self._heights.truncate(count)

    def redraw(self, width: int, look: Look) -> None:
        """Change width or look: everything is drawn anew when it is looked at."""
        same_width = width == self._width
        self._width, self._look = width, look
        for layout in self._layouts.values():
            layout.redraw(width, look)
        if not same_width:
            self._renumber()

    def _renumber(self) -> None:
        self._index = {item.id: index for index, item in enumerate(self.items)}
        self._heights = Heights(
            layout.height if (layout := self._layouts.get(item.id)) else self._estimate(item)
            for item in self.items
        )

    def _estimate(self, item: TranscriptItem) -> int:
        text = estimated_rows(item.text, self._width)
        if item.kind != "message":
            return text + 1
        return text + 2 + (0 if item.fold is None else 2) + (3 if item.is_cut_off else 0)

    # --- what is where -------------------------------------------------------------------------------------------

    def layout(self, index: int) -> ItemLayout:
        """Return the layout of an item, made if need be (its height may then turn out another)."""
        item = self.items[index]
        layout = self._layouts.get(item.id)
        if layout is None:
            layout = ItemLayout(item, self._width, self._look, opened=item.id in self.opened)
            self._layouts[item.id] = layout
            self._heights.set(index, layout.height)
        else:
            self._layouts.move_to_end(item.id)
        return layout

    def height(self, index: int) -> int:
        """Return the rows of an item, its closing blank row included."""
        return self._heights[index]

    def start(self, index: int) -> int:
        """Return the first row of an item."""
        return self._heights.start(index)

    def find(self, row: int) -> tuple[int, int]:
        """Return whose row this is: index of the item, and the row in it."""
        return self._heights.find(row)

    def anchor(self, row: int) -> Anchor | None:
        """Return what stands at `row`; of an item not laid out yet, the same share of it as was estimated."""
        if not self.items:
            return None
        index, within = self._heights.find(row)
        estimated = self._heights[index]
        laid_out = self.items[index].id in self._layouts
        layout = self.layout(index)
        if not laid_out and estimated != layout.height:
            within = within * layout.height // max(1, estimated)
        place = layout.place(within)
        layout.draw_down(place.section, 1)  # a row of an estimate need not be there
        self._heights.set(index, layout.height)
        return Anchor(self.items[index].id, layout.nearest(place))

    def row_of(self, anchor: Anchor) -> int | None:
        """Return the row where `anchor` is now; None when its item is gone."""
        index = self._index.get(anchor.item_id)
        if index is None:
            return None
        return self._heights.start(index) + self.layout(index).row(anchor.place)

    # --- drawing -------------------------------------------------------------------------------------------------

    def draw_around(self, anchor: Anchor, below: int, above: int) -> None:
        """Draw at least `below` rows from `anchor` downwards and `above` rows before it, as far as there are any."""
        index = self._index.get(anchor.item_id)
        if index is None:
            return
        section = anchor.place.section
        self._draw_down(index, section, below + anchor.place.row)
        self._draw_up(index, section, above)
        self._forget_some()

    def draw_end(self, rows: int) -> None:
        """Draw the last `rows` rows."""
        if self.items:
            last = len(self.items) - 1
            self._draw_up(last, len(self.layout(last).sections), rows)
            self._forget_some()

    def draw_between(self, first: int, last: int) -> range:
        """Draw all from row `first` to row `last`; return these rows as they are counted afterwards."""
        start, end = self.anchor(first), self.anchor(last)
        if start is None or end is None:
            return range(0)
        for index in range(self._index[start.item_id], self._index[end.item_id] + 1):
            self._draw_down(index, 0, self._heights[index])
        return range(self.row_of(start) or 0, (self.row_of(end) or 0) + 1)

    def _draw_down(self, index: int, section: int, rows: int) -> None:
        while index < len(self.items) and rows > 0:
            layout = self.layout(index)
            rows -= layout.draw_down(section, rows)
            self._heights.set(index, layout.height)
            index, section = index + 1, 0

    def _draw_up(self, index: int, section: int, rows: int) -> None:
        while True:
            layout = self.layout(index)
            rows -= layout.draw_up(section, rows)
            self._heights.set(index, layout.height)
            index -= 1
            if index < 0 or rows <= 0:
                return
            section = len(self.layout(index).sections)

    def feed(self, index: int, text: str) -> int:
        """Give an item that streams more text; return the first of its rows that may have changed."""
        layout = self.layout(index)
        row = layout.feed(text)
        self._heights.set(index, layout.height)
        return row

    def toggle_fold(self, index: int) -> bool:
        """Open or close an item's details; return whether they are open."""
        layout = self.layout(index)
        opened = layout.toggle_fold()
        (self.opened.add if opened else self.opened.discard)(layout.item.id)
        self._heights.set(index, layout.height)
        return opened

    def _forget_some(self) -> None:
        """Let the rows of those looked at longest ago go; their heights stay, so that nothing moves."""
        for item_id in list(self._layouts)[:-_KEPT] if len(self._layouts) > 2 * _KEPT else ():
            layout = self._layouts[item_id]
            if layout.item.status != "streaming":
                del self._layouts[item_id]
