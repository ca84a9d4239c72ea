"""The piece of a text that shows why it was found, with the places that match; pure."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from shipchat.index.words import Term

WIDTH: Final = 160
"""Characters of a snippet, about."""
_LEAD: Final = 40
"""Characters before the first match, about."""

Marks = tuple[tuple[int, int], ...]


def snippet(text: str, terms: Sequence[Term], *, width: int = WIDTH) -> tuple[str, Marks]:
    """Return about `width` characters of `text` on one line around what matches, and the ranges that match in it."""
    pattern = _pattern(terms)
    folded = _folded(text)
    places = [match.span() for match in pattern.finditer(folded)] if pattern is not None else []
    begin = _best(places, width)
    begin = max(0, begin - _LEAD) if begin > _LEAD else 0
    while 0 < begin < len(text) and not text[begin - 1].isspace() and begin % _LEAD:
        begin -= 1  # begin with a whole word, if that is near
    end = min(len(text), begin + width)
    piece, marks = _on_one_line(
        text[begin:end], [(a - begin, b - begin) for a, b in places if begin <= a < end]
    )
    lead = "…" if begin else ""
    shown = tuple((a + len(lead), b + len(lead)) for a, b in marks)
    return f"{lead}{piece}{'…' if end < len(text) else ''}", shown


def _best(places: Sequence[tuple[int, int]], width: int) -> int:
    """Return where the stretch begins that has the most matches; the first of them when several have."""
    best, most = 0, 0
    last = 0
    for first, (begin, _) in enumerate(places[:500]):
        last = max(last, first)
        while last < len(places) and places[last][1] <= begin + width - _LEAD:
            last += 1
        if last - first > most:
            best, most = begin, last - first
    return best


def _on_one_line(text: str, places: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Return `text` with each run of white space as one space, and the places where they are then."""
    kept: list[str] = []
    new_place: list[int] = []
    length = 0
    for character in text:
        new_place.append(length)
        if character.isspace():
            if not kept or kept[-1] == " ":
                continue
            character = " "  # noqa: PLW2901 -- the same character, tidied
        kept.append(character)
        length += 1
    new_place.append(length)
    shown = "".join(kept).rstrip()
    marks = [(new_place[begin], min(new_place[min(end, len(text))], len(shown))) for begin, end in places]
    return shown, [(begin, end) for begin, end in marks if begin < end]


def _folded(text: str) -> str:
    """Return `text` without case and accents, character for character."""
    if text.isascii():
        return text.lower()
    return "".join([_fold(character) for character in text])


def _fold(character: str) -> str:
    if character.isascii():
        return character.lower()
    base = unicodedata.normalize("NFD", character)[0].lower()
    return base if len(base) == 1 else character


def _pattern(terms: Sequence[Term]) -> re.Pattern[str] | None:
    found = []
    for term in terms:
        words = re.findall(r"\w+", _folded(term.text).replace("_", " "))
        if not words:
            continue
        row = r"[\W_]+".join(re.escape(word) for word in words)
        found.append(row + r"[^\W_]*" if term.prefix and words[-1].isascii() else row)
    if not found:
        return None
    found.sort(key=len, reverse=True)
    # A word begins where a word begins; the rest of an identifier or of writing without spaces has no such border.
    strict = "|".join(rf"(?<![^\W_]){one}" if one[0].isascii() else one for one in found)
    return re.compile(f"{strict}|{'|'.join(found)}")
