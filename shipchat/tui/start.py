"""What the screen begins with, as the command line asked for it."""

from dataclasses import dataclass


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
