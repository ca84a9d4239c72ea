"""The line above the transcript: title, tags, badges and where one is; opening anything is left to the screen."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import SidebarRequested

#: The title keeps at least this many cells; what stands at the right goes first.
_TITLE_MIN = 12
_GAP = 3


class Badge(Enum):
    """A state of the whole session, in words."""

    PRIVATE = "private"
    DAMAGED = "damaged, read-only"
    READ_ONLY = "read-only"
    ARCHIVED = "archived"
    NO_MODEL = "no model yet"


_BADGE_STYLE = {
    Badge.PRIVATE: "$accent",
    Badge.DAMAGED: "$error",
    Badge.READ_ONLY: "$muted",
    Badge.ARCHIVED: "$muted",
    Badge.NO_MODEL: "$warning",
}


@dataclass(frozen=True, slots=True)
class HeaderState:
    """What the header says. `position` is the message at the top of the view while the reader has scrolled up."""

    title: str = "New session"
    tags: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    messages: int = 0
    position: int | None = None
    model: str = ""


def header_content(
    state: HeaderState, place: Axis, width: int, *, menu: bool = False, glyphs: Glyphs = UNICODE
) -> Content:
    """Return the header's text line in exactly `width` cells, on the axis `place`.

    `menu` shows the sign that opens the sidebar's drawer. The title is cut with an ellipsis; tags go before it is,
    and what stands at the right goes before the title has fewer than twelve cells.
    """
    left = min(place.left, width)
    room = max(0, min(place.right, width) - left)
    lead = f"{glyphs.menu}  " if menu and room > _TITLE_MIN + 3 else ""
    room -= len(lead)
    right = _right(state, place)
    while right and room - sum(cell_len(text) for text, _ in right) - _GAP * len(right) < _TITLE_MIN:
        right.pop()
    right_cells = sum(cell_len(text) for text, _ in right) + _GAP * max(0, len(right) - 1)
    title_room = room - right_cells - (_GAP if right else 0)
    title = cut(safe_line(state.title).strip() or "Untitled", title_room, glyphs.ellipsis)
    used = cell_len(title)
    parts: list[tuple[str, str]] = [(lead, "$muted"), (title, "bold $strong")]
    tags = "  ".join(f"#{safe_line(tag)}" for tag in state.tags)
    whole = title == (safe_line(state.title).strip() or "Untitled")
    if tags and whole and used + 2 + cell_len(tags) <= title_room:
        parts.append((f"  {tags}", "$muted"))
        used += 2 + cell_len(tags)
    parts.append((" " * max(0, room - used - right_cells), ""))
    for index, (text, style) in enumerate(right):
        parts.append((" " * (_GAP if index else 0) + text, style))
    content = Content.assemble(" " * left, *parts)
    return content.pad_right(max(0, width - content.cell_length))


def _right(state: HeaderState, place: Axis) -> list[tuple[str, str]]:
    parts = [(badge.value, _BADGE_STYLE[badge]) for badge in state.badges]
    if Badge.NO_MODEL in state.badges:
        return parts
    if place.tiny:
        model = safe_line(state.model)
        return [*parts, (model, "$muted")] if model else parts
    return [*parts, (count_text(state.messages, state.position), "$muted")]


def count_text(messages: int, position: int | None) -> str:
    """Return where one is: `nothing written yet`, `1 message`, `12 messages`, or `38 of 12,480` when scrolled up."""
    if not messages:
        return "nothing written yet"
    if position is not None:
        return f"{position:,} of {messages:,}"
    return f"{messages:,} message{'' if messages == 1 else 's'}"


class Header(Static):
    """Shows `state`; `place` is the text axis and `menu` says whether the sidebar is folded away."""

    DEFAULT_CSS = """
    Header { height: 1; background: $surface; }
    Header.tall { height: 3; padding: 1 0; background: $background; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    state: reactive[HeaderState] = reactive(HeaderState(), layout=False)
    place: reactive[Axis] = reactive(axis(80, 24), layout=False)
    menu: reactive[bool] = reactive(False, layout=False)
    glyphs: reactive[Glyphs] = reactive(UNICODE, layout=False)

    def __init__(self, *, id: str | None = "header") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    def render(self) -> Content:
        """Draw the line."""
        return header_content(self.state, self.place, self.size.width, menu=self.menu, glyphs=self.glyphs)

    def watch_place(self) -> None:
        """Take three rows where there is height for them."""
        self.set_class(not (self.place.tiny or self.place.compact), "tall")

    def watch_state(self) -> None:
        """Let the pointer show the whole title, which may have been cut."""
        self.tooltip = Content(safe_line(self.state.title))

    def on_click(self, event: events.Click) -> None:
        """Open the drawer."""
        if self.menu and event.x < self.place.left + 2:
            event.stop()
            self.post_message(SidebarRequested())
