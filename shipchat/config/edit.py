"""Changes one setting of the user's config file, or adds a table, and leaves every other line as it was written by hand."""

import contextlib
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from shipchat.core.errors import ConfigInvalid, StoreUnavailable

_TABLE = re.compile(r"\s*\[")


def set_setting(path: Path, name: str, value: str | bool | int) -> None:
    """Let the top-level setting `name` of the TOML file at `path` be `value`; the file is made when it is not there.

    A comment behind the old value stays. Raises ConfigInvalid when the file is no TOML or could not be changed without
    touching something else, StoreUnavailable when it can't be written; it is as before then.
    """
    target = Path(os.path.realpath(path))  # the user's link stays a link
    text = _read(target)
    before = _parsed(text, target)
    changed = with_setting(text, name, value)
    if _parsed(changed, target) != {**before, name: value}:
        raise ConfigInvalid(
            f"{path}: {name} could not be changed without touching other lines",
            advice=(f"Write it by hand: {name} = {_literal(value)}",),
        )
    _write(target, changed)


def add_table(path: Path, table: str, name: str, values: Mapping[str, str | tuple[str, ...]]) -> None:
    """Add the table `[TABLE.NAME]` with these values at the end of the TOML file at `path`.

    Raises ConfigInvalid when the file is no TOML or has such a table, StoreUnavailable when it can't be written.
    """
    target = Path(os.path.realpath(path))
    text = _read(target)
    before = _parsed(text, target)
    lines = [f"[{table}.{_literal(name)}]"]
    for key, value in values.items():
        written = _literal(value) if isinstance(value, str) else f"[{', '.join(map(_literal, value))}]"
        lines.append(f"{key} = {written}")
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    changed = text + gap + "\n".join(lines) + "\n"
    tables = before.get(table, {})
    if not isinstance(tables, dict) or name in tables:
        raise ConfigInvalid(f"{path}: there is a [{table}.{name}] already", advice=("Change it by hand.",))
    _parsed(changed, target)  # a table written in one line can't be added to
    _write(target, changed)


def with_setting(text: str, name: str, value: str | bool | int) -> str:
    """Return the TOML text with the top-level setting changed, or added before the first table."""
    lines = text.splitlines(keepends=True)
    top = next((index for index, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    pattern = re.compile(
        rf"^(\s*{re.escape(name)}\s*=\s*)(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^#\s]+)(.*)$", re.DOTALL
    )
    for index in range(top):
        found = pattern.match(lines[index])
        if found is not None:
            lines[index] = f"{found[1]}{_literal(value)}{found[3]}"
            return "".join(lines)
    new = f"{name} = {_literal(value)}\n"
    if top == len(lines):
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}{new}"
    # The blank lines and comments right above a table belong to it.
    while top > 0 and (not lines[top - 1].strip() or lines[top - 1].lstrip().startswith("#")):
        top -= 1
    return "".join((*lines[:top], new, *lines[top:]))


def _literal(value: str | bool | int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    escaped = "".join(
        {"\\": "\\\\", '"': '\\"'}.get(letter, letter if letter.isprintable() else f"\\U{ord(letter):08X}")
        for letter in value
    )
    return f'"{escaped}"'


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise ConfigInvalid(f"{path}: it is not UTF-8 text") from None
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be read: {error.strerror}") from error


def _parsed(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{path}: no valid TOML: {error}", advice=("Mend it by hand first.",)) from None


def _write(path: Path, text: str) -> None:
    made: str | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, mode)
        os.replace(made, path)
    except OSError as error:
        if made is not None:
            with contextlib.suppress(OSError):
                os.unlink(made)
        raise StoreUnavailable(f"{path} can't be written: {error.strerror}") from error
