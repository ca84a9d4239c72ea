"""The picker of themes: each is seen as soon as the cursor is on it; keeping one is the caller's."""

from collections.abc import Callable, Iterable

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.themes import ThemeSpec
from shipchat.tui.widgets.choice_rows import Choice


class ThemePickerScreen(ChooseScreen):
    """Returns the name of the theme chosen, or None after showing the current one again.

    `preview` is called with a theme's name to show it (usually it sets `App.theme`).
    """

    def __init__(
        self,
        themes: Iterable[ThemeSpec],
        current: str,
        preview: Callable[[str], None],
        *,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        choices = [
            Choice(
                id=spec.name,
                label=spec.title,
                group="16 colours" if spec.ansi else "dark" if spec.dark else "light",
                current=spec.name == current,
            )
            for spec in sorted(themes, key=lambda spec: (spec.ansi, not spec.dark))
        ]
        super().__init__("Theme", choices, placeholder="find a theme", highlighted=preview, glyphs=glyphs)
        self._current = current
        self._preview = preview

    def action_give_up(self) -> None:
        """Show the theme that was there before."""
        self._preview(self._current)
        super().action_give_up()
