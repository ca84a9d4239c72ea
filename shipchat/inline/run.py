"""Runs the inline front end for the command line and returns its exit code."""

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from shipchat.commands.services import Services
from shipchat.core.safe_text import safe_line
from shipchat.inline.conversation import Conversation
from shipchat.inline.start import InlineStart

if TYPE_CHECKING:
    from shipchat.inline.screen import InlineScreen

_ENDING: Final = ("SIGTERM", "SIGHUP")


def can_redraw() -> bool:
    """Return whether the terminal can place its cursor and show our signs; else the plain form is used."""
    encoding = (sys.stdout.encoding or "").casefold().replace("-", "")
    return os.environ.get("TERM", "") not in ("", "dumb") and encoding.startswith("utf")


def run_inline(services: Services, start: InlineStart) -> int:
    """Hold a conversation on the terminal until the user leaves; return the exit code.

    Both ends must be terminals. Whatever happens, what runs is stopped and stored first, and how to come back is
    told. Raises what opening the session raises, and an unexpected exception once the terminal is itself again.
    """
    if start.plain or not can_redraw():
        from shipchat.inline.plain import run_plain

        return run_plain(services, start)
    return asyncio.run(_run(services, start))


async def _run(services: Services, start: InlineStart) -> int:
    from shipchat.inline.opening import begin
    from shipchat.inline.output import terminal_output
    from shipchat.inline.screen import InlineScreen

    output = terminal_output()
    screen = InlineScreen(services, output)
    conversation = screen.conversation
    try:
        await begin(conversation, start)
        with contextlib.suppress(EOFError):  # the terminal is gone
            return await screen.app.run_async(pre_run=lambda: _begun(screen), set_exception_handler=False)
        return 128 + 1  # as SIGHUP would end it
    finally:
        try:
            await screen.close()
        finally:
            await services.models.close()
            with contextlib.suppress(OSError):
                output.disable_bracketed_paste()
                output.show_cursor()
                output.flush()
                say_how_to_go_on(conversation)


def _begun(screen: "InlineScreen") -> None:
    screen.follow()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda _loop, context: screen.crashed(context.get("exception") or RuntimeError(context["message"]))
    )
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, screen.leave, 128 + number)


def say_how_to_go_on(conversation: Conversation) -> None:
    """Print how to come back to the session, when there is something to come back to."""
    if conversation.chat.exists and not conversation.private:
        print(f"Go on: shipchat resume {safe_line(conversation.chat.key)} --inline")
