"""The desk for the composer beside sending: keeps the draft, the ladder of Control+C, the external editor."""

import asyncio
import contextlib
import os
import shlex
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipchat.core.attachments import size_text
from shipchat.core.errors import UsageError
from shipchat.sessions.attaching import mentioned, without_mention
from shipchat.tui.messages import (
    AttachmentDropRequested,
    CtrlC,
    DraftChanged,
    DraftCleared,
    ExternalEditorRequested,
    OwnMessage,
    TextCopied,
)
from shipchat.tui.screens.confirm import ConfirmScreen
from shipchat.tui.widgets.composer_state import Attachment
from shipchat.tui.widgets.toast import Toast, ToastKind

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

_LONG_DRAFT: Final = 100_000  # characters: it is looked at with every key


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
                self._show_files(screen.view.composer.text)
            case AttachmentDropRequested(index=index):
                self._drop_file(index)
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

    def _show_files(self, text: str) -> None:
        """Show which files the draft names, and so sends along."""
        composer = self._screen.view.composer
        files = files_named(text)
        if files != composer.state.attachments:
            composer.state = replace(composer.state, attachments=files)

    def _drop_file(self, index: int) -> None:
        """Take the words that name a file out of the draft; the file itself stays where it is."""
        composer = self._screen.view.composer
        paths = mentioned(composer.text)
        if index < len(paths):
            composer.load(without_mention(composer.text, paths[index]))

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


def files_named(text: str) -> tuple[Attachment, ...]:
    """Return the files that a draft names as `@path`; those of a huge draft are seen only when it is sent."""
    if "@" not in text or len(text) > _LONG_DRAFT:
        return ()
    files: list[Attachment] = []
    for path in mentioned(text):
        with contextlib.suppress(OSError):  # gone a moment ago
            files.append(Attachment(path.name, size_text(path.stat().st_size)))
    return tuple(files)


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
