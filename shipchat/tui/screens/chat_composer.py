"""The desk for the composer beside sending: keeps the draft, the ladder of Control+C, the external editor."""

import asyncio
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from shipchat.core.errors import UsageError
from shipchat.tui.messages import (
    CtrlC,
    DraftChanged,
    DraftCleared,
    ExternalEditorRequested,
    OwnMessage,
    TextCopied,
)
from shipchat.tui.screens.confirm import ConfirmScreen
from shipchat.tui.widgets.toast import Toast, ToastKind

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


class ComposerDesk:
    """Deals with what is typed before it is sent."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is the composer's; return whether it was."""
        screen = self._screen
        match message:
            case DraftChanged():
                screen.window.drafts.keep(screen.view.composer.text)
            case DraftCleared():
                screen.view.toasts.show(Toast("Cleared", "Up brings it back", ToastKind.INFO))
            case TextCopied(characters=characters):
                screen.view.toasts.show(Toast("Copied", f"{characters:,} characters"))
            case CtrlC():
                if not screen.turns.interrupt():
                    screen.do(ask_to_quit(screen))
            case ExternalEditorRequested():
                screen.do(self._edit_outside())
            case _:
                return False
        return True

    async def _edit_outside(self) -> None:
        composer = self._screen.view.composer
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
        if not command:
            raise UsageError("no editor is set", advice=("Set VISUAL or EDITOR, for example to vim.",))
        text = composer.text
        descriptor, path = await asyncio.to_thread(tempfile.mkstemp, ".md", "shipchat-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            with self._screen.app.suspend():
                # The user's own command, on the user's own terminal: it blocks everything, as it should.
                done = subprocess.run([*command, path], check=False)  # noqa: S603, ASYNC221
            if done.returncode == 0:
                written = Path(path).read_text(encoding="utf-8", errors="replace")  # noqa: ASYNC240 -- a moment
                composer.load(written.removesuffix("\n"))
        except OSError as error:
            raise UsageError(f"{command[0]} could not be run: {error.strerror}") from error
        finally:
            os.unlink(path)


async def ask_to_quit(screen: "ChatScreen") -> None:
    """Ask whether to quit; everything is on disk, so leaving is no loss."""
    dialog = ConfirmScreen(
        "Quit?",
        "Everything is saved; what you typed is kept as well.",
        (("stay", "Stay"), ("quit", "Quit")),
        safe="stay",
        glyphs=screen.view.glyphs,
    )
    if await screen.stage.wait_for(dialog) == "quit":
        await screen.host.leave()
