"""The sidebar: head, filter, list of sessions and counts, and renaming in place; what happens then is not its business."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, Static

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import (
    ArchiveViewChanged,
    FilterChanged,
    NewRequested,
    RenameSubmitted,
    SessionHighlighted,
)
from shipchat.tui.widgets.line_input import LineInput
from shipchat.tui.widgets.rename_editor import RenameEditor
from shipchat.tui.widgets.session_list import SessionList
from shipchat.tui.widgets.sidebar_frame import empty_text, foot_text, head_text
from shipchat.tui.widgets.sidebar_lines import arrange, matching, searchable
from shipchat.tui.widgets.sidebar_row import RowMark, SearchHit, SidebarRow


class Sidebar(Vertical):
    """The list of sessions with what belongs to it.

    Down: `set_rows`, `opened`, `now`, `glyphs`, `show_hits`, `focus_list`, `focus_filter`, `begin_rename`,
    `archive_view`. Up: the sidebar's messages in `shipchat.tui.messages`. Width is set by whoever places it (26, 30 or
    32 cells); `drawer` draws the edge of one that lies over the transcript.
    """

    DEFAULT_CSS = """
    Sidebar { width: 30; height: 100%; background: $surface; padding: 0; }
    Sidebar.drawer { width: 32; border-right: solid $mark; }
    Sidebar #sidebar-head { height: 3; padding: 1 0; }
    Sidebar #sidebar-filter { height: 1; padding: 0 1 0 3; }
    Sidebar #sidebar-slash { width: 2; color: $muted; }
    Sidebar #sidebar-query { width: 1fr; }
    Sidebar #sidebar-hits { width: auto; color: $muted; padding: 0 0 0 1; }
    Sidebar #sidebar-body { height: 1fr; layers: list rename; }
    Sidebar #sidebar-list { layer: list; }
    Sidebar #sidebar-rename { layer: rename; }
    Sidebar #sidebar-empty { layer: rename; display: none; padding: 1 1 0 3; color: $muted; }
    Sidebar #sidebar-foot { height: 1; }
    Sidebar.compact #sidebar-head { height: 1; padding: 0; }
    .plain Sidebar { border-right: solid $mark; }
    .ascii Sidebar.drawer, .plain.ascii Sidebar { border-right: ascii $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Search", show=False),
        Binding("f2,r", "rename", "Rename", show=False),
        Binding("A,shift+a", "toggle_archive", "Archived sessions", show=False),
    ]

    #: Show the archived sessions instead of the others.
    archive_view: reactive[bool] = reactive(False, init=False)
    #: The key of the session that is open in the window.
    opened: reactive[str | None] = reactive(None, init=False)
    #: The moment ages and days are counted from; set it once a minute. Its zone is the zone of the day heads.
    now: reactive[datetime] = reactive(datetime(1970, 1, 1, tzinfo=UTC), init=False)
    glyphs: reactive[Glyphs] = reactive(UNICODE, init=False)

    def __init__(self, *, now: datetime, id: str | None = "sidebar", drawer: bool = False) -> None:  # noqa: A002
        super().__init__(id=id, classes="drawer" if drawer else "")
        self.set_reactive(Sidebar.now, now)
        self._rows: Sequence[SidebarRow] = ()
        self._texts: list[str] | None = None  # made when a filter is first typed
        self._query = ""
        self._open_when_found = False
        self._hits: Mapping[str, SearchHit] = {}
        self._ready = False  # the parts are there
        self.list = SessionList(id="sidebar-list")
        self._query_input = LineInput(placeholder="search", id="sidebar-query")
        self._rename = RenameEditor(self.list)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(id="sidebar-head", markup=False)
        with Horizontal(id="sidebar-filter"):
            yield Static("/ ", id="sidebar-slash", markup=False)
            yield self._query_input
            yield Static(id="sidebar-hits", markup=False)
        with Vertical(id="sidebar-body"):
            yield self.list
            yield Static(id="sidebar-empty", markup=False)
            yield self._rename
        yield Static(id="sidebar-foot", markup=False)

    def on_mount(self) -> None:
        """Draw what was set before."""
        self._ready = True
        self.list.opened = self.opened
        self.list.now = self.now
        self.list.glyphs = self.glyphs
        self.watch(self.list, "scroll_y", self._rename.place, init=False)
        self._show()

    def on_resize(self) -> None:
        """Fit the head, the foot and the input to the new width."""
        self._show_frame()
        self._rename.place()

    # --- values down

    @property
    def rows(self) -> Sequence[SidebarRow]:
        """All sessions, archived ones included, as last set."""
        return self._rows

    @property
    def cursor(self) -> str | None:
        """The key of the session under the cursor."""
        return self.list.cursor

    @property
    def filter_text(self) -> str:
        """What the list is filtered by."""
        return self._query

    def set_rows(self, rows: Sequence[SidebarRow]) -> None:
        """List these sessions; the cursor, the filter and a rename in progress stay."""
        # In order already, so that a filter need not sort again.
        self._rows = sorted(rows, key=lambda row: row.at, reverse=True)
        self._texts = None
        self._show()

    def show_hits(self, query: str, hits: Sequence[SearchHit]) -> None:
        """Show what was found in full text for `query`; ignored when another filter has been typed meanwhile."""
        if query == self._query and query.strip():
            self._hits = {hit.key: hit for hit in reversed(hits)}  # the first hit of a session is its best
            self._show()

    def select(self, key: str | None) -> None:
        """Put the cursor on a session."""
        self.list.select(key)

    def focus_list(self) -> None:
        """Give the keys to the list."""
        self.list.focus()

    def focus_filter(self) -> None:
        """Give the keys to the filter."""
        self._query_input.focus()

    def begin_rename(self, key: str | None = None) -> None:
        """Turn the title of the session `key` (default: under the cursor) into an input."""
        if key is not None:
            self.list.select(key)
        if (row := self.list.row) is not None:
            self._rename.begin(row)

    # --- drawing

    def watch_opened(self) -> None:
        """Show which session is open."""
        self.list.opened = self.opened

    def watch_glyphs(self) -> None:
        """Draw with the other signs."""
        self.list.glyphs = self.glyphs
        self._show_frame()

    def watch_now(self) -> None:
        """Count ages from the new moment."""
        self.list.now = self.now
        self._show()

    def watch_archive_view(self) -> None:
        """List the others."""
        if self._ready:
            self._rename.end()
            self._show()
            self.post_message(ArchiveViewChanged(self.archive_view))

    def _show(self, *, first: bool = False) -> None:
        if not self._ready:
            return
        shown = self._filtered()
        lines = arrange(shown, self.now, self._hits)
        self.list.set_lines(lines, first=first, filtered=bool(self._query.strip()))
        self._show_frame(len(shown))
        self._rename.place()
        if self._open_when_found and self.list.row is not None:
            self._open_when_found = False
            self.list.action_open()

    def _filtered(self) -> list[SidebarRow]:
        rows, archived, hits = self._rows, self.archive_view, self._hits
        if not self._query.strip():
            return [row for row in rows if row.archived == archived]
        found = matching(self._query, self._searchable())
        return [
            row
            for row, match in zip(rows, found, strict=True)
            if row.archived == archived and (match or row.key in hits)
        ]

    def _searchable(self) -> list[str]:
        if self._texts is None:
            self._texts = [searchable(row) for row in self._rows]
        return self._texts

    def _show_frame(self, found: int | None = None) -> None:
        if not self._ready:
            return
        width = self.content_size.width
        self.query_one("#sidebar-head", Static).update(head_text(width, archive=self.archive_view))
        archived = sum(row.archived for row in self._rows)
        live = len(self._rows) - archived
        foot = (
            Content.assemble("   ", (f"{archived:,} archived", "$muted"))
            if self.archive_view
            else foot_text(live, archived, width, glyphs=self.glyphs)
        )
        self.query_one("#sidebar-foot", Static).update(foot)
        if found is None:
            return
        hits = self.query_one("#sidebar-hits", Static)
        hits.display = bool(self._query)
        hits.update(Content(f"{found:,} hit{'' if found == 1 else 's'}"))
        empty = self.query_one("#sidebar-empty", Static)
        empty.display = not found
        if not found:
            filtered = bool(self._query) and bool(archived if self.archive_view else live)
            empty.update(Content(empty_text(filtered=filtered, archive=self.archive_view)))

    # --- filter

    def action_filter(self) -> None:
        """Begin to type a filter."""
        self.focus_filter()

    @on(Input.Changed, "#sidebar-query")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter(event.value)

    def _filter(self, query: str) -> None:
        if query != self._query:
            self._query = query
            self._hits = {}
            self._open_when_found = False
            self._show(first=bool(query.strip()))
            self.post_message(FilterChanged(query))

    @on(Input.Submitted, "#sidebar-query")
    def _filter_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._filter(event.value)  # the change itself may still be on its way
        self.list.focus()
        if self._query:
            self._open_when_found = self.list.row is None  # what was made a moment ago is not listed yet
            self.list.action_open()

    def clear_filter(self) -> None:
        """Show every session again."""
        self._query_input.set_value("")

    # --- archive view

    def action_toggle_archive(self) -> None:
        """Switch between the archived sessions and the others."""
        self.archive_view = not self.archive_view

    # --- rename in place

    def action_rename(self) -> None:
        """Rename the session under the cursor."""
        self.begin_rename()

    @on(Input.Changed, "#sidebar-rename")
    def _rename_typed(self, event: Input.Changed) -> None:
        event.stop()

    @on(Input.Submitted, "#sidebar-rename")
    def _rename_entered(self, event: Input.Submitted) -> None:
        event.stop()
        if (renamed := self._rename.end()) is not None:
            self.post_message(RenameSubmitted(*renamed))

    # --- keys and mouse that belong to no part alone

    def on_key(self, event: events.Key) -> None:
        """Leave an input with Escape; from the filter Down goes into the list."""
        if self._rename.has_focus:
            if event.key == "escape":
                event.stop()
                self._rename.end()
        elif self._query_input.has_focus and event.key in {"escape", "down"}:
            event.stop()
            if event.key == "escape":
                self.clear_filter()
            self.list.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Fold ten thousand titles before the first letter is typed, not after."""
        if event.widget is self._query_input:
            self._searchable()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """A rename that loses the keys is given up; nothing was changed."""
        if event.widget is self._rename:
            self._rename.end()

    def on_click(self, event: events.Click) -> None:
        """Follow the hints of the head."""
        head = self.query_one("#sidebar-head").region
        if head.contains(event.screen_x, event.screen_y):
            event.stop()
            if self.archive_view:
                self.archive_view = False
            elif event.screen_x >= head.right - 8:
                self.post_message(NewRequested())

    def on_session_highlighted(self, event: SessionHighlighted) -> None:
        """Give up a rename when the cursor goes elsewhere (the message goes on up)."""
        if event.key != self._rename.key:
            self._rename.end()


__all__ = ["RowMark", "SearchHit", "Sidebar", "SidebarRow"]
