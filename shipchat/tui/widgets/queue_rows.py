"""The prompts waiting behind the running turn, one row each above the composer; editing them is asked for upwards."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import QueueEditRequested

#: Rows shown; the others are counted in the last one.
SHOWN = 3


def queue_lines(queue: Sequence[str], width: int, *, glyphs: Glyphs = UNICODE) -> list[Content]:
    """Return the rows for a queue, first to run first, each at most `width` cells: the last has the key that edits it.

    More than three prompts: the first ones are counted, as the newest is the one that Up edits.
    """
    hidden = max(0, len(queue) - SHOWN)
    lines: list[Content] = []
    for index in range(hidden, len(queue)):
        number = f"queued {index + 1}  "
        tail: list[tuple[str, str]] = []
        if hidden and index == hidden:
            tail.append((f"   +{hidden} more", "$muted"))
        if index == len(queue) - 1:
            tail += [(f"   {glyphs.up}", "$text"), (" edit", "$muted")]
        text = " ".join(safe_line(queue[index][:2000]).split()) or "(blank)"
        room = width - len(number) - sum(cell_len(part) for part, _ in tail)
        if room < 8:
            tail = []
            room = width - len(number)
        lines.append(
            Content.assemble(
                (cut(number, width, glyphs.ellipsis), "$muted"),
                (cut(text, room, glyphs.ellipsis), "$text"),
                *tail,
            )
        )
    return lines


class QueueRows(Static):
    """Shows `queue`; a click on a row asks to edit that prompt."""

    DEFAULT_CSS = """
    QueueRows { height: auto; background: $surface; border-left: outer $mark; padding: 0 2 0 1; display: none; }
    .ascii QueueRows { border-left: ascii $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    queue: reactive[tuple[str, ...]] = reactive((), layout=True)
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = "queue") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    def render(self) -> Content:
        """Draw the rows."""
        lines = queue_lines(self.queue, max(1, self.content_size.width), glyphs=self.glyphs)
        return Content("\n").join(lines)

    def watch_queue(self) -> None:
        """Take no room when nothing waits."""
        self.display = bool(self.queue)

    def on_click(self, event: events.Click) -> None:
        """Ask to edit the prompt that was clicked."""
        index = max(0, len(self.queue) - SHOWN) + event.y
        if index < len(self.queue):
            event.stop()
            self.post_message(QueueEditRequested(index))
