"""The inline front end's colours: the terminal's own sixteen, so that they follow its theme, and none with NO_COLOR."""

from typing import Final

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

STYLE: Final = Style.from_dict(
    {
        "title": "bold underline",
        "strong": "bold",
        "emphasis": "italic",
        "struck": "strike",
        "code": "ansicyan",
        "link": "underline",
        "muted": "dim",
        "you": "bold ansiblue",
        "accent": "ansiblue",
        "bar": "dim",
        "warning": "ansiyellow",
        "error": "ansired",
        "error.strong": "bold ansired",
        "code.block": "",
        "code.comment": "dim italic",
        "code.string": "ansigreen",
        "code.number": "ansicyan",
        "code.keyword": "ansimagenta",
        "code.name": "ansiblue",
        "placeholder": "dim",
        "control-character": "",
        # prompt_toolkit's own: its defaults paint grey boxes.
        "completion-menu": "bg:default",
        "completion-menu.completion": "bg:default",
        "completion-menu.completion.current": "bg:default noreverse bold ansiblue",
        "completion-menu.meta.completion": "bg:default dim",
        "completion-menu.meta.completion.current": "bg:default dim",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:default",
        "search-toolbar": "dim",
    }
)


def colour_depth() -> ColorDepth:
    """Return how many colours to use: what NO_COLOR and PROMPT_TOOLKIT_COLOR_DEPTH say, else sixteen."""
    return ColorDepth.from_env() or ColorDepth.DEPTH_4_BIT
