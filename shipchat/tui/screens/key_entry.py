"""The dialog for a provider's API key: masked, never shown, never logged; storing and trying it is the caller's."""

from shipchat.core.safe_text import safe_line
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.ask import AskScreen


def key_problem(key: str) -> str | None:
    """Return what is plainly wrong with a key, None if it may be right; the key itself is never in the sentence.

    >>> key_problem("sk-with space")
    'A key has no spaces in it.'
    """
    if not key:
        return "Paste a key first."
    if any(character.isspace() for character in key):
        return "A key has no spaces in it."
    if not key.isascii() or not key.isprintable():
        return "A key has only plain letters, digits and signs."
    return None


class KeyEntryScreen(AskScreen):
    """Returns the key, or None. `variable` is the environment variable that would do instead."""

    def __init__(
        self, provider: str, variable: str, *, error: str | None = None, glyphs: Glyphs = UNICODE
    ) -> None:
        super().__init__(
            f"{safe_line(provider)} key",
            placeholder="paste the key",
            note=f"It is kept on this machine only. Setting {safe_line(variable)} does as well.",
            check=key_problem,
            masked=True,
            glyphs=glyphs,
        )
        self._first_error = error

    def on_mount(self) -> None:
        """Say what the provider said about the last key."""
        super().on_mount()
        self.show_error(self._first_error)
