"""The signs the screen is drawn with, as one set of Unicode and one of ASCII; who uses which sign is left to the widgets.

Every Unicode sign is one cell wide and present in the common monospace fonts. Several are "ambiguous" in East
Asian terminals (drawn two cells wide there), which is what the ASCII set is for.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs. Each is exactly one cell wide, except the arrows of the ASCII set (`<-`, `->`)."""

    bar: str
    rule: str
    line: str
    branch: str
    dot: str
    bullet: str
    middle_dot: str
    diamond: str
    alarm: str
    pin: str
    times: str
    ellipsis: str
    previous: str
    next: str
    closed: str
    opened: str
    menu: str
    left: str
    right: str
    up: str
    down: str
    activity: tuple[str, ...]


UNICODE: Final = Glyphs(
    bar="▌",
    rule="─",
    line="│",
    branch="└",
    dot="●",
    bullet="•",
    middle_dot="·",
    diamond="◊",
    alarm="!",
    pin="*",
    times="×",  # noqa: RUF001 - the multiplication sign is meant
    ellipsis="…",
    previous="‹",  # noqa: RUF001 - the angle quotation mark is meant
    next="›",  # noqa: RUF001 - the angle quotation mark is meant
    closed="►",
    opened="▼",
    menu="≡",
    left="←",
    right="→",
    up="↑",
    down="↓",
    activity=("·", "•", "●", "•"),
)

ASCII: Final = Glyphs(
    bar="|",
    rule="-",
    line="|",
    branch="`",
    dot="@",
    bullet="*",
    middle_dot="-",
    diamond="=",
    alarm="!",
    pin="^",
    times="x",
    ellipsis="~",
    previous="<",
    next=">",
    closed="+",
    opened="-",
    menu="=",
    left="<-",
    right="->",
    up="^",
    down="v",
    activity=("-", "*", "@", "*"),
)
