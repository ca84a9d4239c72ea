"""A bare application to put widgets on: our themes, a size, and nothing else."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from shipchat.tui.messages import OwnMessage
from shipchat.tui.themes import load_themes, textual_theme, variable_defaults


class Stage(App[None]):
    """Shows what `build` makes and keeps every message of ours that reaches the top in `heard`."""

    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(
        self, build: Callable[[], Iterable[Widget]], *, css: str = "", theme: str = "dark", classes: str = ""
    ) -> None:
        self._build = build
        super().__init__()
        self.heard: list[OwnMessage] = []
        if css:
            self.stylesheet.add_source(css, read_from=("stage", "css"))
        for spec in load_themes().themes.values():
            self.register_theme(textual_theme(spec))
        self.theme = theme
        if classes:
            self.add_class(*classes.split())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults()

    def compose(self) -> ComposeResult:
        yield from self._build()

    async def _dispatch_message(self, message: Message) -> None:
        if isinstance(message, OwnMessage):
            self.heard.append(message)
        await super()._dispatch_message(message)

    def of(self, kind: type[OwnMessage]) -> list[OwnMessage]:
        """Messages of one kind, in the order they came."""
        return [message for message in self.heard if isinstance(message, kind)]


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys once what was asked for before is done, and wait until all they led to is done too.

    A message that leads to another takes as many rounds as it has hops: widget, parent, screen, application.
    """
    await pilot.pause()
    await pilot.press(*keys)
    for _ in range(3):
        await pilot.pause()


def screen_lines(app: App[None]) -> list[str]:
    """The rows of the screen as text, without the blanks at their ends."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]
