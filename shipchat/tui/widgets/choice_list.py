"""A list to choose from, drawn line by line however long it is; who opened it decides what a choice does."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import ChoiceHighlighted, ChoiceMade
from shipchat.tui.widgets.choice_rows import (
    Choice,
    ChoiceLine,
    Found,
    GroupLine,
    choice_content,
    choice_lines,
    found_choices,
    group_content,
)

_LABEL_CELLS_MOST = 24


class ChoiceList(ScrollView, can_focus=True):
    """Shows `choices` that match `query`; posts `ChoiceHighlighted` and `ChoiceMade`. Its height is its content's."""

    DEFAULT_CSS = """
    ChoiceList { height: auto; max-height: 100%; background: transparent; scrollbar-size: 0 0; overflow-x: hidden; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "jump(0)", "First", show=False),
        Binding("end", "jump(-1)", "Last", show=False),
        Binding("enter", "choose", "Choose", show=False),
    ]

    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, choices: Sequence[Choice] = (), *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices: Sequence[Choice] = ()
        self._query = ""
        self._lines: list[ChoiceLine] = []
        self._cursor = -1
        self._label_cells = 0
        self.set_choices(choices)

    @property
    def highlighted(self) -> Choice | None:
        """The choice under the cursor."""
        line = self._lines[self._cursor] if 0 <= self._cursor < len(self._lines) else None
        return line.choice if isinstance(line, Found) else None

    @property
    def shown(self) -> list[Choice]:
        """The choices that match, in the order shown."""
        return [line.choice for line in self._lines if isinstance(line, Found)]

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Show other choices; the cursor stays on its choice, else goes to the current one, else to the first."""
        before = self.highlighted
        self._choices = choices
        longest = max((cell_len(safe_line(choice.label)) for choice in choices), default=0)
        self._label_cells = min(longest, _LABEL_CELLS_MOST)
        self._arrange()
        wanted = before.id if before is not None else next((c.id for c in choices if c.current), None)
        self.highlight(wanted)

    def filter(self, query: str) -> None:
        """Show only what matches `query`, and put the cursor on the best of it."""
        if query != self._query:
            self._query = query
            self._arrange()
            best = max(
                (line for line in self._lines if isinstance(line, Found)),
                key=lambda found: bool(found.matched),
                default=None,
            )
            self.highlight(best.choice.id if best is not None else None)

    def highlight(self, id: str | None) -> None:  # noqa: A002  (the value's own name)
        """Put the cursor on the choice `id`, or on the first one when it is not shown."""
        places = [index for index, line in enumerate(self._lines) if isinstance(line, Found)]
        target = next((at for at in places if self._id_at(at) == id), places[0] if places else -1)
        self._move_to(target)

    def _id_at(self, index: int) -> str | None:
        line = self._lines[index]
        return line.choice.id if isinstance(line, Found) else None

    def _arrange(self) -> None:
        self._lines = choice_lines(found_choices(self._query, self._choices))
        self._cursor = -1
        self.virtual_size = Size(self.size.width, len(self._lines))
        self.refresh(layout=True)

    # --- drawing

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines, at least one."""
        del container, viewport, width
        return max(1, len(self._lines))

    def on_resize(self) -> None:
        """Keep the virtual width that of the view, and the cursor in it."""
        self.virtual_size = Size(self.size.width, len(self._lines))
        self._bring_cursor_into_view()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the view."""
        width = self.size.width
        base = self.visual_style
        index = y + self.scroll_offset.y
        line = self._lines[index] if 0 <= index < len(self._lines) else None
        match line:
            case Found():
                content = choice_content(
                    line,
                    width,
                    selected=index == self._cursor,
                    label_cells=self._label_cells,
                    plain=self.app.has_class("plain"),
                    glyphs=self.glyphs,
                )
            case GroupLine(text=text):
                content = group_content(text, width, glyphs=self.glyphs)
            case None if y == 0 and not self._lines:
                content = group_content("Nothing found", width, glyphs=self.glyphs)
            case _:
                return Strip.blank(width, base.rich_style)
        return Strip(content.render_segments(base), width)

    # --- moving and choosing

    def _move_to(self, index: int) -> None:
        changed = index != self._cursor
        self._cursor = index
        if changed:
            highlighted = self.highlighted
            self.post_message(ChoiceHighlighted(highlighted.id if highlighted is not None else None))
            self.refresh()
        self._bring_cursor_into_view()

    def _bring_cursor_into_view(self) -> None:
        if self._cursor < 0 or not self.is_mounted:
            return
        top = self._cursor
        while top > 0 and not isinstance(self._lines[top - 1], Found):
            top -= 1
        self.scroll_to_region(
            Region(0, top, max(1, self.size.width), self._cursor - top + 1),
            animate=False,
            force=True,
            immediate=True,
        )

    def action_move(self, step: int) -> None:
        """Move the cursor by choices, round the ends."""
        places = [index for index, line in enumerate(self._lines) if isinstance(line, Found)]
        if places:
            here = places.index(self._cursor) if self._cursor in places else -1
            self._move_to(places[(here + step) % len(places)])

    def action_page(self, direction: int) -> None:
        """Move the cursor by the height of the view."""
        places = [index for index, line in enumerate(self._lines) if isinstance(line, Found)]
        if places:
            target = self._cursor + direction * max(1, self.size.height - 1)
            self._move_to(min(places, key=lambda at: abs(at - target)))

    def action_jump(self, place: int) -> None:
        """Move the cursor to the first (0) or the last (-1) choice."""
        places = [index for index, line in enumerate(self._lines) if isinstance(line, Found)]
        if places:
            self._move_to(places[place])

    def action_choose(self) -> None:
        """Take the choice under the cursor."""
        if (choice := self.highlighted) is not None:
            self.post_message(ChoiceMade(choice.id))

    def on_click(self, event: events.Click) -> None:
        """Take what was clicked."""
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self._lines) and isinstance(self._lines[index], Found):
            event.stop()
            self._move_to(index)
            self.action_choose()
