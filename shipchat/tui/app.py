"""The Textual application: themes, plain terminals, signals, and an end that leaks nothing; the screen does the rest."""

import asyncio
import contextlib
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import WorkerFailed

from shipchat.tui.glyphs import ASCII, UNICODE, Glyphs
from shipchat.tui.preferences import Preferences
from shipchat.tui.start import LaterServices, Start
from shipchat.tui.themes import (
    DEFAULT_LIGHT_THEME,
    DEFAULT_THEME,
    LoadedThemes,
    ThemeSpec,
    load_themes,
    textual_theme,
    variable_defaults,
)

if TYPE_CHECKING:
    from shipchat.commands.services import Services
    from shipchat.tui.screens.chat import ChatScreen
    from shipchat.tui.screens.opening import OpeningScreen

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
    """Shows one chat screen. After it ran, `crash` is the unexpected exception that ended it, if one did.

    With services that are still to be made, a composer stands alone on the screen until everything is loaded.
    """

    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = []
    TITLE = "shipchat"

    def __init__(
        self, services: "Services | LaterServices", start: Start, *, glyphs: Glyphs | None = None
    ) -> None:
        super().__init__()
        self.crash: Exception | None = None
        config = services.directories.config
        self.preferences = Preferences.of(services.settings, services.directories.config_file)
        self._loaded = load_themes(None if config is None else config / "themes")
        self._glyphs = glyphs or terminal_glyphs()
        self.set_class(self._glyphs is ASCII, "ascii")
        self._take_theme(wanted_theme(self.preferences.theme, self._loaded))
        self._start = start
        self._leaving = False
        self._services = services
        self._chat: ChatScreen | None = None
        self._opening: OpeningScreen | None = None
        if not isinstance(services, LaterServices):
            self._chat = self._make_chat(services)

    # --- the screens ---

    @property
    def chat(self) -> "ChatScreen":
        """The chat screen. Only once it is made."""
        assert self._chat is not None  # noqa: S101 -- made at once, except behind a first frame that knows of none
        return self._chat

    def get_default_screen(self) -> Screen[None]:
        """Return the chat screen, or what stands in its place until that is loaded."""
        if self._chat is not None:
            return self._chat
        from shipchat.tui.screens.opening import OpeningScreen

        self._opening = OpeningScreen(self._glyphs, self._load)
        return self._opening

    def _make_chat(self, services: "Services") -> "ChatScreen":
        from shipchat.tui.screens.chat import ChatScreen
        from shipchat.tui.widgets.toast import Toast, ToastKind

        chat = ChatScreen(services, self.preferences, self._start, self, self._glyphs)
        chat.notes = [
            Toast("A theme is not used", problem.message, ToastKind.WARNING)
            for problem in self._loaded.problems
        ]
        return chat

    async def _load(self) -> None:
        """Load everything, and put the chat screen where the opening one stands."""
        chat = self._make_chat(await asyncio.to_thread(self._made))
        if self._leaving:
            return
        self._chat = chat
        # Made behind the other screen: a new one on top would be blank, and deaf, for as long as that takes.
        _, mounted = self._get_screen(chat)
        await mounted
        self._show_plain()
        if self._opening is not None:
            self._opening.hand_over(self._change_over)

    def _made(self) -> "Services":
        import_module("shipchat.tui.screens.chat")
        assert isinstance(self._services, LaterServices)  # noqa: S101 -- only then there is an opening screen
        return self._services.make()

    def _change_over(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            # Textual can switch from a screen that was pushed; the first one was not, and lacks only this.
            opening._push_result_callback(opening, None)  # noqa: SLF001
            self.switch_screen(self.chat)
            self.chat.take_over(opening)

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

    def on_mount(self) -> None:
        """Take the theme's class, and listen for the end."""
        self._show_plain()
        self._listen()

    def use_theme(self, name: str) -> None:
        """Show everything in the colours of this theme."""
        self._take_theme(name)
        self._show_plain()
        if self.chat.view.has_transcript:
            self.chat.view.transcript.refresh_look()

    def _take_theme(self, name: str) -> None:
        self.register_theme(textual_theme(self._loaded.themes[name]))
        self.theme = name

    def _show_plain(self) -> None:
        spec = self._loaded.themes.get(self.theme)
        plain = bool(os.environ.get("NO_COLOR")) or (spec is not None and spec.ansi)
        self.set_class(plain, "plain")
        if self._chat is not None:
            self._chat.set_class(plain, "plain")

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
            if self._chat is not None:
                await self._chat.close()
            self.exit(return_code=code)

    async def close(self) -> None:
        """Stop what runs and what providers run; wherever the program was."""
        if self._chat is not None:
            try:
                await self._chat.close()
            finally:
                await self._chat.services.models.close()

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
