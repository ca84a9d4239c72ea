"""The palette: every action of the program, by name; running the chosen one is the caller's."""

from collections.abc import Sequence

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.widgets.choice_rows import Choice


class PaletteScreen(ChooseScreen):
    """Returns the id of an action, or None. Give each action its group (`session`, `screen`, ...) and its key."""

    def __init__(self, actions: Sequence[Choice], *, query: str = "", glyphs: Glyphs = UNICODE) -> None:
        super().__init__("Actions", actions, placeholder="what to do", query=query, glyphs=glyphs)
