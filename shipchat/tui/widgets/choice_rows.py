"""Things to choose from: how they are found by what is typed, grouped, and drawn as lines; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual.content import Content

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len, cut, fit
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.widgets.selected_row import selected_row


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose. `detail` follows the label muted, `key` stands at the right, `group` is its muted head.

    `current`: it is what is in use now. Texts may hold anything; they are made safe when drawn.
    """

    id: str
    label: str
    detail: str = ""
    key: str = ""
    group: str = ""
    current: bool = False


class Found(NamedTuple):
    """A choice that passed the filter, with the offsets of the letters of its label that matched."""

    choice: Choice
    matched: tuple[int, ...] = ()


class GroupLine(NamedTuple):
    """The head of a group."""

    text: str


class GapLine(NamedTuple):
    """An empty line between groups."""


ChoiceLine = Found | GroupLine | GapLine


def match_letters(query: str, text: str) -> tuple[int, tuple[int, ...]] | None:
    """Return how well `text` matches `query` (more is better) and which letters do; None if it does not.

    Best is the query as it stands, at the beginning of the text or of a word; else its letters in their order, the
    closer together the better. Takes time in proportion to the text: no text can make it slow.

    >>> match_letters("for", "Theme: forest dark")
    (2900, (7, 8, 9))
    """
    wanted, letters = query.lower().strip(), text.lower()
    if not wanted:
        return 0, ()
    if len(letters) != len(text):  # a letter that becomes two in lower case would shift the offsets
        letters = text
    at = letters.find(wanted)
    word = at
    while word > 0 and letters[word - 1].isalnum():  # rather a later place where a word begins
        word = letters.find(wanted, word + 1)
    if at >= 0:
        begins = word >= 0
        place = word if begins else at
        score = 4000 if place == 0 else 2900 if begins else 2000 - min(place, 900)
        return score, tuple(range(place, place + len(wanted)))
    return _scattered(wanted, letters)


def _scattered(wanted: str, letters: str) -> tuple[int, tuple[int, ...]] | None:
    """Match letters in order: the earliest end, then the latest beginning before it, so that they stand close."""
    needed = [letter for letter in wanted if not letter.isspace()]
    at = -1
    for letter in needed:
        at = letters.find(letter, at + 1)
        if at < 0:
            return None
    places: list[int] = []
    end = at + 1
    for letter in reversed(needed):
        end = letters.rfind(letter, 0, end)
        places.append(end)
    places.reverse()
    span = places[-1] - places[0] + 1
    return max(1, 1000 - 10 * (span - len(needed)) - places[0]), tuple(places)


def found_choices(query: str, choices: Sequence[Choice]) -> list[Found]:
    """Return the choices that match `query`, best first within their groups, the group of the best one first.

    Without a query all of them in the order given. A query that is found only in the detail or the group counts too,
    after all others.
    """
    if not query.strip():
        return [Found(choice) for choice in choices]
    scored: list[tuple[int, int, Found]] = []
    best: dict[str, int] = {}
    wanted = query.lower().strip()
    for order, choice in enumerate(choices):
        matched = match_letters(query, choice.label)
        if matched is None and wanted in f"{choice.detail}\n{choice.group}\n{choice.key}".lower():
            matched = (0, ())
        if matched is not None:
            scored.append((-matched[0], order, Found(choice, matched[1])))
            best[choice.group] = max(best.get(choice.group, -1), matched[0])
    scored.sort(key=lambda entry: (-best[entry[2].choice.group], entry[2].choice.group, entry[0], entry[1]))
    return [found for _, _, found in scored]


def choice_lines(found: Sequence[Found]) -> list[ChoiceLine]:
    """Return the lines of a list: a head above each group, an empty line between two."""
    lines: list[ChoiceLine] = []
    group = ""
    for entry in found:
        if entry.choice.group != group:
            group = entry.choice.group
            if lines:
                lines.append(GapLine())
            if group:
                lines.append(GroupLine(group))
        lines.append(entry)
    return lines


def choice_content(
    found: Found,
    width: int,
    *,
    selected: bool = False,
    label_cells: int = 0,
    plain: bool = False,
    glyphs: Glyphs = UNICODE,
) -> Content:
    """Return one choice in exactly `width` cells: bar or space, label with its matches, detail, key, a space.

    `label_cells` aligns the details of several choices: labels are given at least that many cells.
    """
    choice = found.choice
    if width < 3:
        return Content(" " * max(width, 0))
    room = width - 2
    key = cut(safe_line(choice.key), room // 2, glyphs.ellipsis)
    label_room = room - (cell_len(key) + 2 if key else 0)
    label = cut(safe_line(choice.label), label_room, glyphs.ellipsis)
    left = label_room - cell_len(label)
    pad = max(0, label_cells - cell_len(label)) if choice.detail else 0
    detail = ""
    if choice.detail and left - pad - 2 >= 4:
        detail = " " * (pad + 2) + cut(safe_line(choice.detail), left - pad - 2, glyphs.ellipsis)
    current = f" {glyphs.bullet}" if choice.current and left - cell_len(detail) >= 2 else ""
    name = Content.styled(label, "bold $strong" if selected else "$text")
    if safe_line(choice.label).startswith(
        choice.label[: len(label) - 1]
    ):  # offsets hold while nothing was replaced
        for at in found.matched:
            if at < len(label):
                name = name.stylize("bold $accent", at, at + 1)
    body = Content.assemble(name, (detail, "$muted"), (current, "$accent"))
    gap = " " * max(0, room - body.cell_length - cell_len(key))
    line = Content.assemble((glyphs.bar, "$accent") if selected else " ", body, gap, (key, "$muted"), " ")
    return selected_row(line, plain=plain) if selected else line


def group_content(text: str, width: int, *, glyphs: Glyphs = UNICODE) -> Content:
    """Return a group's head in exactly `width` cells."""
    if width < 2:
        return Content(" " * max(width, 0))
    return Content.assemble(" ", (fit(safe_line(text), width - 1, glyphs.ellipsis), "$muted"))
