"""What the inline front end is started for; how that was asked is the command line's business."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InlineStart:
    """`key` is the session to open (None: a fresh one). `plain` asks for lines only: no colours, nothing redrawn.

    `model` and `system` hold for what is sent from here; `private` keeps nothing on disk, and
    begins with a copy of `key` when there is one.
    """

    key: str | None = None
    model: str | None = None
    system: str | None = None
    private: bool = False
    plain: bool = False
