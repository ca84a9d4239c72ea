"""The whole screen on real files with a scripted model, driven by a pilot."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from shipchat.bootstrap import Services, services
from shipchat.config.paths import Directories
from shipchat.config.settings import Settings
from shipchat.providers.registry import ProviderSettings, Registry
from shipchat.testing.scripted import Answer, ScriptedProvider
from shipchat.tui.app import ChatApp
from shipchat.tui.glyphs import UNICODE
from shipchat.tui.open_session import OpenSession
from shipchat.tui.screens.chat import ChatScreen
from shipchat.tui.start import Start

DEADLINE = 20.0
"""Seconds that anything may take on a busy machine."""


def make_services(
    place: Path, answers: Sequence[Answer] = (), **settings: object
) -> tuple[Services, ScriptedProvider]:
    """Return what `shipchat` is made of, in directories below `place`, with a model that answers from a script."""
    where = Directories(place / "data", place / "cache", place / "config")
    provider = ScriptedProvider(answers or ["ok"], repeat_last=True)
    made = services("shipchat test", Settings(**{"default_model": "scripted/one", **settings}), where)  # type: ignore[arg-type]  # checked by the dataclass
    made.models._registry = Registry(
        ProviderSettings(models_directory=where.models, extra={"scripted": lambda: provider})
    )
    return made, provider


@dataclass
class Chat:
    """The running screen and ways to drive it."""

    app: ChatApp
    pilot: Pilot[None]
    services: Services
    provider: ScriptedProvider

    @property
    def screen(self) -> ChatScreen:
        return self.app.chat

    @property
    def opened(self) -> OpenSession:
        return self.app.chat.window.opened

    @property
    def lines(self) -> list[str]:
        """The rows of the screen as text."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def toasts(self) -> list[str]:
        return [toast.title for toast in self.screen.view.toasts.toasts]

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Wait until `condition` holds."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"did not happen: {what or condition}\n{self.text}")
            await asyncio.sleep(0.005)
            await self.pilot.pause()

    async def shows(self, *texts: str) -> None:
        """Wait until all these texts are on the screen."""
        await self.until(lambda: all(text in self.text for text in texts), f"shows {texts}")

    async def gone(self, text: str) -> None:
        """Wait until this text is on the screen no more."""
        await self.until(lambda: text not in self.text, f"gone {text}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type a text into the composer, as a paste: quicker, and the same to it."""
        self.screen.view.composer.focus_input()
        self.screen.view.composer.insert(text)
        await self.pilot.pause()

    async def send(self, text: str) -> None:
        """Type and send."""
        await self.type(text)
        await self.press("enter")

    async def say(self, text: str) -> None:
        """Send a prompt and wait for the end of its turn."""
        path = len(self.opened.session.path)
        await self.send(text)
        await self.until(
            lambda: not self.opened.turning and len(self.opened.session.path) >= path + 2,
            f"a reply to {text}",
        )

    async def command(self, text: str) -> None:
        """Run a slash command."""
        await self.type(text)
        if self.screen.view.composer._completion.opened:
            await self.press("escape")
        await self.press("enter")
        await self.pilot.pause()


@contextlib.asynccontextmanager
async def running(
    place: Path,
    answers: Sequence[Answer] = (),
    *,
    start: Start | None = None,
    size: tuple[int, int] = (120, 36),
    made: tuple[Services, ScriptedProvider] | None = None,
    **settings: object,
) -> AsyncIterator[Chat]:
    """Run the screen; whatever it does unexpectedly fails the test."""
    built, provider = made or make_services(place, answers, **settings)
    app = ChatApp(built, start or Start(), glyphs=UNICODE)
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield Chat(app, pilot, built, provider)
            await app.chat.close()
    finally:
        await app.chat.close()
        await built.models.close()
    if app.crash is not None:
        raise app.crash
