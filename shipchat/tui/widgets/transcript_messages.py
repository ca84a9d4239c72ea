"""What the transcript tells whoever holds it: one class a wish or an event, values only."""

from dataclasses import dataclass
from typing import Literal

from shipchat.tui.messages import OwnMessage

Action = Literal["copy", "edit", "retry", "fork", "more", "continue", "model", "pin"]


@dataclass
class MessageAction(OwnMessage):
    """Do `action` to the message `item_id`. `continue` and `model` (retry with another) are of a reply cut off."""

    item_id: str
    action: Action


@dataclass
class CopyCode(OwnMessage):
    """Put `code`, a block of the message `item_id`, on the clipboard."""

    item_id: str
    code: str


@dataclass
class LinkActivated(OwnMessage):
    """The user clicked a link to `url`; its scheme is http, https or mailto."""

    url: str


@dataclass
class SiblingFlip(OwnMessage):
    """Show the sibling before (-1) or after (+1) the message `item_id`."""

    item_id: str
    direction: int


@dataclass
class FoldToggled(OwnMessage):
    """The details of the message `item_id` were opened or closed. The transcript has done it already."""

    item_id: str
    opened: bool


@dataclass
class MessageFocused(OwnMessage):
    """The keys now go to the message `item_id`; None when they go to no message."""

    item_id: str | None


@dataclass
class ViewMoved(OwnMessage):
    """Another part is in view: the position of the last message in it (None without one), whether that is the end."""

    position: int | None
    at_end: bool


class LoadMore(OwnMessage):
    """The view nears the first item there is, and `has_more` was said: answer with `prepend_items`. Sent once."""


class TranscriptLeft(OwnMessage):
    """Escape, or Down beyond the last message: give the keys back to the composer."""
