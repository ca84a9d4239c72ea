"""Opens the full-screen front end for commands, where there is a terminal that can show it."""

import os
import sys
from typing import TYPE_CHECKING

from shipchat.cli.startup import open_settings

if TYPE_CHECKING:
    from shipchat.bootstrap import Services


def has_screen() -> bool:
    """Return whether both ends are a terminal that can place the cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def show_screen(
    key: str | None = None, *, read_only: bool = False, model: str | None = None, position: int | None = None
) -> int:
    """Show the session with this key (None: a fresh one, or the newest when the config says so); return the exit code.

    `model` is the one to ask in it from now on.
    """
    import gc

    gc.disable()  # until the first frame is there: nothing of what is loaded meanwhile is garbage
    settings, where = open_settings()
    from shipchat.tui.run import run_tui
    from shipchat.tui.start import LaterServices, Start

    def make() -> "Services":
        from shipchat.bootstrap import services

        return services("shipchat", settings, where)

    start = Start(
        key,
        position=position,
        last=key is None and settings.start == "last",
        read_only=read_only,
        model=model,
    )
    return run_tui(make() if start.wants_session else LaterServices(settings, where, make), start)
