"""Which directories are used, and whether they can be trusted; making files in them is left to their owners."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shipchat.core.errors import StoreUnavailable

APP: Final = "shipchat"
DATA_VARIABLE: Final = "SHIPCHAT_DATA_DIR"
CONFIG_VARIABLE: Final = "SHIPCHAT_CONFIG_DIR"


@dataclass(frozen=True, slots=True)
class Directories:
    """Absolute paths; none of them need exist yet. `config` is None where no home directory can be made out.

    `data_origin` and `config_origin` say what decided (an environment variable, or the platform). `notes` are
    sentences the user should see, such as sessions that were left behind in another place.
    """

    data: Path
    cache: Path
    config: Path | None
    data_origin: str = "default"
    config_origin: str = "default"
    notes: tuple[str, ...] = field(default=())

    @property
    def sessions(self) -> Path:
        """Where session files are."""
        return self.data / "sessions"

    @property
    def blobs(self) -> Path:
        """Where attachments are."""
        return self.data / "blobs"

    @property
    def models(self) -> Path:
        """Where the weights of local models are."""
        return self.data / "models"

    @property
    def reports(self) -> Path:
        """Where reports of unexpected errors go."""
        return self.data / "reports"

    @property
    def config_file(self) -> Path | None:
        """The file with the user's settings; it may be missing."""
        return None if self.config is None else self.config / "config.toml"


def directories() -> Directories:
    """Return the directories to use. Makes none.

    `SHIPCHAT_DATA_DIR` decides about data and, below it, cache (a cache describes the sessions of one data
    directory). Without it the platform decides (XDG on Linux). Raises StoreUnavailable for a data directory that is
    not absolute, not a directory, someone else's, or the root's because HOME is `/`.
    """
    chosen = os.environ.get(DATA_VARIABLE, "")
    if chosen:
        data = _checked(chosen, DATA_VARIABLE)
        config, config_origin = _config()
        return Directories(data, data / "cache", config, DATA_VARIABLE, config_origin)
    from platformdirs import user_cache_path, user_data_path

    origin = _xdg("XDG_DATA_HOME")
    if origin == "default":
        _check_home()
    data = _checked(str(user_data_path(APP, appauthor=False)), origin)
    cache = user_cache_path(APP, appauthor=False)
    if not cache.is_absolute() or _is_root(cache):
        cache = data / "cache"
    config, config_origin = _config()
    return Directories(data, cache, config, origin, config_origin, _left_behind(data, origin))


def _config() -> tuple[Path | None, str]:
    chosen = os.environ.get(CONFIG_VARIABLE, "")
    if chosen:
        return _checked(chosen, CONFIG_VARIABLE), CONFIG_VARIABLE
    from platformdirs import user_config_path

    origin = _xdg("XDG_CONFIG_HOME")
    path = user_config_path(APP, appauthor=False)
    if not path.is_absolute() or (origin == "default" and _is_root(path)):
        return None, "no home directory"
    return path, origin


def _xdg(variable: str) -> str:
    # A relative path in one of these counts as unset, says the XDG specification; platformdirs sees it the same way.
    return variable if os.path.isabs(os.environ.get(variable, "").strip()) else "default"


def _check_home() -> None:
    home = os.path.expanduser("~")
    if os.path.isabs(home) and home.rstrip("/") != "":
        return
    given = os.environ.get("HOME")
    if given is None:
        reason = "HOME is not set and the user database knows no home directory"
    else:
        reason = f"HOME is {given!r}, which is no home directory"
    raise StoreUnavailable(
        f"there is no place to keep sessions: {reason}",
        advice=(f"Set HOME, or {DATA_VARIABLE} to an absolute path of a directory of yours.",),
        details={"reason": reason},
    )


def _is_root(path: Path) -> bool:
    # HOME=/ puts everything directly below the root (/.config/shipchat): litter, not a home.
    return os.name == "posix" and os.path.expanduser("~").rstrip("/") == "" and len(path.parts) <= 4


def _checked(path: str, origin: str) -> Path:
    reason = _why_unusable(path)
    if reason is None:
        return Path(os.path.normpath(path))
    source = "" if origin == "default" else f" (from {origin})"
    raise StoreUnavailable(
        f"the directory {path}{source} can't be used: {reason}",
        advice=(f"Set {DATA_VARIABLE} to an absolute path of a directory of yours.",),
        details={"path": path, "origin": origin, "reason": reason},
    )


def _why_unusable(path: str) -> str | None:
    if not os.path.isabs(path):
        return "it is not an absolute path"
    if "\0" in path:
        return "it holds a NUL character"
    try:
        info = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None  # whoever makes it meets the file system's own words
    except OSError as error:
        return (error.strerror or "it can't be looked at").lower()
    if not os.path.isdir(path):
        return "it is not a directory"
    if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
        return f"it belongs to another user (uid {info.st_uid}, you are {os.geteuid()})"
    return None


def _left_behind(data: Path, origin: str) -> tuple[str, ...]:
    # Whoever sets XDG_DATA_HOME later would otherwise believe that every earlier session is lost.
    if origin != "XDG_DATA_HOME":
        return ()
    old = Path(os.path.expanduser("~")) / ".local" / "share" / APP
    if not old.is_absolute() or old == data:
        return ()
    try:
        with os.scandir(old / "sessions") as found:
            count = sum(1 for entry in found if entry.name.endswith(".json"))
    except OSError:
        return ()
    if count == 0 or (data.exists() and os.path.samefile(old, data)):
        return ()
    sessions = "1 session is" if count == 1 else f"{count:,} sessions are"
    return (f"{data} is used because XDG_DATA_HOME is set; {sessions} in {old} ({DATA_VARIABLE}={old})",)
