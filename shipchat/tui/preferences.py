"""The settings that the screen itself can change, as they are now; each is written to the config file when changed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shipchat.config.edit import set_setting
from shipchat.config.settings import Settings
from shipchat.core.errors import ConfigInvalid


@dataclass(slots=True)
class Preferences:
    """`theme` of None: by the terminal's background. `edit`: what editing an earlier prompt makes."""

    theme: str | None
    edit: Literal["sibling", "fork"]
    motion: bool
    file: Path | None

    @classmethod
    def of(cls, settings: Settings, file: Path | None) -> "Preferences":
        """Return the preferences as the settings have them."""
        return cls(settings.theme, settings.edit, settings.motion, file)

    def keep(self, name: Literal["theme", "edit", "default_model"], value: str) -> None:
        """Write one of them to the config file. Blocking. Raises ConfigInvalid, StoreUnavailable."""
        if self.file is None:
            raise ConfigInvalid("there is no place for a config file: no home directory was made out")
        set_setting(self.file, name, value)
