"""The Textual application: themes, plain terminals, signals, and an end that leaks nothing; the screen does the rest."""

import asyncio
import contextlib
import os
import signal
import sys
from typing import ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.worker import WorkerFailed

from shipchat.commands.services import Services
from shipchat.tui.glyphs import ASCII, UNICODE, Glyphs
from shipchat.tui.preferences import Preferences
from shipchat.tui.screens.chat import ChatScreen
from shipchat.tui.start import Start
from shipchat.tui.themes import (
    DEFAULT_LIGHT_THEME,
    DEFAULT_THEME,
    LoadedThemes,
    ThemeSpec,
    load_themes,
    textual_theme,
    variable_defaults,
)
from shipchat.tui.widgets.toast import Toast, ToastKind

PLAIN_THEME: Final = "ansi-16"
PLAIN_LIGHT_THEME: Final = "ansi-16-light"


def terminal_glyphs() -> Glyphs:
    """Return the signs that the terminal can show: Unicode unless its encoding says otherwise."""
    encoding = (getattr(sys.__stdout__, "encoding", None) or "utf-8").casefold().replace("-", "")
    return UNICODE if encoding.startswith("utf") else ASCII


def terminal_is_light() -> bool:
    """Return whether the terminal says that its background is light (COLORFGBG, as many terminals set it)."""
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return last in ("7", "15")


def wanted_theme(preferred: str | None, themes: LoadedThemes) -> str:
    """Return the theme to begin with: the one set if there is such a one, else by the terminal."""
    if preferred is not None and preferred in themes.themes:
        return preferred
    light = terminal_is_light()
    if os.environ.get("NO_COLOR"):
        return PLAIN_LIGHT_THEME if light else PLAIN_THEME
    return DEFAULT_LIGHT_THEME if light else DEFAULT_THEME


class ChatApp(App[None]):
    """Shows one chat screen. After it ran, `crash` is the unexpected exception that ended it, if one did."""

    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = []
    TITLE = "shipchat"

    def __init__(self, services: Services, start: Start, *, glyphs: Glyphs | None = None) -> None:
        super().__init__()
        self.crash: Exception | None = None
        self.services = services
        config = services.directories.config
        self.preferences = Preferences.of(services.settings, services.directories.config_file)
        self._loaded = load_themes(None if config is None else config / "themes")
        for spec in self._loaded.themes.values():
            self.register_theme(textual_theme(spec))
        self._glyphs = glyphs or terminal_glyphs()
        self.set_class(self._glyphs is ASCII, "ascii")
        self.chat = ChatScreen(services, self.preferences, start, self, self._glyphs)
        self.chat.notes = [
            Toast("A theme is not used", problem.message, ToastKind.WARNING)
            for problem in self._loaded.problems
        ]
        self.theme = wanted_theme(self.preferences.theme, self._loaded)
        self._leaving = False

    @property
    def themes_found(self) -> dict[str, ThemeSpec]:
        """Every theme by name."""
        return dict(self._loaded.themes)

    @property
    def theme_name(self) -> str:
        """The theme in use."""
        return self.theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our own variables, so that a theme without them does not break the styles."""
        return variable_defaults()

    def get_default_screen(self) -> ChatScreen:
        """Return the chat screen."""
        return self.chat

    def on_mount(self) -> None:
        """Take the theme's class, and listen for the end."""
        self._show_plain()
        self._listen()

    def use_theme(self, name: str) -> None:
        """Show everything in the colours of this theme."""
        self.theme = name
        self._show_plain()
        if self.chat.view.has_transcript:
            self.chat.view.transcript.refresh_look()

    def _show_plain(self) -> None:
        spec = self._loaded.themes.get(self.theme)
        plain = bool(os.environ.get("NO_COLOR")) or (spec is not None and spec.ansi)
        self.set_class(plain, "plain")
        self.chat.set_class(plain, "plain")

    # --- the end ---

    def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None:
                with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.add_signal_handler(number, self._ended_from_outside, number)

    def _ended_from_outside(self, number: int) -> None:
        self.run_worker(self.leave(128 + number), exit_on_error=False)

    async def leave(self, code: int = 0) -> None:
        """Stop what runs, wait until it is on disk, and end the program with this exit code."""
        if not self._leaving:
            self._leaving = True
            await self.chat.close()
            self.exit(return_code=code)

    async def action_quit(self) -> None:
        """End the program (Textual's own name for it)."""
        await self.leave()

    def _handle_exception(self, error: Exception) -> None:
        # Textual would print the traceback with local variables: prompts, keys. We keep the exception; who started
        # us writes a report without them.
        known = error.error if isinstance(error, WorkerFailed) else error
        self.crash = self.crash or (known if isinstance(known, Exception) else error)
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()
