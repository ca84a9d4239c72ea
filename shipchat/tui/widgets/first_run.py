"""What is shown while there is no model: ways to get one, and how far a download is; fetching is the screen's."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.cells import cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import OwnMessage

_LABEL_CELLS = 16
_BAR_CELLS = 14


@dataclass
class ModelWanted(OwnMessage):
    """The way with this `id` to get a model was chosen."""

    id: str


class DownloadStopped(OwnMessage):
    """Escape while a model is fetched."""


class FirstRunLeft(OwnMessage):
    """Escape: look around first."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to get a model; `verb` is what Enter does."""

    id: str
    label: str
    detail: str
    verb: str = "choose"


@dataclass(frozen=True, slots=True)
class Download:
    """How far a download is, in bytes; `total` of 0: not known yet. `seconds` is what is left, None: not known."""

    done: int = 0
    total: int = 0
    seconds: int | None = None
    stage: str = "starting"


def first_run_lines(
    ways: tuple[Way, ...],
    cursor: int,
    download: Download | None,
    error: str,
    width: int,
    *,
    glyphs: Glyphs = UNICODE,
) -> list[Content]:
    """Return the lines, at most `width` cells each."""
    lines = [
        Content.styled("Welcome to shipchat.", "bold $strong"),
        Content.styled(
            cut("No model is set up here yet. Pick one; you can change it later.", width), "$muted"
        ),
        Content(""),
    ]
    for index, way in enumerate(ways):
        here = index == cursor
        detail = Content.styled(safe_line(way.detail), "$muted")
        if here and download is not None:
            detail = download_content(download, glyphs)
        line = Content.assemble(
            (glyphs.bar if here else " ", "$accent"),
            (f" {index + 1}  ", "$muted"),
            (f"{way.label:<{_LABEL_CELLS}}", "bold $strong" if here else "$text"),
            detail,
        )
        lines.append(line.truncate(width, ellipsis=True))
        if here and error:
            lines.append(Content.styled(cut(f"     {safe_line(error)}", width, glyphs.ellipsis), "$error"))
    lines.append(Content(""))
    if download is not None:
        keys = [("Esc", " stops the download")]
    else:
        keys = [("Enter", f" {ways[cursor].verb}"), (f"{glyphs.up} {glyphs.down}", " choose")]
        keys.append(("Esc", " look around first"))
    hint = Content("   ").join([Content.assemble((key, "$text"), (word, "$muted")) for key, word in keys])
    lines.append(hint.truncate(width))
    return lines


def download_content(download: Download, glyphs: Glyphs = UNICODE) -> Content:
    """Return a bar and how many megabytes are here, or the words of a stage that can't be counted."""
    if not download.total:
        return Content.styled(f"{safe_line(download.stage)}{glyphs.ellipsis}", "$muted")
    filled = min(_BAR_CELLS, download.done * _BAR_CELLS // download.total)
    left = "" if download.seconds is None else f" {glyphs.middle_dot} {download.seconds} s left"
    if download.stage == "verifying":
        left = f" {glyphs.middle_dot} checking it"
    return Content.assemble(
        (glyphs.rule * filled, "$accent"),
        (glyphs.rule * (_BAR_CELLS - filled), "$mark"),
        (f"  {download.done / 1e6:.0f} of {download.total / 1e6:.0f} MB{left}", "$text"),
    )


class FirstRun(Static, can_focus=True):
    """Shows `ways` to get a model on the axis `place`, and `download` in place of the chosen one's words."""

    DEFAULT_CSS = """
    FirstRun { height: 1fr; background: $background; content-align: left middle; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("enter", "choose", "Choose", show=False),
        Binding("escape", "leave", "Leave", show=False),
    ]

    ways: reactive[tuple[Way, ...]] = reactive(())
    cursor: reactive[int] = reactive(0)
    download: reactive[Download | None] = reactive(None)
    error: reactive[str] = reactive("")
    place: reactive[Axis] = reactive(axis(80, 24))
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(self, *, id: str | None = "first-run") -> None:  # noqa: A002  (Textual's own name for it)
        super().__init__(id=id, markup=False)

    def _lines(self) -> list[Content]:
        if not self.ways:
            return []
        return first_run_lines(
            self.ways, self.cursor, self.download, self.error, self.place.text_width, glyphs=self.glyphs
        )

    def render(self) -> Content:
        """Draw the lines in the middle of the height there is; the row chosen stays in view."""
        lines, height = self._lines(), self.size.height
        if len(lines) > height:
            lines = lines[-height:] if height > 0 else []
        return Content("\n").join([Content(" " * self.place.left) + line for line in lines])

    def action_move(self, step: int) -> None:
        """Move to another way, unless one is being gone."""
        if self.download is None and self.ways:
            self.error = ""
            self.cursor = (self.cursor + step) % len(self.ways)

    def action_choose(self) -> None:
        """Go the way under the cursor."""
        if self.download is None and self.ways:
            self.post_message(ModelWanted(self.ways[self.cursor].id))

    def action_leave(self) -> None:
        """Stop the download, or look around first."""
        self.post_message(FirstRunLeft() if self.download is None else DownloadStopped())

    def on_key(self, event: events.Key) -> None:
        """Let a number choose."""
        if event.character is not None and event.character.isdigit():
            index = int(event.character) - 1
            if self.download is None and 0 <= index < len(self.ways):
                event.stop()
                self.cursor = index
                self.action_choose()

    def on_click(self, event: events.Click) -> None:
        """Choose what is clicked."""
        top = (self.size.height - len(self._lines())) // 2 + 3
        index = event.y - top
        if self.download is None and 0 <= index < len(self.ways):
            event.stop()
            self.cursor = index
            self.action_choose()
