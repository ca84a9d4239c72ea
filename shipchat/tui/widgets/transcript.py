"""The transcript: what the mouse does on the messages it shows.

Told values, posts messages; it knows no session, and opens, copies or changes nothing itself. What it shows is
`transcript_feed`'s, how it is painted `transcript_view`'s, what keys do `transcript_chooser`'s.
"""

from textual import events

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.widgets.transcript_chooser import MessageChooser
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_messages import LinkActivated, MessageAction
from shipchat.tui.widgets.transcript_pointer import Spot, spot_at


class Transcript(MessageChooser):
    """The transcript of a session, to be filled with `set_items`. It posts the messages of `transcript_messages`."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    """

    def __init__(
        self,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(glyphs=glyphs, id=id, classes=classes)
        self._pressed: Spot | None = None  # what lay under the pointer when its button went down

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember what was pressed: with the focus the header changes under the pointer before the click comes."""
        at = event.get_content_offset(self)
        self._pressed = None if at is None else spot_at(self.pile, round(self.scroll_y) + at.y, event.style)
        if self._pressed is not None and self._pressed.item.kind == "message":
            self.choose(self._pressed.item.id, reveal=False)

    def on_click(self, event: events.Click) -> None:
        """Do what was pressed: open a link, act on a word of a header, copy code."""
        # Textual's own handler would select ten thousand messages at a double click.
        event.prevent_default()
        spot, self._pressed = self._pressed, None
        at = event.get_content_offset(self)
        if event.chain == 2 and at is not None:
            self.select_word(at)
        elif spot is None or event.chain > 1 or self.text_selection is not None:
            return
        elif spot.link is not None:
            self.post_message(LinkActivated(spot.link))
        elif spot.code is not None:
            self.copy_code(spot.item, spot.section, spot.code)
        elif spot.act is not None:
            self._act(spot.item, spot.act)

    def _act(self, item: TranscriptItem, act: str) -> None:
        match act:
            case "fold":
                self.toggle_fold(item)
            case "previous" | "next":
                self.flip(item, -1 if act == "previous" else 1)
            case "copy" | "edit" | "retry" | "fork" | "more" | "continue" | "model":
                self.post_message(MessageAction(item.id, act))

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Move the code under the pointer."""
        self._shift_at(event, 1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Move the code under the pointer."""
        self._shift_at(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """With Shift, move the code under the pointer."""
        if event.shift:
            self._shift_at(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """With Shift, move the code under the pointer."""
        if event.shift:
            self._shift_at(event, -1)

    def _shift_at(self, event: events.MouseEvent, direction: int) -> None:
        at = event.get_content_offset(self)
        spot = None if at is None else spot_at(self.pile, round(self.scroll_y) + at.y, event.style)
        if spot is not None:
            self.shift(spot.section, direction)
            event.prevent_default()
            event.stop()
