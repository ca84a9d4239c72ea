"""Colour themes: reads them from TOML files, checks them and makes Textual's theme objects of them.

A theme is data: nineteen named roles (background, text, accent, ...). Which widget uses which role is the widgets'
business; which theme is chosen, and watching the user's directory, are the application's.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.theme import Theme

from shipchat.core.safe_text import safe_line

#: What a theme gives a colour to, in the order of the documentation.
ROLES: Final = (
    "background",  # transcript
    "surface",  # sidebar, compact header, queue
    "raised",  # user message, composer, toast, dialog
    "code",  # code blocks
    "selection",  # selected row, selected text, search hit
    "mark",  # idle bars, rules, scrollbar, the empty part of the meter
    "hairline",  # decoration only
    "strong",  # names, titles, headings, bold
    "text",  # body
    "muted",  # everything about the text, hints
    "accent",  # you, focus, active
    "link",  # links, and the names of functions in code
    "success",  # an undoable act succeeded, copied
    "warning",  # a turn runs elsewhere, near a limit
    "error",  # failed, damaged, not saved
    "syn-keyword",
    "syn-string",
    "syn-number",
    "syn-comment",
)

#: The theme used when no other is chosen, and the one a user's theme inherits when it names none.
DEFAULT_THEME: Final = "dark"
DEFAULT_LIGHT_THEME: Final = "light"

_HEX = re.compile(r"#[0-9A-Fa-f]{6}\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}\Z")
_ANSI_NAMES: Final = frozenset(
    {"default"}
    | {
        f"{bright}{name}"
        for bright in ("", "bright_")
        for name in ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
    }
)
# A theme is a page of text; anything larger was put there by mistake and is not read into memory.
_LARGEST_FILE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class ThemeSpec:
    """A theme as read from its file.

    `name` is the file's stem (what the settings and `App.theme` use), `title` what people see. `colors` maps every
    role of `ROLES` to `#RRGGBB` or, when `ansi`, to the name of one of the terminal's colours (`bright_red`,
    `default`). An `ansi` theme has no tones: screens then carry the class `plain`.
    """

    name: str
    title: str
    dark: bool
    ansi: bool
    colors: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ThemeProblem:
    """Why a theme file is not used, in one line fit for the screen; `path` is the file or directory."""

    path: Path
    reason: str

    @property
    def message(self) -> str:
        """The sentence to show."""
        return f"Theme {safe_line(self.path.name)} is not used: {self.reason}"


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """Every theme found, by name in the order of their titles, and every file that could not be used."""

    themes: Mapping[str, ThemeSpec]
    problems: tuple[ThemeProblem, ...]


def shipped_directory() -> Path:
    """Return where the shipped themes are: inside the package when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "themes"
    return packed if packed.is_dir() else package.parent / "themes"


def load_themes(user_directory: Path | None = None) -> LoadedThemes:
    """Read the shipped themes and then those in `user_directory`, where a file may replace a shipped one by name.

    A directory that does not exist counts as empty. Never raises: what can't be used is reported in `problems`.
    """
    found: dict[str, ThemeSpec] = {}
    problems: list[ThemeProblem] = []
    for directory in (shipped_directory(), user_directory):
        if directory is None:
            continue
        for path in _files(directory, problems):
            read = read_theme(path, base=found)
            if isinstance(read, ThemeProblem):
                problems.append(read)
            else:
                found[read.name] = read
    ordered = sorted(found.values(), key=lambda spec: (spec.title.casefold(), spec.name))
    return LoadedThemes({spec.name: spec for spec in ordered}, tuple(problems))


def _files(directory: Path, problems: list[ThemeProblem]) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ".toml")
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(ThemeProblem(directory, _os_reason(error)))
        return []


def read_theme(path: Path, *, base: Mapping[str, ThemeSpec]) -> ThemeSpec | ThemeProblem:
    """Read one theme file; `base` holds the themes that its `extends` may name."""
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        return ThemeProblem(path, _os_reason(error))
    if len(raw) > _LARGEST_FILE:
        return ThemeProblem(path, f"it is larger than {_LARGEST_FILE // 1024} kB")
    try:
        document = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return ThemeProblem(path, "it is not UTF-8 text")
    except tomllib.TOMLDecodeError as error:
        return ThemeProblem(path, safe_line(str(error)))
    except RecursionError:
        return ThemeProblem(path, "it is nested too deeply")
    spec = parse_theme(path.stem, document, base=base)
    return ThemeProblem(path, spec) if isinstance(spec, str) else spec


def parse_theme(
    name: str, document: Mapping[str, object], *, base: Mapping[str, ThemeSpec]
) -> ThemeSpec | str:
    """Check a decoded theme file and return its theme, or one sentence that says what is wrong.

    Known keys: `title` (text), `dark` and `ansi` (true or false), `extends` (a theme that fills in what is
    missing) and the table `[colors]`, one colour a role. Without `extends` every role must be there.
    """
    if _NAME.match(name) is None:
        return "its file name must be letters, digits, dots, dashes or underscores, at most 40"
    if unknown := set(document) - {"title", "dark", "ansi", "extends", "colors"}:
        return f"unknown key {_quoted(min(unknown))}"
    parent = None
    if (extends := document.get("extends")) is not None:
        parent = base.get(extends) if isinstance(extends, str) else None
        if parent is None:
            return f"extends names no theme: {_quoted(extends)}"
    title = document.get("title", name)
    if not isinstance(title, str) or not safe_line(title).strip():
        return "title must be a text"
    dark = document.get("dark", parent.dark if parent else True)
    ansi = document.get("ansi", parent.ansi if parent else False)
    if not isinstance(dark, bool) or not isinstance(ansi, bool):
        return "dark and ansi must be true or false"
    given = document.get("colors", {})
    if not isinstance(given, dict):
        return "colors must be a table, [colors]"
    colors = dict(parent.colors) if parent else {}
    for role, color in given.items():
        if role not in ROLES:
            return f"unknown colour {_quoted(role)}"
        colors[role] = color
    if missing := [role for role in ROLES if role not in colors]:
        return f'no colour for {missing[0]} (add it, or extends = "dark")'
    for role, color in colors.items():
        if not _is_color(color, ansi=ansi):
            wanted = "a terminal colour such as bright_red" if ansi else "#RRGGBB"
            return f"{role} must be {wanted}, not {_quoted(color)}"
    return ThemeSpec(name, safe_line(title).strip()[:60], dark, ansi, colors)


def _is_color(color: object, *, ansi: bool) -> bool:
    if not isinstance(color, str):
        return False
    return color in _ANSI_NAMES if ansi else _HEX.match(color) is not None


def _quoted(value: object) -> str:
    text = safe_line(str(value))
    return f"“{text[:40]}…”" if len(text) > 40 else f"“{text}”"


def _os_reason(error: OSError) -> str:
    return safe_line(error.strerror or str(error)).lower()


def textual_theme(spec: ThemeSpec) -> Theme:
    """Make the theme object that `App.register_theme` takes, with all of our variables and Textual's own."""
    prefix = "ansi_" if spec.ansi else ""
    color = {role: prefix + value for role, value in spec.colors.items()}
    return Theme(
        name=spec.name,
        primary=color["accent"],
        secondary=color["link"],
        accent=color["accent"],
        warning=color["warning"],
        error=color["error"],
        success=color["success"],
        foreground=color["text"],
        background=color["background"],
        surface=color["surface"],
        panel=color["raised"],
        boost=color["raised"],
        dark=spec.dark,
        ansi=spec.ansi,
        variables=_variables(color),
    )


def variable_defaults() -> dict[str, str]:
    """Return our own variables with their colours in the default theme.

    `App.get_theme_variable_defaults` must return these: a style sheet that names a variable which the active theme
    (one of Textual's own, say) does not have would not parse.
    """
    spec = read_theme(shipped_directory() / f"{DEFAULT_THEME}.toml", base={})
    if isinstance(spec, ThemeProblem):  # a broken installation; colours are no reason not to start
        return dict.fromkeys(_OWN_VARIABLES, "#808080")
    variables = _variables(dict(spec.colors))
    return {name: variables[name] for name in _OWN_VARIABLES}


#: The variables that only our style sheets use (`$raised`, `$syn-keyword`, ...).
_OWN_VARIABLES: Final = (
    "raised",
    "code",
    "selection",
    "mark",
    "hairline",
    "strong",
    "muted",
    "link",
    "syn-keyword",
    "syn-string",
    "syn-number",
    "syn-comment",
)


def _variables(color: Mapping[str, str]) -> dict[str, str]:
    own = {name: color[name] for name in _OWN_VARIABLES}
    textual = {
        "foreground": color["text"],
        "surface": color["surface"],
        "panel": color["raised"],
        "text": color["text"],
        "text-muted": color["muted"],
        "text-disabled": color["muted"],
        "border": color["mark"],
        "border-blurred": color["hairline"],
        "block-cursor-background": color["selection"],
        "block-cursor-foreground": color["strong"],
        "block-cursor-text-style": "bold",
        "input-cursor-background": color["accent"],
        "input-cursor-foreground": color["background"],
        "input-cursor-text-style": "none",
        "input-selection-background": color["selection"],
        "input-selection-foreground": color["strong"],
        "screen-selection-background": color["selection"],
        "screen-selection-foreground": color["strong"],
        "scrollbar": color["mark"],
        "scrollbar-hover": color["muted"],
        "scrollbar-active": color["accent"],
        "scrollbar-background": color["background"],
        "scrollbar-background-hover": color["background"],
        "scrollbar-background-active": color["background"],
        "scrollbar-corner-color": color["background"],
        # Textual's own rules for 16 colours name these two; a theme of terminal colours without them does not start.
        "ansi-background": color["background"],
        "ansi-foreground": color["text"],
        "link-color": color["link"],
        "link-background": "transparent",
        "link-color-hover": color["strong"],
        "link-background-hover": color["selection"],
        "link-style": "underline",
        "link-style-hover": "underline",
    }
    headings = {f"markdown-h{level}-color": color["strong"] for level in range(1, 7)}
    return own | textual | headings
