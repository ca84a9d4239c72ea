"""Titles: free text on one line, made from the first prompt until a user or a model gives a better one."""

import unicodedata
from typing import Final

from shipchat.core.safe_text import without_surrogates

MAX_CELLS: Final = 60
"""Terminal cells of an automatic title at most."""


def clean_title(text: str) -> str:
    """Return `text` as a title: one line, no outer or doubled white space, encodable. May be empty."""
    return " ".join(without_surrogates(text).split())


def auto_title(prompt: str) -> str:
    r"""Return the title a session gets from its first prompt: its first line that says anything, at most 60 cells.

    >>> auto_title("\n  The nightly export fails.\nFind out why.")
    'The nightly export fails.'
    """
    for line in prompt.splitlines():
        title = clean_title(line.lstrip("#>*- \t"))
        if title:
            return cut(title, MAX_CELLS)
    return ""


def fork_title(title: str, number: int) -> str:
    """Return the title of the fork with this number: `Nightly export (fork)`, `Nightly export (fork 2)`, …."""
    stem, _, last = title.rpartition(" (fork")
    if stem and (last == ")" or (last.endswith(")") and last[1:-1].isdigit())):
        title = stem  # a fork of a fork is not called (fork) (fork)
    return f"{title} (fork)" if number <= 1 else f"{title} (fork {number})"


def cells(character: str) -> int:
    """Return the terminal cells of one character: a close guess from Unicode's own tables, enough for cutting."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cut(text: str, limit: int) -> str:
    """Return `text`, with its end replaced by an ellipsis when it is wider than `limit` cells."""
    if text.isascii():  # most are, and a list of 10,000 sessions cuts as many
        return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
    width = 0
    fits = 0  # how many characters fit beside an ellipsis
    for index, character in enumerate(text):
        width += cells(character)
        if width > limit:
            return text[:fits].rstrip() + "…"
        if width <= limit - 1:
            fits = index + 1
    return text
