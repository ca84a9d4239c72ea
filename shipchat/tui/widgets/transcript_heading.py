"""The rows around a message's text: its header, its folded details, its error, a divider; pure functions of values."""

from collections.abc import Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style

from shipchat.core.safe_text import safe_line, safe_text
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.markdown.wrap import Row, Span, padded, width_of, wrap
from shipchat.tui.palette import Ground, Look
from shipchat.tui.widgets.transcript_item import FoldedDetails, TranscriptItem

ACT_META: Final = "shipchat_act"  # on a cell that does something when clicked: an action, or one of these
FOLD: Final = "fold"
PREVIOUS: Final = "previous"
NEXT: Final = "next"

Hint = tuple[str, str, str]  # key, word, action

ACTIONS: Final[Sequence[Hint]] = (
    ("c", "copy", "copy"),
    ("e", "edit", "edit"),
    ("r", "retry", "retry"),
    ("f", "fork", "fork"),
    ("m", "more", "more"),
    ("p", "pin", "pin"),
)
# Below a reply that was cut off stand other meanings of c, r and m: the header then says what is left.
CUT_OFF_ACTIONS: Final[Sequence[Hint]] = (("y", "copy", "copy"), ("e", "edit", "edit"), ("f", "fork", "fork"))
CUT_OFF_HINTS: Final[Sequence[Hint]] = (
    ("c", "continue", "continue"),
    ("r", "retry", "retry"),
    ("m", "another model", "model"),
)


def ground_of(item: TranscriptItem) -> Ground:
    """Return what a message stands on: the user's is raised, all else lies on the background."""
    return "raised" if item.kind == "message" and item.role == "user" else "background"


def header_row(
    item: TranscriptItem, width: int, look: Look, *, focused: bool = False, seconds: int = 0, frame: str = ""
) -> Row:
    """Return the header of a message, exactly `width` cells: who and which at the left, when or what to do at the right.

    `frame` is the sign of activity and `seconds` its age while the message streams. What doesn't fit is dropped:
    the model first, then time or actions from their end; never role, position or siblings.
    """
    palette, ground = look.palette, ground_of(item)
    muted = palette.style("muted", ground)
    if item.role == "user":
        left: Row = [Segment("you", palette.style("accent", ground, bold=True))]
    else:
        left = [Segment("assistant", palette.style("strong", ground, bold=True))]
    if item.position is not None:
        left.append(Segment(f"  {item.position:,}", muted))
    pinned = [Segment("  pinned", muted)] if item.pinned else []
    model = [Segment(f"  {safe_line(item.model)}", muted)] if item.model and item.role == "assistant" else []
    rights = _rights(item, look, ground, focused=focused, seconds=seconds, frame=frame)
    for about in ([*model, *pinned], pinned, []):
        if width_of([*left, *about]) + 2 + width_of(rights[0]) <= width:
            return _spread([*left, *about], rights[0], width, muted)
    room = width - width_of(left) - 2
    right = next((one for one in rights if width_of(one) <= room), [])
    return _spread(left, right, width, muted)


def _spread(left: Row, right: Row, width: int, style: Style) -> Row:
    space = width - width_of(left) - width_of(right)
    return padded([*left, Segment(" " * space, style), *right] if space > 0 else left, width, style)


def _rights(
    item: TranscriptItem, look: Look, ground: Ground, *, focused: bool, seconds: int, frame: str
) -> Sequence[Row]:
    """Return what may stand at the right of a header, the fullest first."""
    palette = look.palette
    muted = palette.style("muted", ground)
    if item.status == "streaming":
        dot = Segment(frame or look.glyphs.dot, palette.style("accent", ground))
        word = Segment(f" {safe_line(item.activity)}", muted)
        age = Segment(f" {look.glyphs.middle_dot} {seconds} s", muted)
        return [dot, word, age], [dot, age], [dot]
    if focused:
        hints = CUT_OFF_ACTIONS if item.is_cut_off else ACTIONS
        flip = _flip(item, look, muted)
        shown = [_hints(hints[:count], look, ground, gap=2) for count in range(len(hints), 0, -1)]
        return [_joined((flip, one), muted) for one in shown] + ([flip] if flip else [])
    state: Row = []
    if item.status == "interrupted":
        state = [Segment(f"{look.glyphs.alarm} interrupted", palette.style("warning", ground))]
    elif item.status == "failed":
        error = palette.style("error", ground)
        state = [Segment(look.glyphs.alarm, error + Style(bold=True)), Segment(" cut off", error)]
    flip = _flip(item, look, muted)
    time: Row = [Segment(safe_line(item.time_text), muted)] if item.time_text else []
    return [_joined(parts, muted) for parts in ((flip, state, time), (flip, state), (flip,))]


def _flip(item: TranscriptItem, look: Look, muted: Style) -> Row:
    if item.sibling is None or item.sibling.count < 2:
        return []
    return [
        Segment(f"{look.glyphs.previous} ", muted + Style.from_meta({ACT_META: PREVIOUS})),
        Segment(f"{item.sibling.number}/{item.sibling.count}", muted),
        Segment(f" {look.glyphs.next}", muted + Style.from_meta({ACT_META: NEXT})),
    ]


def _joined(parts: Sequence[Row], style: Style) -> Row:
    row: Row = []
    for part in parts:
        if part:
            row += [Segment("   ", style), *part] if row else part
    return row


def _hints(hints: Sequence[Hint], look: Look, ground: Ground, *, gap: int) -> Row:
    row: Row = []
    for key, word, action in hints:
        meta = Style.from_meta({ACT_META: action})
        if row:
            row.append(Segment(" " * gap, look.palette.style("muted", ground)))
        row.append(Segment(key, look.palette.style("text", ground) + meta))
        row.append(Segment(f" {word}", look.palette.style("muted", ground) + meta))
    return row


def fold_rows(fold: FoldedDetails, width: int, look: Look, *, opened: bool) -> list[Row]:
    """Return the row of the folded details, and below it the details themselves when they are `opened`."""
    palette, glyphs = look.palette, look.glyphs
    muted = palette.style("muted")
    words: list[str] = []
    if fold.seconds is not None:
        words.append(f"thought for {fold.seconds} s")
    elif fold.reasoning:
        words.append("thinking")
    words += [safe_line(tool.summary) for tool in fold.tools]
    summary = cut(f" {glyphs.middle_dot} ".join(words) or "details", max(1, width - 2), glyphs.ellipsis)
    sign = glyphs.opened if opened else glyphs.closed
    rows: list[Row] = [[Segment(f"{sign} {summary}", muted + Style.from_meta({ACT_META: FOLD}))]]
    if not opened:
        return rows
    for tool in fold.tools:
        role = palette.style("error") if tool.failed else muted
        rows.append([Segment("  " + cut(safe_line(tool.summary), width - 2, glyphs.ellipsis), role)])
        if tool.detail:
            rows += _indented(tool.detail, 4, width, muted)
    if fold.reasoning:
        rows += _indented(fold.reasoning, 2, width, muted)
    return rows


def _indented(text: str, indent: int, width: int, style: Style) -> list[Row]:
    space = Segment(" " * min(indent, max(0, width - 1)), style)
    return [[space, *row] for row in wrap([Span(safe_text(text).rstrip("\n"), style)], width - indent)]


def foot_rows(item: TranscriptItem, width: int, look: Look) -> list[Row]:
    """Return what stands below the text of a message that failed or was interrupted: why, and what can be done."""
    rows: list[Row] = []
    if item.error_text:
        rows += wrap([Span(safe_text(item.error_text).strip("\n"), look.palette.style("error"))], width)
    if item.is_cut_off:
        fitting = [_hints(CUT_OFF_HINTS[:count], look, "background", gap=3) for count in (3, 2, 1)]
        rows.append(next((row for row in fitting if width_of(row) <= width), []))
    return rows


def divider_row(text: str, width: int, look: Look) -> Row:
    """Return the words of a divider in the middle of a rule of `width` cells."""
    words = cut(safe_line(text), max(0, width - 8), look.glyphs.ellipsis)
    mark = look.palette.style("mark")
    rest = width - cell_len(words) - 2
    if rest < 2:
        return padded([Segment(look.glyphs.rule * width, mark)], width, mark)
    return [
        Segment(look.glyphs.rule * (rest // 2) + " ", mark),
        Segment(words, look.palette.style("muted")),
        Segment(" " + look.glyphs.rule * (rest - rest // 2), mark),
    ]
