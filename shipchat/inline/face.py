"""What a conversation needs of the terminal it is held in: telling things for good, asking, and the text being typed."""

from collections.abc import Sequence
from typing import Protocol

from shipchat.commands.command import Option
from shipchat.core.errors import ShipchatError
from shipchat.core.events import SessionEvent
from shipchat.core.messages import Message
from shipchat.core.session import Session


class Teller(Protocol):
    """Tells things for good, each once; makes every text safe to show itself."""

    def opened(self, session: Session, *, stored: bool, private: bool) -> None:
        """A session was opened: say which."""
        ...

    def message(self, position: int, message: Message) -> None:
        """Tell a whole message."""
        ...

    def event(self, event: SessionEvent) -> None:
        """Tell what happens in a turn here."""
        ...

    def note(self, title: str, detail: str = "") -> None:
        """Tell something good to know."""
        ...

    def warn(self, title: str, detail: str = "") -> None:
        """Tell something that was not done, or is in danger."""
        ...

    def error(self, error: ShipchatError) -> None:
        """Tell what went wrong and what can be done."""
        ...

    def lines(self, title: str, lines: Sequence[str]) -> None:
        """Tell some lines under a title."""
        ...


class Face(Protocol):
    """The part of the terminal that changes: the draft, questions, the state."""

    @property
    def teller(self) -> Teller:
        """Who tells."""
        ...

    def changed(self) -> None:
        """The state of the conversation is another one: show it."""
        ...

    async def load(self, text: str, prompts: Sequence[str]) -> None:
        """Another session is open: `text` was kept for it, `prompts` are those sent in it, oldest first."""
        ...

    def restore(self, text: str) -> None:
        """Give back a text that was not sent, without losing what has been typed since."""
        ...

    def set_draft(self, text: str) -> None:
        """Replace what is typed."""
        ...

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard. Raises UsageError where there is no way to."""
        ...

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types, None when it is given up."""
        ...

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses, None when it is given up."""
        ...

    def leave(self, code: int = 0) -> None:
        """End the conversation."""
        ...

    def crashed(self, error: BaseException) -> None:
        """A bug ended something in the background: end in order, and raise it."""
        ...
