"""The prompts of earlier sessions, one file for all: a line of JSON each, readable by its owner only.

Every line names its session, so that a session that is erased can take its prompts along. Private sessions write none.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import Final

NAME: Final = "prompt-history.jsonl"
KEPT: Final = 1_000
"""Prompts that are kept; the file is shortened when it holds twice as many."""

LONGEST: Final = 100_000
"""Characters; a longer prompt (a pasted log) is in its session, but not here."""


class PromptHistory:
    """Reads and appends. Blocking. Never raises for what is in the file or the disk: history is a convenience."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / NAME
        self.problem: str | None = None

    def read(self, *, without: str = "") -> list[str]:
        """Return the prompts, oldest first, those of the session `without` left out.

        A damaged file is set aside, with what could be read taken over, and `problem` says so.
        """
        try:
            data = self._path.read_bytes()
        except OSError:
            return []
        rows: list[tuple[str, str]] = []
        damaged = False
        for line in data.splitlines():
            try:
                row = json.loads(line)
                rows.append((str(row["key"]), str(row["text"])))
            except (ValueError, KeyError, TypeError):
                damaged = True
        if damaged:
            self._set_aside(rows)
        elif len(rows) > 2 * KEPT:
            self._replace(rows[-KEPT:])
        return [text for key, text in rows[-KEPT:] if key != without]

    def append(self, key: str, text: str) -> None:
        """Add a prompt of the session `key`."""
        if len(text) > LONGEST:
            return
        data = _line(key, text)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, data)  # one call: other windows append as well
            finally:
                os.close(descriptor)

    def _set_aside(self, rows: list[tuple[str, str]]) -> None:
        aside = self._path.with_name(f"{NAME}.damaged-{os.urandom(3).hex()}")
        try:
            os.replace(self._path, aside)
        except OSError:
            return
        self._replace(rows[-KEPT:])
        self.problem = f"the history of prompts was damaged; the old file is {aside}"

    def _replace(self, rows: list[tuple[str, str]]) -> None:
        temporary = self._path.with_name(f".{NAME}.{os.getpid()}.{os.urandom(3).hex()}.tmp")
        with contextlib.suppress(OSError):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(_line(key, text) for key, text in rows)
            os.replace(temporary, self._path)


def _line(key: str, text: str) -> bytes:
    # ASCII, so that no line separator of Unicode can end a line, and surrogates can be written.
    return json.dumps({"key": key, "text": text}).encode("ascii") + b"\n"
