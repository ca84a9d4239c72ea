"""The list of candidates directly above the composer; what they are and what choosing one does is the composer's."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import fit
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import CandidateClicked
from shipchat.tui.widgets.completion import Candidate
from shipchat.tui.widgets.selected_row import selected_row

#: Rows shown; more candidates scroll.
MOST_ROWS = 8
_NAME_CELLS = 14


def first_shown(selected: int, count: int, rows: int) -> int:
    """Return the index of the first candidate in view, so that the selected one is in it, near the middle."""
    return max(0, min(selected - rows // 2, count - rows))


def completion_lines(
    candidates: Sequence[Candidate],
    selected: int,
    width: int,
    rows: int = MOST_ROWS,
    *,
    plain: bool = False,
    glyphs: Glyphs = UNICODE,
) -> list[Content]:
    """Return the candidates in view, one line of exactly `width` cells each: bar, name, description."""
    first = first_shown(selected, len(candidates), rows)
    lines: list[Content] = []
    # One file name that is longer than a command's fourteen cells widens the column for all.
    view = candidates[first : first + rows]
    longest = max((len(candidate.name) for candidate in view), default=0)
    name_cells = max(_NAME_CELLS, min(longest + 2, width // 2))
    for index, candidate in enumerate(view, first):
        here = index == selected
        room = max(0, width - 2)
        name = fit(safe_line(candidate.name), min(name_cells - 1, room), glyphs.ellipsis)
        rest = fit(safe_line(candidate.description), max(0, room - name_cells), glyphs.ellipsis)
        line = Content.assemble(
            (glyphs.bar if here else " ", "$accent"),
            " ",
            (name, "bold $strong" if here else "$text"),
            " " if room >= name_cells else "",
            (rest, "$muted"),
        )
        line = line.truncate(max(width, 0), pad=True)
        lines.append(selected_row(line, plain=plain) if here else line)
    return lines


class CompletionList(Static):
    """Shows `candidates` with `selected` highlighted, over what lies above the composer: nothing is pushed away."""

    DEFAULT_CSS = """
    CompletionList { overlay: screen; background: $raised; height: auto; width: 100%; display: none; }
    .plain CompletionList { border-top: solid $mark; }
    .plain.ascii CompletionList { border-top: ascii $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    candidates: reactive[tuple[Candidate, ...]] = reactive((), layout=True)
    selected: reactive[int] = reactive(0)
    rows: reactive[int] = reactive(MOST_ROWS, layout=True)
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = "completion") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    @property
    def opened(self) -> bool:
        """Whether the list is shown."""
        return bool(self.candidates)

    def render(self) -> Content:
        """Draw the rows in view."""
        lines = completion_lines(
            self.candidates,
            self.selected,
            self.content_size.width,
            self.rows,
            plain=self.app.has_class("plain"),
            glyphs=self.glyphs,
        )
        return Content("\n").join(lines)

    def watch_candidates(self) -> None:
        """Begin at the first candidate; close without any."""
        self.selected = 0
        self.display = bool(self.candidates)
        self._raise()

    def watch_rows(self) -> None:
        """Take the room there is."""
        self._raise()

    def _raise(self) -> None:
        height = min(len(self.candidates), self.rows) + (1 if self.app.has_class("plain") else 0)
        self.styles.offset = (0, -height)

    def move(self, step: int) -> None:
        """Move the highlight, round the ends."""
        if self.candidates:
            self.selected = (self.selected + step) % len(self.candidates)

    def on_click(self, event: events.Click) -> None:
        """Say which candidate was clicked."""
        offset = event.get_content_offset(self)
        index = first_shown(self.selected, len(self.candidates), self.rows) + (offset.y if offset else 0)
        if offset is not None and index < len(self.candidates):
            event.stop()
            self.post_message(CandidateClicked(index))
