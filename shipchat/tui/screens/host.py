"""What the chat screen needs of the application around it: themes and leaving."""

from collections.abc import Mapping
from typing import Protocol

from shipchat.tui.themes import ThemeSpec


class Host(Protocol):
    """The application, as far as the screen knows it."""

    @property
    def themes_found(self) -> Mapping[str, ThemeSpec]:
        """Every theme by name."""
        ...

    @property
    def theme_name(self) -> str:
        """The theme in use."""
        ...

    def use_theme(self, name: str) -> None:
        """Show everything in the colours of this theme."""
        ...

    async def leave(self, code: int = 0) -> None:
        """Stop what runs, wait until it is on disk, and end the program."""
        ...
