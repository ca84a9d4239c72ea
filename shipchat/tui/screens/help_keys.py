"""The list of keys; choosing one runs its action, which is the caller's to do."""

from collections.abc import Iterable
from dataclasses import dataclass

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.widgets.choice_rows import Choice


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """A key, what it does, where it works (`everywhere`, `in the composer`, ...), and the id of its action."""

    keys: str
    does: str
    where: str
    action: str = ""


class HelpKeysScreen(ChooseScreen):
    """Returns the action of the key chosen (empty if it has none of its own), or None."""

    def __init__(self, keys: Iterable[KeyHelp], *, glyphs: Glyphs = UNICODE) -> None:
        choices = [Choice(id=key.action, label=key.does, key=key.keys, group=key.where) for key in keys]
        super().__init__("Keys", choices, placeholder="find a key", glyphs=glyphs)
