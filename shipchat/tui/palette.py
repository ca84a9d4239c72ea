"""The colours of a theme by role, and the styles made of them; which role a thing has is left to the widgets."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from rich.style import Style
from textual.color import Color, ColorParseError

from shipchat.tui.glyphs import UNICODE, Glyphs

Role = Literal[
    "background", "mark", "strong", "text", "muted", "accent", "link", "success", "warning", "error",
    "keyword", "string", "number", "comment",
]  # fmt: skip
Ground = Literal["background", "surface", "raised", "code", "selection"]

# Field -> names of the theme variables to try, in this order, and the colour used when a theme has none of them.
_SOURCES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "background": (("background",), "#11151A"),
    "surface": (("surface",), "#0A0D11"),
    "raised": (("raised", "panel"), "#1D242D"),
    "code": (("code", "surface"), "#171C23"),
    "selection": (("selection", "block-cursor-background"), "#23303A"),
    "mark": (("mark", "border"), "#74808C"),
    "strong": (("strong", "foreground"), "#F1F4F7"),
    "text": (("text", "foreground"), "#D3D8DF"),
    "muted": (("muted", "text-muted", "foreground"), "#939DA9"),
    "accent": (("accent", "primary"), "#5CC8C0"),
    "link": (("link", "secondary"), "#86B6F2"),
    "success": (("success",), "#7FC68C"),
    "warning": (("warning",), "#E2B560"),
    "error": (("error",), "#F28B85"),
    "keyword": (("syn-keyword", "accent"), "#BBA2F0"),
    "string": (("syn-string", "success"), "#9FCB88"),
    "number": (("syn-number", "warning"), "#E3AC74"),
    "comment": (("syn-comment", "muted", "foreground"), "#8C96A2"),
}


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme, each a colour as CSS writes it (`#rrggbb` or `ansi_...`).

    `plain` means that tone is not available (16 colours, NO_COLOR): every ground is the background, and what is
    selected is reversed.
    """

    background: str
    surface: str
    raised: str
    code: str
    selection: str
    mark: str
    strong: str
    text: str
    muted: str
    accent: str
    link: str
    success: str
    warning: str
    error: str
    keyword: str
    string: str
    number: str
    comment: str
    plain: bool = False

    @classmethod
    def from_variables(cls, variables: Mapping[str, str], *, plain: bool = False) -> "Palette":
        """Return the palette of a theme's variables (as `App.theme_variables` gives them).

        A variable that is missing or is no plain colour (`auto 87%`) is skipped for the next best one.
        """
        found = {
            field: next((variables[name] for name in names if _is_colour(variables.get(name))), fallback)
            for field, (names, fallback) in _SOURCES.items()
        }
        return cls(**found, plain=plain)

    def style(self, role: Role = "text", ground: Ground = "background", **attributes: Any) -> Style:
        """Return the style of `role` on `ground`; `attributes` are Rich's (`bold=True`, `underline=True`, ...)."""
        reverse = self.plain and ground == "selection"
        background = self.background if self.plain else getattr(self, ground)
        if reverse:
            attributes["reverse"] = True
        return _style(getattr(self, role), background, tuple(sorted(attributes.items())))

    def ground(self, ground: Ground) -> Style:
        """Return what to lay over a style to put it on `ground` without changing its colour."""
        if self.plain:
            return Style(reverse=True) if ground == "selection" else Style.null()
        return _style(None, getattr(self, ground), ())


@dataclass(frozen=True, slots=True)
class Look:
    """Everything drawing depends on beside the text and the width: colours and signs."""

    palette: Palette
    glyphs: Glyphs = UNICODE


def _is_colour(value: str | None) -> bool:
    if value is None or value.startswith("auto"):
        return False
    try:
        return Color.parse(value).a == 1
    except ColorParseError:
        return False


@lru_cache(maxsize=1024)
def _style(color: str | None, background: str, attributes: tuple[tuple[str, Any], ...]) -> Style:
    return Style(
        color=None if color is None else Color.parse(color).rich_color,
        bgcolor=Color.parse(background).rich_color,
        **dict(attributes),
    )
