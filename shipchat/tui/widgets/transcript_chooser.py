"""Choosing a message of the transcript and acting on it by key; what it shows is left to `transcript_feed`, the mouse to
`transcript`.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.markdown.render import codes_of
from shipchat.tui.widgets.transcript_feed import MessageFeed
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_messages import (
    Action,
    CopyCode,
    FoldToggled,
    MessageAction,
    MessageFocused,
    SiblingFlip,
    TranscriptLeft,
)
from shipchat.tui.widgets.transcript_section import Section

_COPIED_SECONDS: Final = 2.0
_SHIFT: Final = 8  # cells by which code is moved at a time


class MessageChooser(MessageFeed, can_focus=True):
    """The transcript with a message that can be chosen and acted upon. It posts the messages of
    `transcript_messages`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", "Previous message", show=False),
        Binding("down", "step(1)", "Next message", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "first", "First message", show=False),
        Binding("end", "last", "Last message", show=False),
        Binding("left", "flip(-1)", "Previous sibling", show=False),
        Binding("right", "flip(1)", "Next sibling", show=False),
        Binding("enter,o", "fold", "Open or close details", show=False),
        Binding("c", "act('c')", "Copy", show=False),
        Binding("y", "act('y')", "Copy", show=False),
        Binding("e", "act('e')", "Edit", show=False),
        Binding("r", "act('r')", "Retry", show=False),
        Binding("f", "act('f')", "Fork", show=False),
        Binding("m", "act('m')", "More", show=False),
        Binding("p", "act('p')", "Pin", show=False),
        Binding("k", "copy_code", "Copy code", show=False),
        Binding("less_than_sign", "shift(-1)", "Code to the left", show=False),
        Binding("greater_than_sign", "shift(1)", "Code to the right", show=False),
        Binding("escape", "leave", "Back to the composer", show=False),
    ]
    _ACTIONS: ClassVar[dict[str, Action]] = {
        "c": "copy", "y": "copy", "e": "edit", "r": "retry", "f": "fork", "m": "more", "p": "pin",
    }  # fmt: skip
    _CUT_OFF_ACTIONS: ClassVar[dict[str, Action]] = {**_ACTIONS, "c": "continue", "m": "model"}

    def __init__(
        self,
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,  # noqa: A002 - Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(glyphs=glyphs, id=id, classes=classes)
        self.chosen: str | None = None  # the item the keys go to, while the widget has the focus
        self._copied: Section | None = None

    # --- the chosen message --------------------------------------------------------------------------------------

    def is_chosen(self, item_id: str) -> bool:
        """Return whether the keys go to this item."""
        return self.has_focus and item_id == self.chosen

    def is_copied(self, section: Section) -> bool:
        """Return whether the code of this section was copied a moment ago."""
        return section is self._copied

    def chosen_item(self) -> TranscriptItem | None:
        """Return the item the keys go to, if it is still there."""
        index = None if self.chosen is None else self.pile.index_of(self.chosen)
        return None if index is None else self.pile.items[index]

    def choose(self, item_id: str | None, *, reveal: bool = True) -> None:
        """Let the keys go to this message, and bring its beginning into view if `reveal`."""
        if item_id != self.chosen:
            self.chosen = item_id
            self.post_message(MessageFocused(item_id))
        index = None if item_id is None else self.pile.index_of(item_id)
        if reveal and index is not None and item_id is not None:
            start, top, height = self.pile.start(index), round(self.scroll_y), self.size.height
            end = start + self.pile.height(index)
            if start < top or start >= top + height or (end > top + height and end - start <= height):
                if index == len(self.pile.items) - 1 and end - start <= height:
                    self.follow()
                elif start < top or end - start > height:
                    self.scroll_to_item(item_id)
                else:
                    self.scroll_rows(end - top - height)
        self.refresh()

    def set_items(
        self, items: Iterable[TranscriptItem], *, has_more: bool = False, at: str | None = None
    ) -> None:
        """As the feed does; if the keys go here, a message of these is chosen."""
        super().set_items(items, has_more=has_more, at=at)
        if at is not None:
            self.chosen = at
        if self.chosen_item() is None:
            self.chosen = None
            if self.has_focus:
                self.on_focus()

    def on_focus(self) -> None:
        """Choose the last message in view unless one is chosen already."""
        if self.chosen_item() is None:
            index, _ = self.pile.find(round(self.scroll_y) + max(0, self.size.height - 2))
            self.choose(self._message_from(index, -1), reveal=False)

    def _message_from(self, index: int, direction: int) -> str | None:
        items = self.pile.items
        while 0 <= index < len(items):
            if items[index].kind == "message":
                return items[index].id
            index += direction
        return None

    # --- keys ----------------------------------------------------------------------------------------------------

    def action_step(self, direction: int) -> None:
        """Choose the message before (-1) or after (1); beyond the last the keys go back to the composer."""
        index = None if self.chosen is None else self.pile.index_of(self.chosen)
        if index is None:
            self.on_focus()
            return
        found = self._message_from(index + direction, direction)
        if found is not None:
            self.choose(found)
        elif direction > 0:
            self.action_leave()
        else:
            self.scroll_to(y=0)

    def action_page(self, direction: int) -> None:
        """Scroll by a page, less a row that both pages show."""
        self.scroll_rows(direction * max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Go to the first message."""
        if (found := self._message_from(0, 1)) is not None:
            self.scroll_to(y=0)
            self.choose(found)

    def action_last(self) -> None:
        """Go to the end and follow it."""
        self.follow()
        if (found := self._message_from(len(self.pile.items) - 1, -1)) is not None:
            self.choose(found, reveal=False)

    def action_flip(self, direction: int) -> None:
        """Ask for the sibling before or after the chosen message."""
        item = self.chosen_item()
        if item is not None:
            self.flip(item, direction)

    def flip(self, item: TranscriptItem, direction: int) -> None:
        """Ask for the sibling before (-1) or after (1) a message, if there is one."""
        if item.sibling is not None and 1 <= item.sibling.number + direction <= item.sibling.count:
            self.post_message(SiblingFlip(item.id, direction))

    def action_fold(self) -> None:
        """Open or close the chosen message's details."""
        item = self.chosen_item()
        if item is not None and item.fold is not None:
            self.toggle_fold(item)

    def toggle_fold(self, item: TranscriptItem) -> None:
        """Open or close a message's details, and say so."""
        index = self.pile.index_of(item.id)
        if index is None:
            return
        if self.following:  # what is opened stays where the eye is, whatever grows below it
            self.following, self._anchor = False, self.pile.anchor(round(self.scroll_y))
        opened = self.pile.toggle_fold(index)
        self.stay_at(self._anchor)
        self.post_message(FoldToggled(item.id, opened))

    def action_act(self, key: str) -> None:
        """Ask for what this key means for the chosen message."""
        item = self.chosen_item()
        if item is not None:
            self.post_message(
                MessageAction(item.id, (self._CUT_OFF_ACTIONS if item.is_cut_off else self._ACTIONS)[key])
            )

    def action_copy_code(self) -> None:
        """Copy the first block of code of the chosen message that is in view, or its first."""
        item = self.chosen_item()
        index = None if item is None else self.pile.index_of(item.id)
        if item is None or index is None:
            return
        layout, start = self.pile.layout(index), self.pile.start(index)
        top = max(0, round(self.scroll_y) - start)
        found = [
            section for section in layout.sections if section.block is not None and codes_of(section.block)
        ]
        if found:
            visible = [section for section in found if layout.end_of(section) > top]
            section = (visible or found)[0]
            self.copy_code(item, section, codes_of(section.block)[0] if section.block else "")

    def copy_code(self, item: TranscriptItem, section: Section, code: str) -> None:
        """Ask for code to be copied; its head says `copied` for a moment."""
        self._copied = section
        self.set_timer(_COPIED_SECONDS, self._forget_copied)
        self.refresh()
        self.post_message(CopyCode(item.id, code))

    def _forget_copied(self) -> None:
        self._copied = None
        self.refresh()

    def action_shift(self, direction: int) -> None:
        """Move the code of the chosen message sideways."""
        item = self.chosen_item()
        index = None if item is None else self.pile.index_of(item.id)
        if index is not None:
            for section in self.pile.layout(index).sections:
                self.shift(section, direction)

    def shift(self, section: Section, direction: int) -> None:
        """Move the code of a section sideways."""
        if section.block is not None and codes_of(section.block):
            section.shift = max(0, section.shift + direction * _SHIFT)
            section.strips = None
            self.refresh()

    def action_leave(self) -> None:
        """Give the keys back."""
        self.post_message(TranscriptLeft())
