"""One session in the sidebar: its value, and how it looks in a given number of cells; knows no widget and no list."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from textual.content import Content

from shipchat.core.safe_text import safe_line
from shipchat.tui.ages import age_text
from shipchat.tui.cells import cell_len, cut, fit
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.widgets.selected_row import selected_row

#: Cells that are not the title's: pad, mark, space before it; space, age (3), pad after it.
FRAME_CELLS = 8
#: Forks are indented by this many cells a level, and no deeper than this many levels.
INDENT_CELLS = 2
DEEPEST_INDENT = 3


class RowMark(Enum):
    """The one mark a row can carry; the first that applies, in this order, wins."""

    DAMAGED = "damaged"
    STREAMING = "streaming"
    HELD = "held"  # replying elsewhere
    UNREAD = "unread"
    PINNED = "pinned"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SidebarRow:
    """What the sidebar knows of a session.

    `key` is its unique name, `parent` the key of the session it was forked from (shown or not), `at` the aware moment
    of its last change, `mark` the one mark to show. Titles and tags are as stored; they are made safe when drawn.
    """

    key: str
    title: str
    at: datetime
    tags: tuple[str, ...] = ()
    parent: str | None = None
    mark: RowMark = RowMark.NONE
    archived: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage found in a session: the message's position (1-based), one line of text, and what matched in it.

    `matches` are (start, end) offsets in characters of `snippet`.
    """

    key: str
    position: int
    snippet: str
    matches: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RowLook:
    """How the list shows a row at this moment. `bar` is the accent bar: selected, and the list has the keys."""

    selected: bool = False
    bar: bool = False
    opened: bool = False
    plain: bool = False


def first_mark(marks: Sequence[RowMark]) -> RowMark:
    """Return the most important of several marks, `RowMark.NONE` if there are none.

    >>> first_mark([RowMark.PINNED, RowMark.HELD])
    <RowMark.HELD: 'held'>
    """
    return next((mark for mark in RowMark if mark in marks), RowMark.NONE)


def row_content(
    row: SidebarRow, width: int, *, now: datetime, depth: int = 0, look: RowLook, glyphs: Glyphs = UNICODE
) -> Content:
    """Return the row in exactly `width` cells (a width below 1 gives an empty content).

    From left to right: the bar or a space, the mark, a space, the title with an indent by `depth` and the first tag
    if it fits whole, a space, the age, a space. Styles name theme variables only.
    """
    if width < 1:
        return Content("")
    room = width - FRAME_CELLS
    title = title_content(row, room, depth=depth, look=look, glyphs=glyphs) if room > 0 else Content("")
    glyph, mark_style = _mark(row.mark, glyphs)
    content = Content.assemble(
        (glyphs.bar, "$accent") if look.bar else " ",
        (glyph, mark_style),
        " ",
        title,
        " ",
        (fit(age_text(row.at, now).rjust(3), 3), "$muted"),
        " ",
    )
    return _cropped(_selected(content, look), width)


def title_content(row: SidebarRow, room: int, *, depth: int, look: RowLook, glyphs: Glyphs) -> Content:
    """Return the title's cells, exactly `room` of them: branch sign, title, and the first tag where it fits whole."""
    levels = min(depth, DEEPEST_INDENT)
    lead = f"{' ' * (INDENT_CELLS * (levels - 1))}{glyphs.branch} " if levels else ""
    if len(lead) >= room:
        lead = ""
    space = room - len(lead)
    whole = safe_line(row.title).strip() or safe_line(row.key)
    title = cut(whole, space, glyphs.ellipsis)
    tag = f"#{safe_line(row.tags[0])}" if row.tags else ""
    if title != whole or (tag and cell_len(title) + 1 + cell_len(tag) > space):
        tag = ""
    tag = cut(tag, space, glyphs.ellipsis)
    used = cell_len(title) + (1 + cell_len(tag) if tag else 0)
    return Content.assemble(
        (lead, "$mark"),
        (title, _title_style(row, look)),
        (f" {tag}", "$muted") if tag else "",
        " " * (space - used),
    )


def snippet_content(hit: SearchHit, width: int, *, look: RowLook, glyphs: Glyphs = UNICODE) -> Content:
    """Return a search hit's second line in exactly `width` cells, shifted so that the first match can be seen."""
    room = width - 4
    if room < 1:
        return Content(" " * max(width, 0))
    # Made safe character by character, so that the offsets of the matches can be followed.
    parts: list[tuple[str, str]] = []
    start = hit.matches[0][0] if hit.matches else 0
    first = max(0, start - room // 3) if start > room * 2 // 3 else 0
    if first:
        parts.append((glyphs.ellipsis, "$muted"))
    at = first
    for begin, end in hit.matches:
        if begin < at:
            continue
        parts.append((safe_line(hit.snippet[at:begin]), "$muted"))
        parts.append((safe_line(hit.snippet[begin:end]), "bold $accent"))
        at = end
    parts.append((safe_line(hit.snippet[at : at + room]), "$muted"))
    line = fit_parts(parts, room, glyphs.ellipsis)
    content = Content.assemble((glyphs.bar, "$accent") if look.bar else " ", "  ", line, " ")
    return _cropped(_selected(content, look), width)


def head_content(text: str, width: int, *, glyphs: Glyphs = UNICODE) -> Content:
    """Return the head of a day's group in exactly `width` cells."""
    if width < 4:
        return Content(" " * max(width, 0))
    return Content.assemble("   ", (fit(text, width - 3, glyphs.ellipsis), "$muted"))


def fit_parts(parts: Sequence[tuple[str, str]], width: int, ellipsis: str) -> Content:
    """Return styled pieces of text, cut with `ellipsis` or padded to exactly `width` cells."""
    pieces: list[tuple[str, str]] = []
    left = width
    total = sum(cell_len(text) for text, _ in parts)
    for text, style in parts:
        need = cell_len(text)
        if total <= left or need <= left - cell_len(ellipsis):
            pieces.append((text, style))
            left -= need
            total -= need
            continue
        short = cut(text + ellipsis * 2, left, ellipsis)  # longer than what is left, so it surely is cut
        pieces.append((short, style))
        left -= cell_len(short)
        break
    return Content.assemble(*pieces, " " * max(left, 0))


def _title_style(row: SidebarRow, look: RowLook) -> str:
    if look.selected or look.opened or row.mark is RowMark.UNREAD:
        return "bold $strong"
    return "$muted" if row.archived else "$text"


def _mark(mark: RowMark, glyphs: Glyphs) -> tuple[str, str]:
    match mark:
        case RowMark.DAMAGED:
            return glyphs.alarm, "bold $error"
        case RowMark.STREAMING:
            return glyphs.dot, "$accent"
        case RowMark.HELD:
            return glyphs.diamond, "$warning"
        case RowMark.UNREAD:
            return glyphs.bullet, "$accent"
        case RowMark.PINNED:
            return glyphs.pin, "$muted"
        case RowMark.NONE:
            return " ", ""


def _selected(content: Content, look: RowLook) -> Content:
    return selected_row(content, plain=look.plain) if look.selected else content


def _cropped(content: Content, width: int) -> Content:
    """Cut what a very narrow sidebar has no room for; the frame alone takes eight cells."""
    if content.cell_length <= width:
        return content.pad_right(width - content.cell_length)
    return content.truncate(width, pad=True)
