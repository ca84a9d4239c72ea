"""The scrolling list of sessions: draws only the lines in view, moves a cursor, says what was asked for.

It is handed finished lines; filtering, renaming and the rest of the sidebar are its parent's.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from shipchat.core.safe_text import safe_line
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import (
    ArchiveRequested,
    DeleteRequested,
    ExportRequested,
    ForkRequested,
    NewRequested,
    SessionChosen,
    SessionHighlighted,
    SidebarLeft,
    TagRequested,
)
from shipchat.tui.widgets.selected_row import selected_row
from shipchat.tui.widgets.sidebar_lines import HeadLine, Line, RowLine, SnippetLine
from shipchat.tui.widgets.sidebar_row import RowLook, SidebarRow, head_content, row_content, snippet_content


class SessionList(ScrollView, can_focus=True):
    """Lines of sessions with one cursor. The cursor stays on its session (by key) when the lines change."""

    DEFAULT_CSS = """
    SessionList {
        height: 1fr;
        background: $surface;
        scrollbar-size: 0 0;
        overflow-x: hidden;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "jump(0)", "First", show=False),
        Binding("end", "jump(-1)", "Last", show=False),
        Binding("enter", "open", "Open"),
        Binding("n", "new", "New"),
        Binding("f", "fork", "Fork"),
        Binding("t", "tag", "Tag"),
        Binding("a", "archive", "Archive"),
        Binding("d,delete", "delete", "Delete"),
        Binding("x", "export", "Export"),
        Binding("escape", "leave", "Leave", show=False),
    ]

    #: The session that is open in the window, shown strong.
    opened: reactive[str | None] = reactive(None)
    #: The moment that ages are counted from.
    now: reactive[datetime] = reactive(datetime(1970, 1, 1, tzinfo=UTC))
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._line_of: dict[str, int] = {}
        self._cursor: str | None = None
        self._wanted: str | None = (
            None  # where the reader last put the cursor; a filter may hide it for a while
        )

    # --- what the parent sets and reads

    @property
    def lines(self) -> Sequence[Line]:
        """The lines shown."""
        return self._lines

    @property
    def cursor(self) -> str | None:
        """The key of the session under the cursor."""
        return self._cursor

    @property
    def row(self) -> SidebarRow | None:
        """The session under the cursor."""
        index = self._line_of.get(self._cursor) if self._cursor is not None else None
        line = self._lines[index] if index is not None else None
        return line.row if isinstance(line, RowLine) else None

    def set_lines(self, lines: Sequence[Line], *, first: bool = False, filtered: bool = False) -> None:
        """Show these lines. The cursor keeps its session, or takes the nearest to where it stood if that is gone.

        `filtered` lines are shown for a while: when the others return, the cursor returns to where the reader had put
        it. `first` puts it on the first session until then.
        """
        old_index = self._line_of.get(self._cursor, 0) if self._cursor is not None else 0
        self._lines = lines
        self._line_of = {line.row.key: index for index, line in enumerate(lines) if isinstance(line, RowLine)}
        self.virtual_size = Size(self.size.width, len(lines))
        if first:
            self._set_cursor(self._nearest(0))
        elif self._wanted in self._line_of and not filtered:
            self._set_cursor(self._wanted, scroll=self._wanted != self._cursor)
        elif self._cursor not in self._line_of:
            self._set_cursor(self._nearest(old_index), scroll=False)
        self.refresh()

    def select(self, key: str | None) -> None:
        """Put the cursor on the session `key` if it is listed, and scroll to it."""
        if key in self._line_of:
            self._put_cursor(key)

    def line_of(self, key: str) -> int | None:
        """Return the number of a session's line, counted from 0."""
        return self._line_of.get(key)

    # --- drawing

    def on_resize(self) -> None:
        """Keep the virtual width that of the view: lines are drawn to fit and never scroll sideways."""
        self.virtual_size = Size(self.size.width, len(self._lines))

    def watch_opened(self) -> None:
        """Draw the other session strong."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the view."""
        width = self.size.width
        index = y + self.scroll_offset.y
        base = self.visual_style
        if not 0 <= index < len(self._lines):
            return Strip.blank(width, base.rich_style)
        content = self._content(self._lines[index], width)
        if self._thumb_at(y) and width > 1:
            thumb = Content.styled(self.glyphs.line, "$mark")
            line = self._lines[index]
            if isinstance(line, RowLine | SnippetLine) and line.row.key == self._cursor:
                thumb = selected_row(thumb, plain=self.app.has_class("plain"))
            content = content.truncate(width - 1, pad=True) + thumb
        return Strip(content.render_segments(base), width)

    def _content(self, line: Line, width: int) -> Content:
        match line:
            case HeadLine(text=text):
                return head_content(text, width, glyphs=self.glyphs)
            case RowLine(row=row, depth=depth):
                return row_content(
                    row, width, now=self.now, depth=depth, look=self._look(row.key), glyphs=self.glyphs
                )
            case SnippetLine(row=row, hit=hit):
                return snippet_content(hit, width, look=self._look(row.key), glyphs=self.glyphs)
            case _:
                return Content(" " * width)

    def _look(self, key: str) -> RowLook:
        selected = key == self._cursor
        return RowLook(
            selected=selected,
            bar=selected and self.has_focus,
            opened=key == self.opened,
            plain=self.app.has_class("plain"),
        )

    def _thumb_at(self, y: int) -> bool:
        """Say whether the scroll position's mark stands in this row of the view (none when everything is in view)."""
        height, total = self.size.height, len(self._lines)
        if total <= height or height < 3:
            return False
        length = max(1, round(height * height / total))
        top = round((height - length) * self.scroll_offset.y / (total - height))
        return top <= y < top + length

    # --- moving

    def _set_cursor(self, key: str | None, *, scroll: bool = True) -> None:
        if key != self._cursor:
            self._cursor = key
            self.post_message(SessionHighlighted(key))
            self.refresh()
        if scroll and key is not None:
            self._bring_into_view(self._line_of[key])

    def _put_cursor(self, key: str | None) -> None:
        """Move the cursor because the reader wants it there."""
        self._wanted = key
        self._set_cursor(key)

    def _bring_into_view(self, index: int) -> None:
        # The head and the blank line above a group come into view with its first session.
        top = index
        while top > 0 and not isinstance(self._lines[top - 1], RowLine | SnippetLine):
            top -= 1
        self.scroll_to_region(
            Region(0, top, max(self.size.width, 1), index - top + 1),
            animate=False,
            force=True,
            immediate=True,
        )

    def _nearest(self, index: int) -> str | None:
        for place in (*range(index, len(self._lines)), *range(min(index, len(self._lines)) - 1, -1, -1)):
            line = self._lines[place]
            if isinstance(line, RowLine):
                return line.row.key
        return None

    def action_move(self, step: int) -> None:
        """Move the cursor by sessions; heads are passed over."""
        index = self._line_of.get(self._cursor, -1) if self._cursor is not None else -1
        index += step
        while 0 <= index < len(self._lines):
            line = self._lines[index]
            if isinstance(line, RowLine):
                self._put_cursor(line.row.key)
                return
            index += step

    def action_page(self, direction: int) -> None:
        """Move the cursor by the height of the view."""
        index = self._line_of.get(self._cursor, 0) if self._cursor is not None else 0
        target = index + direction * max(1, self.size.height - 1)
        self._put_cursor(self._nearest(max(0, min(target, len(self._lines) - 1))))

    def action_jump(self, place: int) -> None:
        """Move the cursor to the first (0) or the last (-1) session."""
        if self._lines:
            self._put_cursor(self._nearest(0 if place == 0 else len(self._lines) - 1))

    # --- asking

    def action_open(self) -> None:
        """Open the session under the cursor, at the message found if it is there for its text."""
        if (row := self.row) is not None:
            self.post_message(SessionChosen(row.key, self._hit_position(row.key)))

    def _hit_position(self, key: str) -> int | None:
        index = self._line_of[key] + 1
        line = self._lines[index] if index < len(self._lines) else None
        return line.hit.position if isinstance(line, SnippetLine) else None

    def action_new(self) -> None:
        """Begin a session."""
        self.post_message(NewRequested())

    def action_fork(self) -> None:
        """Fork the session under the cursor."""
        if (row := self.row) is not None:
            self.post_message(ForkRequested(row.key))

    def action_tag(self) -> None:
        """Ask for tags."""
        if (row := self.row) is not None:
            self.post_message(TagRequested(row.key))

    def action_archive(self) -> None:
        """Archive the session, or bring it back from the archive."""
        if (row := self.row) is not None:
            self.post_message(ArchiveRequested(row.key, not row.archived))

    def action_delete(self) -> None:
        """Move the session to the trash."""
        if (row := self.row) is not None:
            self.post_message(DeleteRequested(row.key))

    def action_export(self) -> None:
        """Export the session."""
        if (row := self.row) is not None:
            self.post_message(ExportRequested(row.key))

    def action_leave(self) -> None:
        """Give the keys back."""
        self.post_message(SidebarLeft())

    # --- mouse

    def _row_at(self, event: events.MouseEvent) -> SidebarRow | None:
        index = event.y + self.scroll_offset.y
        line = self._lines[index] if 0 <= index < len(self._lines) else None
        return line.row if isinstance(line, RowLine | SnippetLine) else None

    def on_click(self, event: events.Click) -> None:
        """Open what was clicked."""
        if (row := self._row_at(event)) is not None:
            event.stop()
            self._put_cursor(row.key)
            self.action_open()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show the whole title and the key of the session under the pointer."""
        row = self._row_at(event)
        self.tooltip = None if row is None else Content(f"{safe_line(row.title)}\n{safe_line(row.key)}")
