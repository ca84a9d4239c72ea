"""The line at the foot: who replies, whether all is saved, how full the context is, what it cost, which model.

Segments stay whole: when they do not all fit, the least important goes first.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.cells import cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import StatusClicked

_GAP = 3
_METER_CELLS = 6
_WARNING_SHARE = 0.75
_ERROR_SHARE = 0.90


class Segment(IntEnum):
    """The parts of the line, the most important first; a part is dropped before any with a smaller number."""

    ACTIVITY = 1
    SAVE = 2
    CONTEXT = 3
    KEYS = 4
    MODEL = 5
    ACTIONS = 6
    COST = 7
    METER = 8


_LEFT = (Segment.ACTIVITY, Segment.SAVE, Segment.METER, Segment.CONTEXT, Segment.COST)
_RIGHT = (Segment.MODEL, Segment.KEYS, Segment.ACTIONS)


class SaveState(Enum):
    """Whether what is on the screen is on the disk, in the words that are shown."""

    SAVED = "saved"
    SAVING = "saving"
    NOT_SENT = "not sent yet"
    NOTHING = "nothing to save"
    PRIVATE = "not stored"
    NOT_SAVED = "NOT SAVED"


@dataclass(frozen=True, slots=True)
class StatusState:
    """Everything the status line can say.

    `seconds` counts a reply of our own turn, None when there is none; `elsewhere`: a turn runs in another process.
    `used` and `window` are tokens (`window` None: unknown), `estimated` marks a count that is not exact. `cost` is
    ready to show (`$0.021`) or empty; `failure` is the reason why nothing could be saved.
    """

    seconds: int | None = None
    elsewhere: bool = False
    save: SaveState = SaveState.NOTHING
    failure: str = ""
    used: int = 0
    window: int | None = None
    estimated: bool = False
    cost: str = ""
    model: str = ""


def status_segments(state: StatusState, glyphs: Glyphs = UNICODE) -> dict[Segment, Content]:
    """Return the segments that have something to say."""
    found: dict[Segment, Content] = {}
    if state.seconds is not None:
        found[Segment.ACTIVITY] = Content.assemble(
            (glyphs.dot, "$accent"),
            (f" {duration_text(state.seconds)}", "$text"),
            (f" {glyphs.middle_dot} ", "$muted"),
            ("Esc", "$text"),
            (" stops", "$muted"),
        )
    elif state.elsewhere:
        found[Segment.ACTIVITY] = Content.styled(f"{glyphs.diamond} replying elsewhere", "$warning")
    found[Segment.SAVE] = _save(state, glyphs)
    share = state.used / state.window if state.window else 0.0
    if state.window or state.used:
        found[Segment.CONTEXT] = Content.styled(
            ("~" if state.estimated and state.used else "") + context_text(state.used, state.window),
            _share_style(share, "$muted"),
        )
    if state.window:
        found[Segment.METER] = meter_content(share, glyphs)
    if state.cost:
        found[Segment.COST] = Content.styled(safe_line(state.cost), "$muted")
    if state.model:
        found[Segment.MODEL] = Content.styled(cut(safe_line(state.model), 32, glyphs.ellipsis), "$muted")
    found[Segment.KEYS] = Content.assemble(("F1", "$text"), (" keys", "$muted"))
    found[Segment.ACTIONS] = Content.assemble(("^P", "$text"), (" actions", "$muted"))
    return found


def _save(state: StatusState, glyphs: Glyphs) -> Content:
    if state.save is SaveState.NOT_SAVED:
        reason = cut(safe_line(state.failure), 40, glyphs.ellipsis)
        return Content.styled(f"{glyphs.alarm} NOT SAVED" + (f"  {reason}" if reason else ""), "bold $error")
    text = state.save.value + (glyphs.ellipsis if state.save is SaveState.SAVING else "")
    return Content.styled(text, "$muted")


def status_layout(segments: dict[Segment, Content], room: int) -> list[tuple[Segment, int, Content]]:
    """Return which segments fit in `room` cells, each with its first cell, left to right."""
    kept = dict(segments)
    for segment in sorted(segments, reverse=True):
        if _needed(kept) <= room:
            break
        del kept[segment]
    placed: list[tuple[Segment, int, Content]] = []
    at = 0
    for segment in _LEFT:
        if segment in kept:
            placed.append((segment, at, kept[segment]))
            at += kept[segment].cell_length + _GAP
    at = room - _width([kept[segment] for segment in _RIGHT if segment in kept])
    for segment in _RIGHT:
        if segment in kept:
            placed.append((segment, at, kept[segment]))
            at += kept[segment].cell_length + _GAP
    return placed


def status_content(state: StatusState, place: Axis, width: int, *, glyphs: Glyphs = UNICODE) -> Content:
    """Return the line in exactly `width` cells, on the axis `place`. When it is tiny, the header has the model."""
    left = min(place.left, width)
    room = max(0, min(place.right, width) - left)
    content = Content(" " * left)
    at = 0
    for _, start, segment in _placed(state, place, room, glyphs):
        content = content.append(" " * (start - at)).append(segment)
        at = start + segment.cell_length
    return content.pad_right(max(0, width - content.cell_length))


def _placed(state: StatusState, place: Axis, room: int, glyphs: Glyphs) -> list[tuple[Segment, int, Content]]:
    segments = status_segments(state, glyphs)
    if place.tiny:
        segments.pop(Segment.MODEL, None)
    if state.save is SaveState.NOT_SAVED and segments[Segment.SAVE].cell_length > room:
        segments[Segment.SAVE] = Content.styled(f"{glyphs.alarm} NOT SAVED", "bold $error")
    return status_layout(segments, room)


def _width(contents: list[Content]) -> int:
    return sum(content.cell_length for content in contents) + _GAP * max(0, len(contents) - 1)


def _needed(kept: dict[Segment, Content]) -> int:
    return _width(list(kept.values()))


def _share_style(share: float, usual: str) -> str:
    if share >= _ERROR_SHARE:
        return "$error"
    return "$warning" if share >= _WARNING_SHARE else usual


def meter_content(share: float, glyphs: Glyphs = UNICODE) -> Content:
    """Return the meter of the context for a share from 0 to 1 (more is shown as full); any use fills a cell."""
    filled = min(_METER_CELLS, round(share * _METER_CELLS))
    if share > 0:
        filled = max(filled, 1)
    style = _share_style(share, "$accent")
    if glyphs.rule == "-":
        bar = "#" * filled + "-" * (_METER_CELLS - filled)
        return Content.assemble(("[", "$mark"), (bar[:filled], style), (bar[filled:] + "]", "$mark"))
    return Content.assemble((glyphs.rule * filled, style), (glyphs.rule * (_METER_CELLS - filled), "$mark"))


def context_text(used: int, window: int | None) -> str:
    """Return how full the context is: `2% of 200k`, `0 of 200k`, `1,240 tokens` when the window is unknown.

    >>> context_text(4_100, 200_000)
    '2% of 200k'
    """
    if not window:
        return f"{used:,} tokens"
    if used <= 0:
        return f"0 of {window_text(window)}"
    return f"{max(1, round(100 * used / window))}% of {window_text(window)}"


def window_text(tokens: int) -> str:
    """Return the size of a context window: `200k`, `1M`, `8k` for 8,192, `512`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)


def duration_text(seconds: int) -> str:
    """Return how long something has been going on: `12 s`, `2 min 5 s`, `1 h 4 min`."""
    if seconds < 60:
        return f"{max(seconds, 0)} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


class StatusLine(Static):
    """Shows `state` on the axis `place`; a click on a segment posts `StatusClicked` with its name."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $background; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    state: reactive[StatusState] = reactive(StatusState(), layout=False)
    place: reactive[Axis] = reactive(axis(80, 24), layout=False)
    glyphs: reactive[Glyphs] = reactive(UNICODE, layout=False)

    def __init__(self, *, id: str | None = "status") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    def render(self) -> Content:
        """Draw the line."""
        return status_content(self.state, self.place, self.size.width, glyphs=self.glyphs)

    def on_click(self, event: events.Click) -> None:
        """Say which segment was clicked."""
        left = min(self.place.left, self.size.width)
        room = max(0, min(self.place.right, self.size.width) - left)
        for segment, start, content in _placed(self.state, self.place, room, self.glyphs):
            if start <= event.x - left < start + content.cell_length:
                event.stop()
                self.post_message(StatusClicked(segment.name.lower()))
