"""The input that lies over a session's title while it is renamed; whether the new title is kept is not its business."""

from typing import ClassVar

from textual.geometry import Offset

from shipchat.tui.widgets.line_input import LineInput
from shipchat.tui.widgets.session_list import SessionList
from shipchat.tui.widgets.sidebar_row import FRAME_CELLS, SidebarRow

_TITLE_COLUMN = 3


class RenameEditor(LineInput):
    """Edits the title of the session `key` (None: of none, and hidden) in its row of the list."""

    DEFAULT_CSS = """
    RenameEditor, RenameEditor:focus { display: none; background: $raised; }
    RenameEditor.open, RenameEditor.open:focus { display: block; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(self, sessions: SessionList) -> None:
        super().__init__(id="sidebar-rename")
        self._sessions = sessions
        self._before = ""
        self.key: str | None = None

    def begin(self, row: SidebarRow) -> None:
        """Show the title of `row` and take the keys."""
        self.key = row.key
        self.set_value(row.title)
        self._before = self.value.strip()  # as it was made safe: what is not touched is no change
        self.add_class("open")
        self.place()
        self.focus()

    def place(self) -> None:
        """Stand over the session's title, wherever the list has scrolled; end with a session that is gone."""
        if self.key is None:
            return
        line = self._sessions.line_of(self.key)
        if line is None:
            self.end()
            return
        y = line - self._sessions.scroll_offset.y
        self.visible = 0 <= y < max(self._sessions.size.height, 1)
        self.styles.width = max(1, self._sessions.size.width - FRAME_CELLS)
        self.styles.offset = Offset(_TITLE_COLUMN, max(y, 0))

    def end(self) -> tuple[str, str] | None:
        """Hide, give the keys back to the list, and return the key and the new title; None if there is nothing new."""
        if self.key is None:
            return None
        key, title = self.key, self.value.strip()
        self.key = None
        had_focus = self.has_focus
        self.remove_class("open")
        if had_focus:
            self._sessions.focus()
        return (key, title) if title and title != self._before else None
