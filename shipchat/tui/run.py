"""Runs the full-screen front end for the command line and returns its exit code."""

import asyncio
from typing import TYPE_CHECKING

from shipchat.tui.app import ChatApp
from shipchat.tui.start import LaterServices, Start

if TYPE_CHECKING:
    from shipchat.commands.services import Services


def run_tui(services: "Services | LaterServices", start: Start) -> int:
    """Show the screen until the user leaves; return the exit code.

    Whatever happens, what runs is stopped and stored first. An unexpected exception is raised after the terminal is
    itself again, so that the caller can report it; so is what `LaterServices.make` raises.
    """
    app = ChatApp(services, start)
    asyncio.run(_run(app))
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0


async def _run(app: ChatApp) -> None:
    try:
        await app.run_async()
    finally:
        await app.close()
