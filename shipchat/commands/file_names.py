"""The names of files behind an `@`: those that complete what is typed, and pasted paths made into such names.

Reading the files is `sessions.attaching`'s.
"""

import os
import shlex
import stat
from pathlib import Path
from typing import Final

MOST: Final = 50
MOST_SCANNED: Final = 5_000
"""Files of a directory that are looked at: typing must not wait for a huge one."""

_LONGEST_PATH: Final = 4096


def matching_files(typed: str) -> list[str]:
    """Return the files and directories (these end in `/`) whose path begins with `typed`, directories first. Blocks.

    Each begins with what was typed of its directory. Hidden ones are offered when a dot was typed.
    """
    folder, slash, begun = typed.rpartition("/")
    root = Path(os.path.expanduser(f"{folder}/")) if slash else Path()
    found: list[tuple[bool, str]] = []
    try:
        with os.scandir(root) as entries:
            for _, entry in zip(range(MOST_SCANNED), entries, strict=False):
                name = entry.name
                hidden = name.startswith(".") and not begun.startswith(".")
                if hidden or not name.casefold().startswith(begun.casefold()) or not name.isprintable():
                    continue
                found.append((not entry.is_dir(), name))
    except (OSError, ValueError):
        return []
    found.sort()
    return [f"{folder}{slash}{name}" + ("" if is_file else "/") for is_file, name in found[:MOST]]


def pasted(text: str) -> str:
    """Return `text` as it is put in; a path alone that names a file, as terminals paste one dropped on them, gets an `@`.

    Only a path from the root or the home directory does: a word may be the name of a file by chance. Blocks.
    """
    line = text.strip()
    if not line or len(line) > _LONGEST_PATH or "\n" in line or not line.startswith(("/", "~/", "'/", '"/')):
        return text
    try:
        words = shlex.split(line)
    except ValueError:
        return text
    for path in (line, words[0] if len(words) == 1 else ""):
        try:
            is_file = bool(path) and stat.S_ISREG(os.stat(os.path.expanduser(path)).st_mode)
        except (OSError, ValueError):
            is_file = False
        if is_file and '"' not in path:
            return f'@"{path}" ' if any(one.isspace() for one in path) else f"@{path} "
    return text
