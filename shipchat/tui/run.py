"""Runs the full-screen front end for the command line and returns its exit code."""

import asyncio

from shipchat.commands.services import Services
from shipchat.tui.app import ChatApp
from shipchat.tui.start import Start


def run_tui(services: Services, start: Start) -> int:
    """Show the screen until the user leaves; return the exit code.

    Whatever happens, what runs is stopped and stored first. An unexpected exception is raised after the terminal is
    itself again, so that the caller can report it.
    """
    app = ChatApp(services, start)
    asyncio.run(_run(app, services))
    if app.crash is not None:
        raise app.crash
    return app.return_code or 0


async def _run(app: ChatApp, services: Services) -> None:
    try:
        await app.run_async()
    finally:
        try:
            await app.chat.close()
        finally:
            await services.models.close()
