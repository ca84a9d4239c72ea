"""What our widgets tell whoever holds them: one class a wish or an event, values only.

Handlers are named after the class alone: `on_session_chosen`, `on_submitted`, ...
"""

from dataclasses import dataclass
from enum import Enum

from textual.message import Message


class OwnMessage(Message, namespace=""):
    """The base of all: its subclasses' handlers carry no prefix."""

    def __post_init__(self) -> None:
        """Let the message rise to the top, whoever caused it.

        Textual ends the way of a message at the widget whose handler posted it. When a sidebar asks its list to open
        something, what the list then posts is meant for the screen, and would never get past the sidebar. (The price:
        `@on` can match these messages by class only, not by selector.)
        """
        super().__post_init__()
        self._sender = None


# --- the sidebar -------------------------------------------------------------------------------------------------


@dataclass
class SessionChosen(OwnMessage):
    """Open the session `key`; at the message with this position if there is one (a search hit)."""

    key: str
    position: int | None = None


@dataclass
class SessionHighlighted(OwnMessage):
    """The list's cursor moved to the session `key`; None when the list became empty."""

    key: str | None


@dataclass
class NewRequested(OwnMessage):
    """Begin a new session."""


@dataclass
class ForkRequested(OwnMessage):
    """Fork the session `key` and open the fork."""

    key: str


@dataclass
class RenameSubmitted(OwnMessage):
    """Give the session `key` this title, as typed (not empty)."""

    key: str
    title: str


@dataclass
class TagRequested(OwnMessage):
    """Ask for tags of the session `key`."""

    key: str


@dataclass
class ArchiveRequested(OwnMessage):
    """Archive the session `key`, or bring it back when `archived` is False."""

    key: str
    archived: bool


@dataclass
class DeleteRequested(OwnMessage):
    """Move the session `key` to the trash."""

    key: str


@dataclass
class ExportRequested(OwnMessage):
    """Export the session `key`."""

    key: str


@dataclass
class FilterChanged(OwnMessage):
    """The sidebar's filter is now `query`; whoever can search in full text answers with `Sidebar.show_hits`."""

    query: str


@dataclass
class ArchiveViewChanged(OwnMessage):
    """The sidebar now shows archived sessions (True) or the others (False)."""

    archived: bool


@dataclass
class SidebarLeft(OwnMessage):
    """Escape in the list: give the keys back to the composer (and close the drawer)."""


@dataclass
class SidebarRequested(OwnMessage):
    """The header's menu sign was clicked: open the drawer."""


# --- the composer ------------------------------------------------------------------------------------------------


@dataclass
class Submitted(OwnMessage):
    """Send this prompt or run this slash command; never blank. The composer has already let go of it."""

    text: str


class DraftChanged(OwnMessage):
    """The draft changed. Comes with every key: wait for a pause, then read `Composer.text`."""


@dataclass
class InterruptRequested(OwnMessage):
    """Escape in the composer: stop the reply, keep the draft."""


@dataclass
class CtrlC(OwnMessage):
    """Control+C with nothing selected and no draft: interrupt the reply, else ask whether to quit."""


@dataclass
class DraftCleared(OwnMessage):
    """Control+C cleared the draft; Up brings it back."""


@dataclass
class TextCopied(OwnMessage):
    """Selected text went to the clipboard."""

    characters: int


@dataclass
class QueueEditRequested(OwnMessage):
    """Take the queued prompt with this index out of the queue and put it into the composer."""

    index: int


@dataclass
class QueueDropRequested(OwnMessage):
    """Take the queued prompt with this index out of the queue."""

    index: int


class HeldChoice(Enum):
    """What to do with a prompt while a turn runs in the session elsewhere."""

    WAIT = "wait"
    FORK = "fork"
    NEW = "new"


@dataclass
class HeldChosen(OwnMessage):
    """The answer to "replying in another window"; `text` stays in the composer until it is taken or cleared."""

    choice: HeldChoice
    text: str


@dataclass
class SaveRetryRequested(OwnMessage):
    """Enter while nothing can be saved: try again."""


@dataclass
class AttachmentDropRequested(OwnMessage):
    """Remove the attachment with this index."""

    index: int


@dataclass
class ExternalEditorRequested(OwnMessage):
    """Edit the draft in the user's editor."""


@dataclass
class CandidateClicked(OwnMessage):
    """A row of the completion list was clicked (the composer deals with it)."""

    index: int


# --- toasts ------------------------------------------------------------------------------------------------------


@dataclass
class ToastUndone(OwnMessage):
    """The undo of the toast with this `action` (a name the poster of the toast chose) is wanted."""

    action: str


# --- pickers -----------------------------------------------------------------------------------------------------


@dataclass
class ChoiceHighlighted(OwnMessage):
    """The cursor of a list of choices moved to the choice `id`; None when nothing is left."""

    id: str | None


@dataclass
class ChoiceMade(OwnMessage):
    """The choice `id` was taken."""

    id: str


# --- the status line ---------------------------------------------------------------------------------------------


@dataclass
class StatusClicked(OwnMessage):
    """A segment of the status line was clicked: `activity`, `save`, `context`, `keys`, `model`, `actions`, `cost`."""

    segment: str
