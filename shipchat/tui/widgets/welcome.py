"""What an empty session shows: what one can do, and the session one was in last; doing it is the screen's."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.cells import cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import SessionChosen

_HINTS = (
    ("/", "commands", "Ctrl+B", "sessions"),
    ("/resume", "pick up a session", "Ctrl+P", "every action"),
    ("/model", "another model", "F1", "keys"),
)
_WIDE = 53  # cells that two columns of hints take
_TITLE_CELLS = 40


@dataclass(frozen=True, slots=True)
class WelcomeState:
    """`last` is the newest session's key, title and age in words; None when there is none. `private`: not stored."""

    last: tuple[str, str, str] | None = None
    private: bool = False


def welcome_lines(state: WelcomeState, width: int, height: int, *, glyphs: Glyphs = UNICODE) -> list[Content]:
    """Return the lines, at most `width` cells wide and `height` of them: the first ones matter most."""
    promise = (
        "Nothing of this session is written to disk."
        if state.private
        else "Every message is on disk before it is sent."
    )
    lines = [Content.styled("Ask anything.", "bold $strong"), Content.styled(promise, "$muted"), Content("")]
    if width >= _WIDE:
        lines += [
            Content.assemble(
                (f"{one:<10}", "$text"), (f"{what:<22}", "$muted"), (f"{key:<9}", "$text"), (does, "$muted")
            )
            for one, what, key, does in _HINTS
        ]
    else:
        lines += [Content.assemble((f"{one:<10}", "$text"), (what, "$muted")) for one, what, _, _ in _HINTS]
    if state.last is not None:
        _, title, age = state.last
        dot = f" {glyphs.middle_dot} "
        shown = cut(safe_line(title), min(_TITLE_CELLS, max(1, width - len(age) - 25)), glyphs.ellipsis)
        last = Content.assemble(
            (shown, "$link"), (f"{dot}{age}{dot}", "$muted"), ("Ctrl+O", "$text"), (" opens it", "$muted")
        )
        lines += [Content(""), last]
    return [line.truncate(width) for line in lines[:height]]


class Welcome(Static):
    """Shows `state` on the axis `place`; a click on the last session asks to open it."""

    DEFAULT_CSS = """
    Welcome { height: 1fr; background: $background; content-align: left middle; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    state: reactive[WelcomeState] = reactive(WelcomeState())
    place: reactive[Axis] = reactive(axis(80, 24))
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = "welcome") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    def render(self) -> Content:
        """Draw the lines in the middle of the height there is."""
        height = self.size.height
        lines = welcome_lines(self.state, self.place.text_width, height, glyphs=self.glyphs)
        return Content("\n").join([Content(" " * self.place.left) + line for line in lines])

    def on_click(self, event: events.Click) -> None:
        """Open the session that is named in the last line."""
        lines = welcome_lines(self.state, self.place.text_width, self.size.height, glyphs=self.glyphs)
        top = (self.size.height - len(lines)) // 2
        if self.state.last is not None and event.y == top + len(lines) - 1:
            event.stop()
            self.post_message(SessionChosen(self.state.last[0]))
