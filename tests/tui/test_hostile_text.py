"""Nothing foreign reaches the terminal: a thousand hostile strings on every surface, streams cut anywhere, no bare markup."""

import ast
import random
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from textual.screen import Screen

import shipchat.tui
from shipchat.core.safe_text import safe_text
from shipchat.tui.screens.ask import AskScreen
from shipchat.tui.screens.confirm import ConfirmScreen
from shipchat.tui.screens.lines import LinesScreen
from shipchat.tui.screens.model_picker import ModelPickerScreen, ModelRow
from shipchat.tui.screens.palette import PaletteScreen
from shipchat.tui.widgets.choice_rows import Choice
from shipchat.tui.widgets.composer_state import Attachment, ComposerState
from shipchat.tui.widgets.first_run import Way
from shipchat.tui.widgets.header import HeaderState
from shipchat.tui.widgets.sidebar_row import RowMark, SidebarRow
from shipchat.tui.widgets.status_line import SaveState, StatusState
from shipchat.tui.widgets.toast import Toast, ToastKind
from shipchat.tui.widgets.transcript_item import FoldedDetails, ToolRow, TranscriptItem
from shipchat.tui.widgets.welcome import WelcomeState
from tests.tui.chat_app import Chat, running

# What real reports and the standards name: clipboard, titles, links, cursor, screen, reports, resets, devices, C1.
PIECES = (
    "\x1b]52;c;aGk=\x1b\\", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1b[10A", "\x1b[2J",
    "\x1b[6n", "\x1b]", "\x1bc", "\x1bPq\x1b\\", "\x9b2J", "\x9d0;t\x9c", "\x1b[38:2:1:2:3m", "\x1b[<0;1;1M", "\x1b_x\x1b\\",
    "\u202e", "\u2066", "\u2069", "\u200e", "\u061c", "\ufeff", "\U000e0041", "\u2028", "\x00", "\x07", "\x08", "\x0e",
    "\x7f", "\r", "\t", "\x85", "\ud800", "[/foo]", "[/", "[00] foo", "[TODO] plan", "[@click=app.exit()]x[/]", "[bold",
    "[link=http://x]", "$text", "{x}", "%s", "\\[", "**b**", "`c`", "<script>", "# h", "> q", "- l", "|a|b|\n|-|-|\n|1|2|",
    "```\ncode\n```", "![i](x)", "[l](javascript:x)", "日本", "👩‍👩‍👧", "✌️", "é" + "\u0301" * 40, "עברית 12/3",
    "plain words", "\n",
)  # fmt: skip
COUNT = 1000


def hostile_strings() -> list[str]:
    dice = random.Random(2026)
    made = [f"{piece}tail" for piece in PIECES]
    while len(made) < COUNT:
        made.append("".join(dice.choices(PIECES, k=dice.randint(1, 6))))
    return made


def foreign(character: str) -> bool:
    """Whether a terminal would do anything for it but show it."""
    code = ord(character)
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or code in (0x061C, 0xFEFF)
        or 0x200E <= code <= 0x200F
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x206F
        or 0xFFF9 <= code <= 0xFFFB
        or 0xE0000 <= code < 0xE0080
    )


def check_painted(screen: Screen[Any], width: int) -> str:
    """Check every painted segment of the screen and return its text."""
    lines: list[str] = []
    for strip in screen._compositor.render_strips():
        for text, style, control in strip:
            assert not control
            bad = sorted({f"U+{ord(one):04X}" for one in text if foreign(one)})
            assert not bad, (bad, text)
            assert (
                style is None
                or style.link is None
                or style.link.startswith(("http://", "https://", "mailto:"))
            )
        assert strip.cell_length == width, strip.text
        lines.append(strip.text)
    return "\n".join(lines)


def batches(strings: Sequence[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(strings), size):
        yield list(strings[start : start + size])


def dress(chat: Chat, strings: list[str]) -> None:
    """Put the strings on every surface of the chat screen."""
    from datetime import UTC, datetime

    view = chat.screen.view
    now = datetime.now(UTC)
    view.sidebar.set_rows(
        [SidebarRow(f"{n}{text}", text, now, (text,), None, RowMark.UNREAD) for n, text in enumerate(strings)]
    )
    items = [TranscriptItem(f"n{n}", text, kind="notice") for n, text in enumerate(strings[:3])]
    items += [TranscriptItem(f"d{n}", text, kind="divider") for n, text in enumerate(strings[:3])]
    for number, text in enumerate(strings):
        if number % 2:
            items.append(
                TranscriptItem(f"u{number}", text, role="user", position=number, attachments=(text,))
            )
            continue
        fold = FoldedDetails(text, 3, (ToolRow(text, text),))
        items.append(
            TranscriptItem(
                f"a{number}", text, position=number, model=text, status="failed", error_text=text, fold=fold
            )
        )
    view.welcome.display, view.transcript.display = False, True
    view.transcript.set_items(items)
    one = strings[0]
    view.header.state = HeaderState(one, (one,), messages=3, model=one)
    view.status.state = StatusState(save=SaveState.NOT_SAVED, failure=one, model=strings[-1], cost=one)
    view.composer.state = ComposerState(not_saved=one, attachments=(Attachment(one, one),))
    view.composer.queue = tuple(strings[:3])
    view.composer.load(one)
    view.toasts.clear()
    for text in strings[:2]:
        view.toasts.show(Toast(text, text, ToastKind.ERROR))


async def test_nothing_foreign_is_painted_on_the_chat_screen(tmp_path: Path) -> None:
    size = (120, 300)
    async with running(tmp_path, size=size) as chat:
        for strings in batches(hostile_strings(), 50):
            dress(chat, strings)
            await chat.pilot.pause()
            check_painted(chat.screen, size[0])


async def test_nothing_foreign_is_painted_where_there_is_nothing_yet(tmp_path: Path) -> None:
    size = (120, 40)
    async with running(tmp_path, size=size) as chat:
        view = chat.screen.view
        for text in hostile_strings()[: len(PIECES)]:
            view.asking_model = False
            view.show_messages()
            view.welcome.state = WelcomeState((text, text, "now"))
            await chat.pilot.pause()
            check_painted(chat.screen, size[0])
            view.asking_model = True
            view.first_run.offer((Way("x", "Local model", text, ask=text),), error=text)
            view.show_messages()
            await chat.pilot.pause()
            check_painted(chat.screen, size[0])
        view.asking_model = False


async def test_nothing_foreign_is_painted_in_dialogs(tmp_path: Path) -> None:
    size = (100, 60)
    async with running(tmp_path, size=size) as chat:
        for strings in batches(hostile_strings()[:150], 50):
            one = strings[0]
            rows = [Choice(f"{n}", text, text, text, text) for n, text in enumerate(strings)]
            models = [ModelRow(f"{n}", text, text, None, text) for n, text in enumerate(strings)]
            for dialog in (
                PaletteScreen(rows),
                ModelPickerScreen(models),
                AskScreen(one, value=one, note=one),
                ConfirmScreen(one, one, (("a", "A"),), safe="a"),
                LinesScreen(one, strings),
            ):
                await chat.app.push_screen(dialog)
                await chat.pilot.pause()
                check_painted(dialog, size[0])
                await chat.press("escape")


async def test_plain_words_are_unaltered_beside_the_foreign(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("[/b] [TODO] \x1b[2Jplan [@click=app.exit()]x[/]")
        await chat.shows("[/b] [TODO] ␛[2Jplan [@click=app.exit()]x[/]")
        title = "[/b] [TODO] \x1b]0;x\x07"
        key = chat.opened.key
        await chat.command(f"/rename {title}")
        await chat.until(lambda: chat.services.sessions.open(key).title)
        await chat.shows("[/b] [TODO]")
        await chat.command("/archive")
        await chat.until(lambda: chat.services.sessions.open(key).archived)
        await chat.command("/delete")
        await chat.shows("Moved to the trash", "[/b] [TODO]")


async def test_a_stream_cut_anywhere_paints_the_same(tmp_path: Path) -> None:
    size = (100, 200)
    strings = [f"a{piece}b" for piece in PIECES if "\ud800" not in piece]
    async with running(tmp_path, size=size) as chat:
        transcript = chat.screen.view.transcript
        chat.screen.view.welcome.display, transcript.display = False, True
        for text in strings:
            whole = safe_text(text)
            painted: set[str] = set()
            for cut in range(len(text) + 1):
                transcript.set_items([])
                transcript.begin_stream(TranscriptItem("r", position=1, status="streaming"))
                for part in (text[:cut], text[cut:]):
                    transcript.append_delta("r", part)
                    transcript.flush(now=True)
                transcript.end_stream(TranscriptItem("r", text, position=1))
                lines = [transcript.render_line(y) for y in range(12)]
                for strip in lines:
                    assert not any(foreign(one) for one in strip.text), strip.text
                painted.add("\n".join(strip.text for strip in lines))
            assert len(painted) == 1, (text, whole)


# --- what the source may not do ---------------------------------------------------------------------------------

ROOT = Path(shipchat.tui.__file__).parent
TEXT_WIDGETS = {"Static", "Label", "Button", "OptionList", "Collapsible", "Digits", "Link"}


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield path, node


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_text(node: ast.expr) -> bool:
    """Whether an expression is plainly a bare str."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_no_widget_takes_text_for_markup() -> None:
    found = [
        f"{path.name}:{call.lineno}"
        for path, call in calls()
        if name_of(call) in TEXT_WIDGETS
        and not any(
            one.arg == "markup" and isinstance(one.value, ast.Constant) and not one.value.value
            for one in call.keywords
        )
    ]
    assert not found


def test_every_own_text_widget_says_that_it_has_no_markup() -> None:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ClassDef):
                continue
            if not any(getattr(base, "id", "") in TEXT_WIDGETS for base in node.bases):
                continue
            text = ast.unparse(node)
            if "markup=False" not in text:
                found.append(f"{path.name}:{node.name}")
    assert not found


def test_nothing_uses_what_reads_markup() -> None:
    banned = {"notify", "from_markup", "render_markup"}
    found = [
        f"{path.name}:{call.lineno} {name_of(call)}" for path, call in calls() if name_of(call) in banned
    ]
    assert not found


def test_no_bare_string_is_put_into_a_widget() -> None:
    found = [
        f"{path.name}:{call.lineno}"
        for path, call in calls()
        if name_of(call) == "update"
        and isinstance(call.func, ast.Attribute)
        and call.args
        and is_text(call.args[0])
    ]
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    name = target.attr if isinstance(target, ast.Attribute) else ""
                    if name in ("tooltip", "border_title", "border_subtitle") and is_text(node.value):
                        found.append(f"{path.name}:{node.lineno}")
    assert not found
