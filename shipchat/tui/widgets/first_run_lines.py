"""The lines of the first screen: ways to get a model, a download, a line to type into; pure functions of values."""

from dataclasses import dataclass, field

from textual.content import Content

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.glyphs import UNICODE, Glyphs

_LABEL_CELLS = 16
_BAR_CELLS = 14
_HEAD_CELLS = 5 + _LABEL_CELLS
_MOST_DOTS = 40  # that a masked line shows: how long a key is, is nobody's business
_LONG = "No model is set up here yet. Pick one; you can change it later."
_SHORT = "No model is set up here yet. Pick one:"
HEAD_ROWS = 3
"""Rows above the first way."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to get a model; `verb` is what Enter does.

    With an `ask` Enter makes the row a line to type into, with these words in it while it is empty; `masked` shows
    none of what is typed.
    """

    id: str
    label: str
    detail: str
    verb: str = "choose"
    ask: str = ""
    masked: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """How far a download is, in bytes; `total` of 0: not known yet. `seconds` is what is left, None: not known."""

    done: int = 0
    total: int = 0
    seconds: int | None = None
    stage: str = "starting"


@dataclass(frozen=True, slots=True)
class FirstRunState:
    """What the first screen shows.

    `typing` is what stands in the chosen row while it is a line to type into, None while it is not; `busy` are the
    words in its place while something is tried.
    """

    ways: tuple[Way, ...] = ()
    cursor: int = 0
    download: Download | None = None
    error: str = ""
    typing: str | None = field(default=None, repr=False)  # may be a key
    busy: str = ""


def first_run_lines(state: FirstRunState, width: int, *, glyphs: Glyphs = UNICODE) -> list[Content]:
    """Return the lines, at most `width` cells each."""
    lines = [
        Content.styled(cut("Welcome to shipchat.", width, glyphs.ellipsis), "bold $strong"),
        Content.styled(
            cut(_LONG if cell_len(_LONG) <= width else _SHORT, width, glyphs.ellipsis),
            "$muted",
        ),
        Content(""),
    ]
    for index, way in enumerate(state.ways):
        here = index == state.cursor
        head = Content.assemble(
            (glyphs.bar if here else " ", "$accent"),
            (f" {index + 1}  ", "$muted"),
            (f"{way.label:<{_LABEL_CELLS}}", "bold $strong" if here else "$text"),
        )
        words = _words(state, way, width - _HEAD_CELLS, glyphs) if here else None
        if words is None:
            words = Content.styled(
                fitting(safe_line(way.detail), max(0, width - _HEAD_CELLS), glyphs), "$muted"
            )
        lines.append((head + words).truncate(width, ellipsis=True))
        if here and state.error:
            error = cut(f"     {safe_line(state.error)}", width, glyphs.ellipsis)
            lines.append(Content.styled(error, "$error"))
    lines.append(Content(""))
    hints = [Content.assemble((key, "$text"), (f" {word}", "$muted")) for key, word in _keys(state, glyphs)]
    while len(hints) > 1 and sum(hint.cell_length + 3 for hint in hints) - 3 > width:
        del hints[-2]  # the way out is said last, and stays
    lines.append(Content("   ").join(hints).truncate(width, ellipsis=True))
    return lines


def fitting(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """Return `text` without its last parts, as many as must go; what has no parts left is cut.

    >>> fitting("smollm2 · 93 MB · free, private, offline", 33)
    'smollm2 · 93 MB · free, private'
    """
    shorter = text
    while cell_len(shorter) > width:
        at = max(shorter.rfind(sign) for sign in (" · ", ", ", "; "))
        if at <= 0:
            return cut(text, width, glyphs.ellipsis)
        shorter = shorter[:at]
    return shorter


def _words(state: FirstRunState, way: Way, width: int, glyphs: Glyphs) -> Content | None:
    """Return what the chosen row says in place of its words, None for those."""
    if state.download is not None:
        return download_content(state.download, glyphs)
    if state.busy:
        return Content.styled(f"{safe_line(state.busy)}{glyphs.ellipsis}", "$muted")
    if state.typing is None:
        return None
    if not state.typing:
        ask = cut(safe_line(way.ask), max(0, width - 1), glyphs.ellipsis)
        return Content.assemble((glyphs.bar, "$accent"), (ask, "$muted"))
    if way.masked:
        shown = glyphs.bullet * min(len(state.typing), _MOST_DOTS, max(1, width - 1))
    else:
        shown = safe_line(state.typing)
        while cell_len(shown) > max(1, width - 1):  # the end is where one types
            shown = shown[1:]
    return Content.assemble((shown, "$text"), (glyphs.bar, "$accent"))


def _keys(state: FirstRunState, glyphs: Glyphs) -> list[tuple[str, str]]:
    if state.download is not None:
        return [("Esc", "stops the download")]
    if state.busy:
        return [("Esc", "gives up")]
    if state.typing is not None:
        return [("Enter", "try it"), ("Ctrl+U", "empty"), ("Esc", "back")]
    verb = state.ways[state.cursor].verb if state.ways else "choose"
    return [("Enter", verb), (f"{glyphs.up} {glyphs.down}", "choose"), ("Esc", "look around first")]


def download_content(download: Download, glyphs: Glyphs = UNICODE) -> Content:
    """Return a bar and how many megabytes are here, or the words of a stage that can't be counted."""
    if not download.total:
        return Content.styled(f"{safe_line(download.stage)}{glyphs.ellipsis}", "$muted")
    filled = min(_BAR_CELLS, download.done * _BAR_CELLS // download.total)
    left = "" if download.seconds is None else f" {glyphs.middle_dot} {download.seconds} s left"
    if download.stage == "verifying":
        left = f" {glyphs.middle_dot} checking it"
    return Content.assemble(
        (glyphs.rule * filled, "$accent"),
        (glyphs.rule * (_BAR_CELLS - filled), "$mark"),
        (f"  {download.done / 1e6:.0f} of {download.total / 1e6:.0f} MB{left}", "$text"),
    )
