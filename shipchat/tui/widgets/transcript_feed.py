"""The transcript's content: messages come, change and go, and replies are written into it piece by piece.

Painting is left to `transcript_view`, keys and clicks to `transcript`.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from textual.reactive import reactive
from textual.timer import Timer

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_layout import Place
from shipchat.tui.widgets.transcript_messages import LoadMore, ViewMoved
from shipchat.tui.widgets.transcript_pile import Anchor
from shipchat.tui.widgets.transcript_stream import Streams
from shipchat.tui.widgets.transcript_view import PileView

PAINTS_PER_SECOND: Final = 15
_FRAMES_PER_SECOND: Final = 4
# Of the time between two paints at most a fifth is spent on painting: keys and the network come first.
_IDLE_FACTOR: Final = 4
# While somebody types, a reply is painted only so often, and not right after a key: its echo would wait for that.
_SECONDS_AFTER_KEY: Final = 0.08
_MOST_SECONDS_HELD: Final = 0.25


class MessageFeed(PileView):
    """Shows messages and follows a reply being written.

    Fill it with `set_items`; a reply goes through `begin_stream`, `append_delta` and `end_stream`.
    """

    has_more: reactive[bool] = reactive(False, repaint=False)
    """Whether there are items before the first: `LoadMore` is posted when the view nears it."""

    motion: reactive[bool] = reactive(True, repaint=False)
    """Whether the sign of activity may move."""

    def __init__(
        self,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(glyphs=glyphs, id=id, classes=classes)
        self._streams = Streams()
        self._asked_for_more = False
        self._told: tuple[int | None, bool] | None = None
        self._not_before = 0.0
        self._painted = 0.0  # when a reply was last painted
        self._seen_seconds: dict[str, int] = {}
        self._paint_timer: Timer | None = None

    def on_mount(self) -> None:
        """Start the clocks; they stand still while nothing is written."""
        super().on_mount()
        self._paint_timer = self.set_interval(1 / PAINTS_PER_SECOND, self.flush, pause=not self._streams)
        self.set_interval(1 / _FRAMES_PER_SECOND, self._move_signs)

    # --- the items -----------------------------------------------------------------------------------------------

    def set_items(
        self, items: Iterable[TranscriptItem], *, has_more: bool = False, at: str | None = None
    ) -> None:
        """Show these items and no others: their end, or the item `at`. `has_more` as the attribute."""
        self.pile.set_items(items)
        self._streams.clear()
        self._seen_seconds.clear()
        self._told = None
        self.has_more, self._asked_for_more = has_more, False
        for item in reversed(self.pile.items):  # a reply that streams is among the last
            if item.status == "streaming":
                self._start_clock(item.id, 0)
            elif item.kind == "message":
                break
        if at is None or not self.scroll_to_item(at):
            self.stay_at(None, at_end=True)

    def prepend_items(self, items: Sequence[TranscriptItem], *, has_more: bool = False) -> None:
        """Add items before the first, the answer to `LoadMore`. What is in view stays where it is."""
        if not self.following and self._anchor is None:
            self._anchor = self.pile.anchor(round(self.scroll_y))
        self.pile.prepend(items)
        self.has_more, self._asked_for_more = has_more, False
        self.settle()
        self.refresh()

    def append_item(self, item: TranscriptItem) -> None:
        """Add an item at the end."""
        self.pile.append(item)
        if item.status == "streaming":
            self._start_clock(item.id, 0)
        self.repaint_from(self.pile.start(len(self.pile.items) - 1))

    def update_item(self, item: TranscriptItem) -> bool:
        """Show another state of an item; return whether there is one of its id.

        The text of a reply that streams is what `append_delta` brought, until its status is another.
        """
        index = self.pile.index_of(item.id)
        if index is None:
            return False
        text = self._streams.take(item.id)
        if text:
            self.pile.feed(index, text)
        self.pile.update(item)
        if item.status != "streaming":
            self._streams.end(item.id)
        self.repaint_from(self.pile.start(index))
        return True

    def remove_items_after(self, item_id: str | None) -> None:
        """Remove all items after this one; None removes all."""
        index = -1 if item_id is None else self.pile.index_of(item_id)
        if index is None:
            return
        for item in self.pile.items[index + 1 :]:
            self._streams.end(item.id)
        self.pile.truncate(index + 1)
        self.settle()
        self.refresh()

    def markdown_of(self, item_id: str) -> str:
        """Return a message as it was written; of a reply that streams, what has come so far. Empty if there is none."""
        index = self.pile.index_of(item_id)
        if index is None:
            return ""
        if item_id in self._streams:
            self.flush(now=True)
            return self.pile.layout(index).text()
        return self.pile.items[index].text

    # --- a reply being written -----------------------------------------------------------------------------------

    def begin_stream(self, item: TranscriptItem, *, seconds: float = 0) -> None:
        """Begin to show a reply whose status is `streaming` and that has been going on for `seconds`.

        It is added at the end unless there is an item of its id; the text it has already is shown.
        """
        if self.pile.index_of(item.id) is None:
            self.append_item(item)
        else:
            self.update_item(item)
        self._start_clock(item.id, seconds)

    def append_delta(self, item_id: str, text: str) -> None:
        """Take more text of a reply. Cheap: it is shown with the next paint. Of an unknown reply nothing is kept."""
        self._streams.add(item_id, text)

    def end_stream(self, item: TranscriptItem) -> None:
        """Show the reply as it ended: `item` holds its whole text and its status."""
        self.update_item(item)
        self._streams.end(item.id)

    def flush(self, *, now: bool = False) -> None:
        """Show what has come of the replies being written; unless `now`, only if the last paint was cheap enough."""
        begin = time.monotonic()
        if self._paint_timer is not None and not self._streams:
            self._paint_timer.pause()
        if not now and begin < self._not_before:
            return
        changed: int | None = None
        for item_id in self._streams:
            index = self.pile.index_of(item_id)
            text = self._streams.take(item_id)
            if text and index is not None:
                row = self.pile.start(index) + self.pile.feed(index, text)
                changed = row if changed is None else min(changed, row)
        if changed is not None:
            self.repaint_from(max(0, changed - 1))  # the row before it lets go of the caret
            self._painted = time.monotonic()
            self._not_before = self._painted + _IDLE_FACTOR * (self._painted - begin)

    def give_way(self) -> None:
        """Hear that a key was typed elsewhere: what comes of a reply is painted a little later, for that to go first."""
        until = min(time.monotonic() + _SECONDS_AFTER_KEY, self._painted + _MOST_SECONDS_HELD)
        self._not_before = max(self._not_before, until)

    def _start_clock(self, item_id: str, seconds: float) -> None:
        self._streams.begin(item_id, seconds)
        if self._paint_timer is not None:
            self._paint_timer.resume()

    def _move_signs(self) -> None:
        """Paint the headers of replies being written, when their sign moves or their seconds count."""
        for item_id in self._streams:
            index = self.pile.index_of(item_id)
            seconds = self._streams.seconds(item_id)
            if index is not None and (self._moves or self._seen_seconds.get(item_id) != seconds):
                self._seen_seconds[item_id] = seconds
                self.refresh_line(self.pile.start(index))

    @property
    def _moves(self) -> bool:
        return self.motion and self.app.app_focus and self.app.animation_level != "none"

    def activity(self, item_id: str) -> tuple[int, str]:
        """Return for how many seconds a reply has been written, and the sign of activity to show."""
        glyphs = self.look.glyphs
        frame = glyphs.dot
        if self._moves:
            frame = glyphs.activity[int(time.monotonic() * _FRAMES_PER_SECOND) % len(glyphs.activity)]
        return self._streams.seconds(item_id), frame

    # --- the view ------------------------------------------------------------------------------------------------

    def scroll_to_item(self, item_id: str) -> bool:
        """Bring an item to the top of the view; return whether there is one of this id."""
        if self.pile.index_of(item_id) is None:
            return False
        self.stay_at(Anchor(item_id, Place(0, 0)))
        return True

    def scroll_to_position(self, position: int) -> bool:
        """Bring the message with this position to the top of the view; return whether it is among the items."""
        found = next((item.id for item in self.pile.items if item.position == position), None)
        return found is not None and self.scroll_to_item(found)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.stay_at(None, at_end=True)

    def view_moved(self) -> None:
        """Tell which message is the last in view, and ask for more when the first is near."""
        pile, height = self.pile, self.size.height
        top = round(self.scroll_y)
        if self.has_more and not self._asked_for_more and pile.items and top < 2 * height:
            self._asked_for_more = True
            self.post_message(LoadMore())
        index, _ = pile.find(top + height - 1)
        while index > 0 and pile.items[index].position is None:
            index -= 1
        told = (pile.items[index].position if pile.items else None, self.following)
        if told != self._told:
            self._told = told
            self.post_message(ViewMoved(*told))
