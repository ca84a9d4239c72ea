"""The shipped themes are complete and readable, and no file of a user's can break the program."""

from pathlib import Path

import pytest
from textual.theme import Theme

from shipchat.tui.themes import (
    ROLES,
    ThemeProblem,
    ThemeSpec,
    load_themes,
    read_theme,
    shipped_directory,
    textual_theme,
    variable_defaults,
)
from tests.tui.stage import Stage

SHIPPED = load_themes().themes

# The default colours of xterm, which other terminals' are close to; `default` is the ground's opposite.
XTERM = {
    "black": "#000000",
    "red": "#CD0000",
    "green": "#00CD00",
    "yellow": "#CDCD00",
    "blue": "#0000EE",
    "magenta": "#CD00CD",
    "cyan": "#00CDCD",
    "white": "#E5E5E5",
    "bright_black": "#7F7F7F",
    "bright_red": "#FF0000",
    "bright_green": "#00FF00",
    "bright_yellow": "#FFFF00",
    "bright_blue": "#5C5CFF",
    "bright_magenta": "#FF00FF",
    "bright_cyan": "#00FFFF",
    "bright_white": "#FFFFFF",
}


def luminance(color: str) -> float:
    """WCAG 2.2's relative luminance."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_of_contrast_is_the_standards() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


def pairs(spec: ThemeSpec) -> list[tuple[str, str, float]]:
    """Every text and ground that meet on the screen, with the contrast they need."""
    grounds = ("background", "surface", "raised", "code", "selection")
    texts = ("strong", "text", "muted", "accent", "link", "success", "warning", "error")
    found = [(text, ground, 4.5) for text in texts for ground in grounds]
    found += [(text, "code", 4.5) for text in ROLES if text.startswith("syn-")]
    found += [("syn-string", ground, 4.5) for ground in ("background", "raised", "selection")]
    found += [("mark", ground, 3.0) for ground in ("background", "surface", "raised", "code")]
    found += [("background", "accent", 4.5)]
    if spec.ansi:  # there are no tones: what is selected is reversed
        found = [(text, ground, need) for text, ground, need in found if ground != "selection"]
    return found


def rgb(spec: ThemeSpec, role: str) -> str:
    color = spec.colors[role]
    if color != "default":
        return XTERM[color] if spec.ansi else color
    ground = role in {"background", "surface", "raised", "code"}
    return "#000000" if spec.dark is ground else "#FFFFFF"


@pytest.mark.parametrize("name", SHIPPED)
def test_every_text_can_be_read_on_every_ground_it_meets(name: str) -> None:
    spec = SHIPPED[name]
    poor = [
        (text, ground, round(contrast(rgb(spec, text), rgb(spec, ground)), 2))
        for text, ground, need in pairs(spec)
        if contrast(rgb(spec, text), rgb(spec, ground)) < need
    ]
    assert poor == []


@pytest.mark.parametrize("name", ["high-contrast", "high-contrast-light"])
def test_high_contrast_means_seven_to_one(name: str) -> None:
    spec = SHIPPED[name]
    assert [
        (text, ground)
        for text, ground, need in pairs(spec)
        if need == 4.5 and contrast(rgb(spec, text), rgb(spec, ground)) < 7
    ] == []


def test_the_default_themes_have_the_colours_they_were_designed_with() -> None:
    names = " ".join(ROLES)
    assert names == (
        "background surface raised code selection mark hairline strong text muted accent link success warning error"
        " syn-keyword syn-string syn-number syn-comment"
    )
    assert " ".join(SHIPPED["dark"].colors[role] for role in ROLES) == (
        "#11151A #0A0D11 #1D242D #171C23 #23303A #74808C #2A323C #F1F4F7 #D3D8DF #939DA9 #5CC8C0 #86B6F2 #7FC68C"
        " #E2B560 #F28B85 #BBA2F0 #9FCB88 #E3AC74 #8C96A2"
    )
    assert " ".join(SHIPPED["light"].colors[role] for role in ROLES) == (
        "#FBFAF7 #F1F0EA #E9E8E1 #F1F0EA #D6E5E1 #757B78 #DDDBD3 #0E1316 #22292E #565F66 #096863 #1C5BB0 #20693A"
        " #7D5200 #AB2D28 #6A3CB5 #2C651F #8B4500 #586169"
    )


def test_the_shipped_themes() -> None:
    loaded = load_themes()
    assert loaded.problems == ()
    assert set(loaded.themes) == {
        "ansi-16",
        "ansi-16-light",
        "dark",
        "forest-dark",
        "high-contrast",
        "high-contrast-light",
        "light",
        "midnight",
        "paper",
    }
    assert [spec.name for spec in loaded.themes.values() if not spec.dark] == [
        "high-contrast-light",
        "light",
        "paper",
        "ansi-16-light",
    ]


@pytest.mark.parametrize("name", SHIPPED)
async def test_every_theme_starts_and_can_be_switched_to(name: str) -> None:
    app = Stage(list, theme=name)
    async with app.run_test(size=(20, 5)) as pilot:
        app.theme = "dark"
        await pilot.pause()
        app.theme = name
        await pilot.pause()
        assert app.current_theme.name == name


async def test_our_variables_have_values_in_a_theme_that_is_not_ours() -> None:
    app = Stage(list)
    async with app.run_test(size=(20, 5)) as pilot:
        app.theme = "nord"
        await pilot.pause()
        assert app.theme_variables["raised"] == "#1D242D"


def test_textuals_theme_has_our_roles() -> None:
    theme = textual_theme(SHIPPED["light"])
    assert isinstance(theme, Theme)
    assert (theme.name, theme.dark, theme.primary, theme.panel) == ("light", False, "#096863", "#E9E8E1")
    assert theme.variables["muted"] == theme.variables["text-muted"] == "#565F66"
    assert theme.variables["selection"] == theme.variables["screen-selection-background"] == "#D6E5E1"
    assert textual_theme(SHIPPED["ansi-16"]).error == "ansi_bright_red"
    assert set(variable_defaults()) <= set(theme.variables)


def test_a_users_theme_may_change_a_few_colours_of_another(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'title = "Mine \\u001b[2J"\nextends = "light"\n[colors]\naccent = "#123456"\n', encoding="utf-8"
    )
    loaded = load_themes(tmp_path)
    assert loaded.problems == ()
    assert loaded.themes["mine"] == ThemeSpec(
        "mine", "Mine ␛[2J", False, False, {**SHIPPED["light"].colors, "accent": "#123456"}
    )


def test_a_users_theme_may_replace_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "dark.toml").write_text('extends = "dark"\n[colors]\ntext = "#FFFFFF"\n', encoding="utf-8")
    assert load_themes(tmp_path).themes["dark"].colors["text"] == "#FFFFFF"


ALL = "".join(f'{role} = "#123456"\n' for role in ROLES)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"", 'no colour for background (add it, or extends = "dark")'),
        (
            b"[colors]\n" + ALL.replace("#123456", "#12345", 1).encode(),
            "background must be #RRGGBB, not “#12345”",
        ),
        (b"[colors]\n" + ALL.replace('"#123456"', "7", 1).encode(), "background must be #RRGGBB, not “7”"),
        (
            b"ansi = true\n[colors]\n" + ALL.encode(),
            "background must be a terminal colour such as bright_red, not “#123456”",
        ),
        (b"[colors]\n" + ALL.encode() + b'glow = "#123456"\n', "unknown colour “glow”"),
        (b"colors = 7\n", "colors must be a table, [colors]"),
        (b'extends = "nowhere"\n', "extends names no theme: “nowhere”"),
        (b"dark = 1\n[colors]\n" + ALL.encode(), "dark and ansi must be true or false"),
        (b'title = ""\n[colors]\n' + ALL.encode(), "title must be a text"),
        (b"colours = {}\n", "unknown key “colours”"),
        (b"#" * 70_000, "it is larger than 64 kB"),
        (b'"\\u001b]0;t\\u0007" = 1\n', "unknown key “␛]0;t␇”"),
    ],
)
def test_a_bad_file_is_a_problem_with_a_reason_and_harms_no_other(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    (tmp_path / "good.toml").write_text("[colors]\n" + ALL, encoding="utf-8")
    loaded = load_themes(tmp_path)
    assert loaded.problems == (ThemeProblem(tmp_path / "bad.toml", reason),)
    assert loaded.problems[0].message == f"Theme bad.toml is not used: {reason}"
    assert "good" in loaded.themes
    assert "bad" not in loaded.themes


def test_what_toml_itself_complains_of_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("[colors\n", encoding="utf-8")
    problem = read_theme(path, base={})
    assert isinstance(problem, ThemeProblem)
    assert "line 1" in problem.reason


def test_a_name_that_could_not_be_typed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a\x1bb.toml").write_text("[colors]\n" + ALL, encoding="utf-8")
    (problem,) = load_themes(tmp_path).problems
    assert problem.message.startswith("Theme a␛b.toml is not used: its file name must be")


def test_a_directory_that_is_missing_or_no_directory(tmp_path: Path) -> None:
    assert load_themes(tmp_path / "none").problems == ()
    (tmp_path / "file").touch()
    (problem,) = load_themes(tmp_path / "file").problems
    assert problem.message == "Theme file is not used: not a directory"
    (tmp_path / "folder.toml").mkdir()
    (problem,) = load_themes(tmp_path).problems
    assert problem.message == "Theme folder.toml is not used: is a directory"


def test_in_a_checkout_the_themes_are_beside_the_package() -> None:
    assert shipped_directory() == Path(__file__).resolve().parents[2] / "themes"
