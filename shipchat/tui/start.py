"""What the screen begins with, as the command line asked for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shipchat.commands.services import Services
    from shipchat.config.paths import Directories
    from shipchat.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Start:
    """`key`: the session to open (None: a fresh one), at the message with `position`; `last`: the newest one instead.

    `read_only`: nothing is sent. `model` is asked by fresh sessions. `private`: a session that is stored nowhere.
    `text` is put into the composer.
    """

    key: str | None = None
    position: int | None = None
    last: bool = False
    read_only: bool = False
    model: str | None = None
    private: bool = False
    text: str = ""

    @property
    def wants_session(self) -> bool:
        """Whether anything but a fresh session is asked for."""
        return self.key is not None or self.last or self.private


@dataclass(frozen=True, slots=True)
class LaterServices:
    """The services of a program whose first frame needs none of them: `make` is called behind it, in a thread."""

    settings: "Settings"
    directories: "Directories"
    make: "Callable[[], Services]"
