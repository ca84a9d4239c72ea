"""What every command begins with: the settings, what they warn of, and the services made from them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shipchat.cli.printing import note

if TYPE_CHECKING:
    from shipchat.bootstrap import Services
    from shipchat.config.paths import Directories
    from shipchat.config.settings import Settings


def open_settings(*, flags: Mapping[str, Any] | None = None) -> "tuple[Settings, Directories]":
    """Return the settings and where things are.

    `flags` maps dotted names of settings to values from the command line (None: not given). Unknown keys of the
    config file are named on standard error. Raises ConfigInvalid, StoreUnavailable.
    """
    from shipchat.config.paths import directories
    from shipchat.config.settings import load_settings

    where = directories()
    settings = load_settings(flags=flags, where=where)
    for warning in settings.warnings:
        note(f"shipchat: {warning}")
    return settings, where


def open_services(command: str, *, flags: Mapping[str, Any] | None = None) -> "Services":
    """Return the services for `command`, which is what others are told of who holds a session.

    The rest is as in `open_settings`.
    """
    from shipchat.bootstrap import services

    return services(f"shipchat {command}", *open_settings(flags=flags))
