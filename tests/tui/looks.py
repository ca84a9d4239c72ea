"""States of the assembled screen, the same each time, and what is painted in them: `python -m tests.tui.looks DIRECTORY`
writes each as SVG, to be looked at.
"""

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from unittest.mock import patch

from rich.style import Style

from shipchat.bootstrap import Services, services
from shipchat.config.paths import Directories
from shipchat.config.settings import Settings
from shipchat.core.errors import ProviderUnavailable
from shipchat.providers.registry import ProviderSettings, Registry
from shipchat.testing.scripted import Answer, Reply, ScriptedProvider
from shipchat.tui.screens import chat_following, chat_view
from shipchat.tui.start import Start
from shipchat.tui.themes import load_themes
from tests.picture import fill
from tests.tui.chat_app import Chat, running

ZONE = timezone(timedelta(hours=1), "CET")
NOW = datetime(2026, 11, 24, 15, 12, tzinfo=ZONE)

KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NO_COLOR", "COLORFGBG")

Prepare = Callable[[Chat], Awaitable[None]]


@dataclass(frozen=True)
class Look:
    """One state: what the model answers, which session is open, what is done before one looks."""

    prepare: Prepare
    answer: Callable[[], Answer] = lambda: "ok"  # made anew: an event belongs to one loop
    opened: bool = True
    has_model: bool = True


async def nothing(chat: Chat) -> None:
    """The state is there at once."""
    await chat.pilot.pause()


async def streaming(chat: Chat) -> None:
    await chat.send("Yes, and keep the public signature.")
    await chat.shows("Here is the patch", "writing")


async def queued(chat: Chat) -> None:
    await streaming(chat)
    await chat.send("Then add a test for a pool that is empty.")
    await chat.shows("queued 1")
    await chat.type("and a changelog")


async def failed(chat: Chat) -> None:
    await chat.send("Yes, and keep the public signature.")
    await chat.shows("! cut off")
    await chat.until(lambda: not chat.opened.turning)


async def not_saved(chat: Chat) -> None:
    chat.opened.not_saved = "NOT SAVED: No space left on device: /home/me/sessions"
    chat.screen.view.show_state()
    await chat.type("Yes, write it.")
    await chat.shows("NOT SAVED")


async def palette(chat: Chat) -> None:
    await chat.press("ctrl+p", *"fork")
    await chat.until(lambda: len(chat.app.screen_stack) > 1)


async def drawer(chat: Chat) -> None:
    await chat.press("ctrl+b")
    await chat.shows("Sessions")


async def toast(chat: Chat) -> None:
    await chat.command("/archive")
    await chat.until(lambda: chat.toasts, "a toast")


async def focused(chat: Chat) -> None:
    await chat.press("ctrl+up")
    await chat.until(lambda: chat.screen.view.transcript.has_focus)


async def first_run(chat: Chat) -> None:
    await chat.shows("Welcome to shipchat.", "Other server")


async def key_entry(chat: Chat) -> None:
    await first_run(chat)
    await chat.press("2", *"sk0123456789")
    chat.screen.view.first_run.fail("anthropic refused the key")
    await chat.pilot.pause()


_PATCH = (
    "Here is the patch, with one connection for the whole batch:\n\n```python\nwith pool.connect() as conn:\n"
)
LOOKS = {
    "chat": Look(nothing),
    "focused": Look(focused),
    "empty": Look(nothing, opened=False),
    "streaming": Look(streaming, lambda: Reply((_PATCH, asyncio.Event()))),
    "queued": Look(queued, lambda: Reply((_PATCH, asyncio.Event()))),
    "error": Look(failed, lambda: Reply((_PATCH, ProviderUnavailable("anthropic.com does not answer")))),
    "nosave": Look(not_saved),
    "palette": Look(palette),
    "drawer": Look(drawer),
    "toast": Look(toast),
    "first": Look(first_run, opened=False, has_model=False),
    "key": Look(key_entry, opened=False, has_model=False),
}


def _services(place: Path, look: Look) -> tuple[Services, ScriptedProvider]:
    where = Directories(place / "data", place / "cache", place / "config")
    made = services("shipchat test", Settings(motion=False, discover=False), where)
    provider = ScriptedProvider([look.answer()], repeat_last=True)
    provider.window = 8_192
    extra = {"local": lambda: provider} if look.has_model else {}
    made.models._registry = Registry(ProviderSettings(models_directory=where.models, extra=extra))
    return made, provider


@contextlib.contextmanager
def fixed_time() -> Iterator[None]:
    """Let it be the same moment for everything that is shown."""
    with (
        patch.object(chat_view, "local_now", lambda: NOW),
        patch.object(chat_following, "local_now", lambda: NOW),
    ):
        yield


@contextlib.asynccontextmanager
async def shown(place: Path, name: str, size: tuple[int, int], theme: str) -> AsyncIterator[Chat]:
    """Run the screen in a state."""
    look = LOOKS[name]
    made = _services(place, look)
    if look.has_model:
        fill(made[0], NOW)
    start = Start("nightly-export" if look.opened else None)
    with fixed_time(), patch("shipchat.tui.screens.chat_models.is_fetched", lambda *_: look.has_model):
        async with running(place, made=made, start=start, size=size) as chat:
            chat.app.use_theme(theme)
            if look.has_model:
                await chat.until(lambda: chat.screen.view.sidebar.rows and chat.opened.info is not None)
            await chat.until(lambda: chat.screen.view.has_transcript)
            chat.screen.following.end()
            chat.opened.chat._clock = lambda: NOW.astimezone(UTC)
            await look.prepare(chat)
            await chat.pilot.pause()
            yield chat
            chat.opened.not_saved = None


@dataclass(frozen=True)
class Painted:
    """A cell as painted: hex colours of the sign and of its ground."""

    text: str
    fore: str
    back: str
    attributes: str = ""


def painted(chat: Chat) -> list[list[Painted]]:
    """Return every cell of the screen, row by row; the second cell of a wide character has no text."""
    rows: list[list[Painted]] = []
    for strip in chat.app.screen._compositor.render_strips():
        row: list[Painted] = []
        for segment in strip:
            style = segment.style or Style()
            row.extend(_cell(letter, style) for letter in segment.text)
        rows.append(row)
    return rows


def _cell(letter: str, style: Style) -> Painted:
    fore = "" if style.color is None else _hex(style.color.get_truecolor().hex)
    back = "" if style.bgcolor is None else _hex(style.bgcolor.get_truecolor(foreground=False).hex)
    if style.reverse:
        fore, back = back, fore
    named = (("b", style.bold), ("i", style.italic), ("u", style.underline), ("d", style.dim))
    return Painted(letter, fore, back, "".join(sign for sign, on in named if on))


def _hex(color: str) -> str:
    return color.upper()


def dump(chat: Chat, theme: str) -> str:
    """Return the screen as text: each row, and below it one letter a cell for its colours, explained at the end."""
    roles: dict[str, str] = {}
    for role, color in load_themes().themes[theme].colors.items():
        roles.setdefault(color.upper(), role)
    letters: dict[tuple[str, str, str], str] = {}
    lines: list[str] = []
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    for row in painted(chat):
        lines.append("".join(cell.text for cell in row).rstrip())
        marks = ""
        for cell in row:
            # A blank cell has no colour but its ground's.
            look = ("", cell.back, "") if cell.text == " " else (cell.fore, cell.back, cell.attributes)
            if look not in letters:
                letters[look] = alphabet[len(letters)]
            marks += letters[look]
        lines.append(marks)
    for (fore, back, attributes), letter in letters.items():
        named = f"{roles.get(fore, fore) or 'blank'} on {roles.get(back, back)} {attributes}".rstrip()
        lines.append(f"{letter} = {named}")
    # A slow machine may need another second.
    return re.sub(r"(?<=[·●] )\d(?= s)", "0", "\n".join(lines)) + "\n"


async def _write_all(directory: Path, names: list[str]) -> None:
    os.makedirs(directory, exist_ok=True)
    for name in names or list(LOOKS):
        for theme, size in (
            ("dark", (120, 36)),
            ("light", (120, 36)),
            ("dark", (60, 16)),
            ("light", (80, 24)),
        ):
            with tempfile.TemporaryDirectory() as place:
                async with shown(Path(place), name, size, theme) as chat:
                    svg = chat.app.export_screenshot(title="shipchat")
                    svg = svg.replace("<text ", '<text xml:space="preserve" ')  # some viewers drop blanks
                    path = directory / f"{name}-{theme}-{size[0]}x{size[1]}.svg"
                    path.write_text(svg, encoding="utf-8")
                    print(path)


if __name__ == "__main__":
    for variable in KEY_VARIABLES:
        os.environ.pop(variable, None)
    asyncio.run(_write_all(Path(sys.argv[1]), sys.argv[2:]))
