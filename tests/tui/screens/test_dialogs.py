"""Dialogs find, ask and confirm, by keys and by mouse, and give up with Escape."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from shipchat.tui.glyphs import ASCII
from shipchat.tui.screens.ask import AskScreen
from shipchat.tui.screens.confirm import ConfirmScreen
from shipchat.tui.screens.help_keys import HelpKeysScreen, KeyHelp
from shipchat.tui.screens.key_entry import KeyEntryScreen, key_problem
from shipchat.tui.screens.model_picker import ModelPickerScreen, ModelRow
from shipchat.tui.screens.palette import PaletteScreen
from shipchat.tui.screens.panel import panel_head
from shipchat.tui.screens.theme_picker import ThemePickerScreen
from shipchat.tui.themes import load_themes
from shipchat.tui.widgets.choice_rows import Choice
from tests.tui.stage import Stage, press, screen_lines

ACTIONS = [
    Choice("fork", "Fork this session here", key="f", group="session"),
    Choice("export", "Export as Markdown", group="session"),
    Choice("theme", "Theme: forest dark", group="screen"),
    Choice("end", "Jump forward to the end", key="End", group="screen"),
]


def stage() -> Stage:
    return Stage(list)


async def show(pilot: Pilot[None], screen: Screen[Any]) -> list[object]:
    """Put a dialog on the screen; its result will be in the list that is returned."""
    results: list[object] = []
    await pilot.app.push_screen(screen, results.append)
    await press(pilot)
    return results


async def test_the_palette() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        results = await show(pilot, PaletteScreen(ACTIONS))
        await press(pilot, *"for")
        lines = [line.strip() for line in screen_lines(app) if line.strip()]
        assert lines == [
            "Actions                                                Esc",
            "for",
            "session",
            "▌Fork this session here                                   f",
            "screen",
            "Theme: forest dark",
            "Jump forward to the end                                End",
        ]
        await press(pilot, "down", "enter")
        assert results == ["theme"]


async def test_the_arrows_go_round_and_nothing_found_can_not_be_chosen() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        results = await show(pilot, PaletteScreen(ACTIONS, query="fork"))
        await press(pilot, "up", "up", "enter")
        assert results == ["fork"]
        results = await show(pilot, PaletteScreen(ACTIONS))
        await press(pilot, "x", "x", "enter")
        assert any("Nothing found" in line for line in screen_lines(app))
        await press(pilot, "escape")
        assert results == [None]


async def test_the_mouse_chooses_and_gives_up() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        results = await show(pilot, PaletteScreen(ACTIONS))
        await pilot.click("#choices", offset=(5, 2))
        await press(pilot)
        assert results == ["export"]
        results = await show(pilot, PaletteScreen(ACTIONS))
        await pilot.click(offset=(0, 0))
        await press(pilot)
        assert results == [None]


async def test_ten_thousand_choices_draw_what_is_in_view() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        choices = [Choice(f"s{n}", f"Session {n} [/b]", detail=f"{n} messages") for n in range(10_000)]
        results = await show(pilot, PaletteScreen(choices))
        assert len([line for line in screen_lines(app) if "[/b]" in line]) < 24
        await press(pilot, *"9876", "enter")
        assert results == ["s9876"]


async def test_the_theme_is_previewed_and_put_back() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        themes = load_themes().themes.values()
        results = await show(
            pilot, ThemePickerScreen(themes, "dark", lambda name: setattr(app, "theme", name))
        )
        await press(pilot, *"paper")
        assert app.theme == "paper"
        await press(pilot, "escape")
        assert (app.theme, results) == ("dark", [None])
        results = await show(
            pilot, ThemePickerScreen(themes, "dark", lambda name: setattr(app, "theme", name))
        )
        await press(pilot, "down", "enter")
        assert results == ["forest-dark"]


async def test_models_stand_under_their_providers() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        models = [
            ModelRow("local/smollm2", "smollm2", "local", 8_192, "free, private"),
            ModelRow("anthropic/x", "claude-x\x1b[2J", "anthropic", 200_000, current=True),
        ]
        results = await show(pilot, ModelPickerScreen(models))
        lines = [line.strip() for line in screen_lines(app) if line.strip()]
        assert lines[2:] == [
            "local",
            "smollm2       8k · free, private",
            "anthropic",
            "▌claude-x␛[2J  200k •",
        ]
        await press(pilot, "enter")
        assert results == ["anthropic/x"]


async def test_keys_are_listed_and_run_their_action() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        help_keys = [
            KeyHelp("^N", "New session", "everywhere", "new"),
            KeyHelp("↑", "Earlier prompt", "in the composer"),
        ]
        results = await show(pilot, HelpKeysScreen(help_keys))
        assert [line.strip() for line in screen_lines(app) if "^N" in line] == [f"▌New session{' ' * 45}^N"]
        await press(pilot, "enter")
        assert results == ["new"]


async def test_the_safe_answer_has_the_focus() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        answers = [("no", "Keep"), ("yes", "Delete for good")]
        results = await show(
            pilot, ConfirmScreen("Empty [/b]?", "3 sessions\n[/b] \x1b[2J", answers, safe="no")
        )
        text = "\n".join(screen_lines(app))
        assert "Empty [/b]?" in text
        assert "[/b] ␛[2J" in text
        await press(pilot, "enter")
        assert results == ["no"]
        results = await show(pilot, ConfirmScreen("Empty?", "3 sessions", answers, safe="no"))
        await press(pilot, "right", "enter")
        assert results == ["yes"]
        results = await show(pilot, ConfirmScreen("Empty?", "3 sessions", answers, safe="no"))
        await pilot.click("WordButton:last-of-type")
        await press(pilot)
        assert results == ["yes"]


async def test_asking_checks_and_keeps_the_text() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = AskScreen(
            "Tags",
            value="ops",
            note="separated by spaces",
            check=lambda text: None if "b" in text else "Needs a b.",
        )
        results = await show(pilot, dialog)
        await press(pilot, "enter")
        assert any("Needs a b." in line for line in screen_lines(app))
        await press(pilot, "space", "b", "enter")
        assert results == ["ops b"]


async def test_a_key_is_never_on_the_screen() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        results = await show(
            pilot, KeyEntryScreen("Anthropic", "ANTHROPIC_API_KEY", error="The key was refused.")
        )
        assert any("The key was refused." in line for line in screen_lines(app))
        await press(pilot, *"sk x", "enter")
        text = "\n".join(screen_lines(app))
        assert "A key has no spaces in it." in text
        assert "sk" not in text
        await press(pilot, "backspace", "backspace", *"-1", "enter")
        assert results == ["sk-1"]


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "Paste a key first."),
        ("a\tb", "A key has no spaces in it."),
        ("sk-é", "A key has only plain letters, digits and signs."),
        ("sk-1", None),
    ],
)
def test_keys_that_can_not_be_right(key: str, problem: str | None) -> None:
    assert key_problem(key) == problem


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (20, 6), (60, 16)])
@pytest.mark.parametrize("classes", ["", "plain ascii"])
async def test_dialogs_survive_any_size(size: tuple[int, int], classes: str) -> None:
    app = stage()
    app.add_class(*classes.split())
    async with app.run_test(size=size) as pilot:
        results = await show(pilot, PaletteScreen(ACTIONS, glyphs=ASCII))
        await press(pilot, "down", "enter")
        results += await show(pilot, ConfirmScreen("Empty?", "text", [("no", "Keep")], safe="no"))
        await press(pilot, "enter")
        results += await show(pilot, AskScreen("Tags"))
        await press(pilot, "a", "enter")
        assert results[0] == "export"


def test_a_long_title_leaves_room_for_escape() -> None:
    assert panel_head("A very long title indeed", 20).plain == " A very long…   Esc"
