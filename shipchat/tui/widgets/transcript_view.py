"""A scrolling, painted view of a pile of messages; what is in the pile and what keys and clicks mean is the transcript's.

The view either follows the end or keeps one line, its anchor, where it is. After every change `settle` draws what
has come near the view and moves the scroll position with whatever changed above the anchor.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from textual import events
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from shipchat.tui.axis import Axis, axis
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.markdown.code import head_row, language_of
from shipchat.tui.palette import Look, Palette
from shipchat.tui.widgets.transcript_heading import ground_of, header_row
from shipchat.tui.widgets.transcript_layout import ItemLayout
from shipchat.tui.widgets.transcript_line import blank_line, framed, selected, with_caret
from shipchat.tui.widgets.transcript_pile import Anchor, Pile
from shipchat.tui.widgets.transcript_scrollbar import LineScrollBarRender
from shipchat.tui.widgets.transcript_section import Section
from shipchat.tui.widgets.transcript_selection import selected_text, word_at

_LINES_KEPT: Final = 1_000
_COLOUR_SLICE: Final = 0.006  # seconds spent at once on the colours of long code
_COLOUR_PAUSE: Final = 0.012  # seconds left to everything else between


class PileView(ScrollView):
    """Paints `pile`. Subclasses change the pile and call `settle` or `repaint_from` afterwards."""

    scrollbar_render: ClassVar[type[ScrollBarRender]] = LineScrollBarRender

    def __init__(
        self,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._glyphs = glyphs
        self.look = Look(Palette.from_variables({}), glyphs)
        self.axis: Axis = axis(80, 24)
        self.pile = Pile(self.axis.text_width, self.look)
        self.following = True  # the end is kept in view
        self._anchor: Anchor | None = None  # else this line is kept where it is, at the top of the view
        self._settling = False
        self._colouring = False  # a timer runs that finds colours of code
        # Rows are told to Textual's selection as row + drift, so that what is selected stays selected when heights
        # above it change. The reference is a line, and the row it was at.
        self._drift = 0
        self._reference: tuple[Anchor, int] | None = None
        # Painted lines by row + drift, with what they were made of. While a reply scrolls by, a line is the same strip
        # from paint to paint, and Textual and Rich then find their own work on it done already.
        self._lines: dict[int, tuple[Strip | None, tuple[object, ...], Strip]] = {}

    # --- what subclasses say -------------------------------------------------------------------------------------

    def is_chosen(self, item_id: str) -> bool:
        """Return whether the keys go to this item."""
        del item_id
        return False

    def is_copied(self, section: Section) -> bool:
        """Return whether the code of this section was copied a moment ago."""
        del section
        return False

    def activity(self, item_id: str) -> tuple[int, str]:
        """Return for how many seconds a reply has been written, and the sign of activity to show."""
        del item_id
        return 0, self.look.glyphs.dot

    def view_moved(self) -> None:
        """Hear that another part of the pile is in view."""

    # --- look and size -------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Take the theme's colours, now and whenever they change."""
        self.vertical_scrollbar.renderer = self.scrollbar_render  # type: ignore[misc] # as documented
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh_look())
        self.refresh_look()

    def refresh_look(self, glyphs: Glyphs | None = None) -> None:
        """Take the colours of the current theme (and other signs): for a changed theme or class `plain`."""
        self._glyphs = glyphs or self._glyphs
        palette = Palette.from_variables(self.app.theme_variables, plain=self.screen.has_class("plain"))
        self.look = Look(palette, self._glyphs)
        self.pile.redraw(self.axis.text_width, self.look)
        self.settle()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap anew what is in view, the rest when it is looked at; the line at the top stays."""
        del event
        terminal = self.app.size
        self.axis = axis(terminal.width, terminal.height, self.outer_size.width)
        self.pile.redraw(self.axis.text_width, self.look)
        self.settle()
        self.refresh()

    # --- scrolling -----------------------------------------------------------------------------------------------

    def settle(self) -> bool:
        """Draw what is near the view and put the scroll position right; return whether the view moved."""
        height = self.size.height
        if height <= 0:
            return False
        pile, margin = self.pile, height
        if self.following or self._anchor is None:
            pile.draw_end(height + margin)
            row = pile.total - height
        else:
            pile.draw_around(self._anchor, height + margin, margin)
            found = pile.row_of(self._anchor)
            row = pile.total - height if found is None else min(found, pile.total - height)
        row = max(0, row)
        self._keep_selection()
        self._tell_size()
        before = round(self.scroll_y)
        self._settling = True
        self.scroll_target_y = row
        self.scroll_y = row
        self._settling = False
        anchor = pile.anchor(row)
        self._reference = None if anchor is None else (anchor, row)
        if row != before:
            self.refresh()
        self._colour_later()
        self.view_moved()
        return row != before

    def _colour_later(self) -> None:
        if not self._colouring and next(self._uncoloured(), None) is not None:
            self._colouring = True
            self.set_timer(_COLOUR_PAUSE, self._colour)

    def _colour(self) -> None:
        """Find some more of the colours of the long code in view, for a moment only."""
        self._colouring = False
        section = next(self._uncoloured(), None)
        if section is not None and section.colouring is not None and section.colouring.advance(_COLOUR_SLICE):
            section.colouring = section.strips = None
            self.refresh()
        self._colour_later()

    def _uncoloured(self) -> Iterator[Section]:
        pile, row = self.pile, round(self.scroll_y)
        end = min(row + self.size.height, pile.total)
        while row < end:
            index, within = pile.find(row)
            layout = pile.layout(index)
            yield from layout.uncoloured(within, within + end - row)
            row += max(1, pile.height(index) - within)

    def _tell_size(self) -> None:
        """Tell Textual how high the pile is, without the layout of the whole screen a change would start."""
        size = Size(self.size.width, max(self.pile.total, 1))
        if self.virtual_size != size:
            self.set_reactive(Widget.virtual_size, size)
            self._settling = True
            self._scroll_update(size)
            self._settling = False

    def _keep_selection(self) -> None:
        if self._reference is not None:
            anchor, row = self._reference
            now = self.pile.row_of(anchor)
            if now is not None:
                self._drift += row - now

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the user's scrolling: the end, or the line now at the top."""
        super().watch_scroll_y(old_value, new_value)
        if self._settling or round(old_value) == round(new_value):
            return
        self.stay_at(self.pile.anchor(round(new_value)), at_end=new_value >= self.max_scroll_y)

    def stay_at(self, anchor: Anchor | None, *, at_end: bool = False) -> None:
        """Keep `anchor` at the top of the view, or follow the end."""
        self.following = at_end or anchor is None
        self._anchor = anchor
        self.settle()
        if not self.following and self.scroll_y >= self.max_scroll_y:
            self.following = True
        self.refresh()

    def scroll_to(self, *args: Any, **kwargs: Any) -> None:
        """As Textual's, but at once: nothing here moves smoothly."""
        super().scroll_to(*args, **{**kwargs, "animate": False})

    def scroll_rows(self, rows: int) -> None:
        """Scroll by so many rows at once."""
        self.scroll_to(y=round(self.scroll_y) + rows)

    def repaint_from(self, row: int) -> None:
        """Arrange after a change at `row` and below, and paint what is in view of it."""
        if not self.settle():
            top = round(self.scroll_y)
            first = max(0, row - top)
            if first < self.size.height:
                self.refresh(Region(0, first, self.size.width, self.size.height - first))

    # --- painting ------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Paint one line of the view."""
        row, width = round(self.scroll_y) + y, self.size.width
        pile = self.pile
        if not 0 <= row < pile.total:
            return blank_line(width, self.look)
        index, within = pile.find(row)
        layout = pile.layout(index)
        if within >= layout.height - 1:
            return blank_line(width, self.look).apply_offsets(0, row + self._drift)
        item = layout.item
        chosen = self.is_chosen(item.id)
        ground = ground_of(item)
        text = self._text(layout, within, chosen=chosen)
        bar = "accent" if chosen else "mark" if ground == "raised" else None
        number = row + self._drift
        frame = (ground, bar, item.is_hit, width, self.axis, self.look)
        selection = self.text_selection
        if (
            selection is None
            and (known := self._lines.get(number))
            and known[0] is text
            and known[1] == frame
        ):
            return known[2]
        line = framed(text, self.axis, width, self.look, ground=ground, bar=bar, hit=item.is_hit)
        if selection is not None:
            overlay = self.look.palette.ground("selection")
            return selected(line, selection, number, self.axis.left, overlay).apply_offsets(0, number)
        line = line.apply_offsets(0, number)
        if len(self._lines) >= _LINES_KEPT:
            self._lines.clear()
        self._lines[number] = (text, frame, line)
        return line

    def _text(self, layout: ItemLayout, within: int, *, chosen: bool) -> Strip | None:
        """Return the text of a row as it is just now: with what changes without the message changing."""
        item, width, look = layout.item, self.axis.text_width, self.look
        if within == 0 and item.kind == "message" and (chosen or item.status == "streaming"):
            seconds, frame = self.activity(item.id)
            return Strip(header_row(item, width, look, focused=chosen, seconds=seconds, frame=frame), width)
        text = layout.strip(within)
        section, at = layout.section_at(within)
        if at == 0 and section.block is not None and section.block.kind == "fence":
            copied = self.is_copied(section)
            if chosen or copied:
                language = language_of(section.block.source.split("\n", 1)[0].lstrip(" `~"))
                word, role = ("copied", "success") if copied else ("copy", "accent")
                return Strip(head_row(language, width, look, word=word, role=role), width)  # type: ignore[arg-type]
        if item.status == "streaming" and text is not None and within == layout.caret_row():
            return with_caret(text, look)
        return text

    # --- selection -----------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it is shown."""
        text = selected_text(self.pile, selection, self._drift, self.axis.left)
        self.settle()
        return text, "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint the selection."""
        del selection
        self.refresh()

    def select_word(self, at: Offset) -> None:
        """Select the word at a cell of the view, if there is one."""
        row = round(self.scroll_y) + at.y
        found = word_at(self.pile, row, at.x, self.axis.left)
        if found is not None:
            y = row + self._drift
            self.screen.selections = {self: Selection(Offset(found[0], y), Offset(found[1], y))}
