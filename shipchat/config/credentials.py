"""Keys of providers: found in the environment, the system keyring or a private file; set, listed masked, removed.

A key is never an argument of a command, and nothing in here puts one into a message or a repr.
"""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from shipchat.core.errors import ConfigInvalid, StoreUnavailable, UsageError

FILE_NAME: Final = "keys.toml"
SERVICE: Final = "shipchat"
"""The name that keys have in the system keyring; the account is the provider's name."""

_SHOWN: Final = 4  # characters of a long key's end that a list shows, so that two keys can be told apart
_LONG: Final = 20


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key and where it came from: `variable NAME`, `keyring` or the path of the file."""

    key: str = field(repr=False)
    origin: str

    @property
    def masked(self) -> str:
        """The key with all but its last characters hidden."""
        return "…" + (self.key[-_SHOWN:] if len(self.key) >= _LONG else "")


class Credentials:
    """The keys of one user. `directory` is where the file is (None: there is no home, so no file)."""

    def __init__(self, directory: Path | None, environment: Mapping[str, str] | None = None) -> None:
        self._directory = directory
        self._environment = os.environ if environment is None else environment

    @property
    def path(self) -> Path | None:
        """The file; it may be missing."""
        return None if self._directory is None else self._directory / FILE_NAME

    def find(self, provider: str, variable: str | None) -> FoundKey | None:
        """Return the key of `provider`: from its variable, else the keyring, else the file. Blocks.

        Raises ConfigInvalid when the file can't be read.
        """
        value = self._environment.get(variable, "").strip() if variable else ""
        if value:
            return FoundKey(value, f"variable {variable}")
        value = _keyring_get(provider) or ""
        if value:
            return FoundKey(value, "keyring")
        value = self._read().get(provider, "")
        return FoundKey(value, str(self.path)) if value else None

    def names(self) -> list[str]:
        """Return the providers that the file has keys of. Raises ConfigInvalid."""
        return sorted(self._read())

    def keep(self, provider: str, key: str, *, in_keyring: bool = False) -> str:
        """Keep `key` in the file (0600), or in the keyring, and return where it is.

        Raises UsageError for what can't be a key, StoreUnavailable when it can't be written.
        """
        key = key.strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError(
                "that is no API key: a key is one word of plain characters", advice=("Nothing was changed.",)
            )
        if in_keyring:
            _keyring_set(provider, key)
            return "the system keyring"
        self._write({**self._read(), provider: key})
        return str(self.path)

    def remove(self, provider: str) -> list[str]:
        """Remove the key of `provider` from the file and the keyring; return from where. Raises as `keep`."""
        removed = []
        if _keyring_remove(provider):
            removed.append("the system keyring")
        kept = self._read()
        if provider in kept:
            del kept[provider]
            self._write(kept)
            removed.append(str(self.path))
        return removed

    def _read(self) -> dict[str, str]:
        path = self.path
        if path is None:
            return {}
        import tomllib

        try:
            with path.open("rb") as file:
                if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                    with contextlib.suppress(OSError):
                        os.fchmod(file.fileno(), 0o600)  # someone may have copied it there
                document = tomllib.load(file)
        except FileNotFoundError:
            return {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            # Without the parser's words: they may quote the line, and the line is a key.
            raise _invalid(path, "it is no valid TOML") from None
        except OSError as error:
            raise _invalid(path, (error.strerror or "it can't be read").lower()) from None
        if not all(isinstance(value, str) for value in document.values()):
            raise _invalid(path, 'every line must be PROVIDER = "KEY"')
        return document

    def _write(self, keys: Mapping[str, str]) -> None:
        path = self.path
        if path is None or self._directory is None:
            raise StoreUnavailable(
                "there is no place to keep keys: no home directory is known",
                advice=("Set SHIPCHAT_CONFIG_DIR to an absolute path, or use the environment variable.",),
            )
        text = "# Keys of providers. shipchat keys set PROVIDER writes this file.\n"
        text += "".join(f"{_quoted(name)} = {_quoted(key)}\n" for name, key in sorted(keys.items()))
        made: str | None = None
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = Path(os.path.realpath(path))  # the user's link stays a link
            descriptor, made = tempfile.mkstemp(dir=target.parent, prefix=f".{FILE_NAME}.")  # 0600
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(made, target)
        except OSError as error:
            if made is not None:
                with contextlib.suppress(OSError):
                    os.unlink(made)
            raise StoreUnavailable(
                f"{path} can't be written: {(error.strerror or 'unknown reason').lower()}"
            ) from None


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _invalid(path: Path, reason: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"{path}: {reason}",
        advice=("Mend it, or remove it and set the keys again: shipchat keys set PROVIDER",),
        details={"source": str(path), "reason": reason},
    )


def has_keyring() -> bool:
    """Say whether the optional keyring library is installed; imports nothing."""
    return find_spec("keyring") is not None


def _keyring() -> Any:
    import keyring

    return keyring


def _keyring_get(provider: str) -> str | None:
    if not has_keyring():
        return None
    # Whatever a backend raises (none there, locked, a broken plug-in): the other places are still worth a look.
    with contextlib.suppress(Exception):
        value = _keyring().get_password(SERVICE, provider)
        return value if isinstance(value, str) else None
    return None


def _keyring_set(provider: str, key: str) -> None:
    if not has_keyring():
        raise UsageError(
            "the keyring library is not installed",
            advice=("Install it: pip install 'shipchat[keyring]'. Or leave --keyring out.",),
        )
    try:
        _keyring().set_password(SERVICE, provider, key)
    except Exception as error:  # noqa: BLE001 -- a backend may raise anything
        raise StoreUnavailable(
            f"the system keyring did not take the key ({type(error).__name__})",
            advice=("Leave --keyring out to keep it in a private file.",),
        ) from None


def _keyring_remove(provider: str) -> bool:
    if _keyring_get(provider) is None:
        return False
    try:
        _keyring().delete_password(SERVICE, provider)
    except Exception as error:  # noqa: BLE001 -- a backend may raise anything
        raise StoreUnavailable(
            f"the system keyring did not remove the key ({type(error).__name__})"
        ) from None
    return True
