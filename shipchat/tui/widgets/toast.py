"""Short notes above the composer: what happened, and the key that takes it back; undoing is left to who posted them."""

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Static

from shipchat.core.safe_text import safe_line
from shipchat.tui.axis import Axis, axis
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import ToastUndone

WIDTH = 46
MOST = 3


class ToastKind(Enum):
    """What a toast's bar means."""

    SUCCESS = "success"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Toast:
    """A note: `title` says what happened, `detail` to what. `undo` names the action that takes it back, if one does.

    Titles and details may hold anything; they are made safe when drawn.
    """

    title: str
    detail: str = ""
    kind: ToastKind = ToastKind.SUCCESS
    undo: str | None = None
    undo_key: str = "u"
    undo_word: str = "undo"


def toast_content(toast: Toast, width: int, *, count: int = 1, glyphs: Glyphs = UNICODE) -> Content:
    """Return a toast's one or two lines, each at most `width` cells; `count` says how often it came."""
    times = f" {glyphs.times}{count}" if count > 1 else ""
    if cell_len(times) >= width:
        times = ""
    title = cut(safe_line(toast.title), width - cell_len(times), glyphs.ellipsis)
    first = Content.assemble((title, "bold $strong"), (times, "$muted"))
    action: list[tuple[str, str]] = []
    if toast.undo is not None:
        action = [(toast.undo_key, "$text"), (f" {toast.undo_word}", "$muted")]
    elif toast.kind is ToastKind.ERROR:
        action = [("click", "$text"), (" dismisses", "$muted")]
    if sum(cell_len(text) for text, _ in action) + 4 > width:
        action = []
    action_cells = sum(cell_len(text) for text, _ in action)
    gap = 3 if toast.detail and action else 0
    detail = cut(safe_line(toast.detail), width - action_cells - gap, glyphs.ellipsis)
    if not detail and not action:
        return first
    return Content.assemble(first, "\n", (detail, "$muted"), " " * gap, *action)


def toast_height(toast: Toast) -> int:
    """Return how many lines a toast has."""
    return 2 if toast.detail or toast.undo is not None or toast.kind is ToastKind.ERROR else 1


class ToastView(Static):
    """One toast on the screen."""

    DEFAULT_CSS = """
    ToastView {
        visibility: visible; height: auto; width: 100%; margin: 0 0 1 0; padding: 0 2 0 1;
        background: $raised; border-left: outer $accent;
    }
    ToastView.success { border-left: outer $success; }
    ToastView.warning { border-left: outer $warning; }
    ToastView.error { border-left: outer $error; }
    .ascii ToastView { border-left: ascii $accent; }
    .plain ToastView { border-top: solid $mark; border-bottom: solid $mark; }
    .plain.ascii ToastView { border-top: ascii $mark; border-bottom: ascii $mark; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(self, toast: Toast, glyphs: Glyphs) -> None:
        super().__init__(markup=False, classes=toast.kind.value)
        self.toast = toast
        self.count = 1
        self.glyphs = glyphs
        self.timer: Timer | None = None

    def render(self) -> Content:
        """Draw the lines."""
        return toast_content(
            self.toast, max(1, self.content_size.width), count=self.count, glyphs=self.glyphs
        )


# Not called a rack: the style sheet of Textual's own ToastRack would apply to it by name, and hide it.
class ToastStack(Vertical):
    """Holds at most three toasts, newest lowest; put it into the column right before the composer.

    Down: `show`, `undo_newest`, `dismiss_newest`, `clear`, `place`, `glyphs`. Up: `ToastUndone`. A toast leaves after
    five seconds, one with an undo after ten; an error stays until it is dismissed. Equal ones merge and are counted.
    """

    DEFAULT_CSS = """
    ToastStack { overlay: screen; visibility: hidden; width: 46; height: auto; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    place: reactive[Axis] = reactive(axis(80, 24))
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(
        self,
        *,
        seconds: float = 5.0,
        undo_seconds: float = 10.0,
        id: str | None = "toasts",  # noqa: A002  (Textual's own name for it)
    ) -> None:
        super().__init__(id=id)
        self._seconds = seconds
        self._undo_seconds = undo_seconds
        self._views: list[ToastView] = []

    @property
    def toasts(self) -> list[Toast]:
        """What is shown, oldest first."""
        return [view.toast for view in self._views]

    def show(self, toast: Toast) -> None:
        """Show a toast; the oldest makes room (an error last)."""
        for view in self._views:
            if view.toast == toast:
                view.count += 1
                view.refresh(layout=True)
                self._start(view)
                return
        while len(self._views) >= MOST:
            passing = [view for view in self._views if view.toast.kind is not ToastKind.ERROR]
            self._remove((passing or self._views)[0])
        view = ToastView(toast, self.glyphs)
        self._views.append(view)
        self.mount(view)
        self._start(view)
        self._settle()

    def undo_newest(self) -> bool:
        """Ask for the undo of the newest toast that has one; say whether there was one."""
        for view in reversed(self._views):
            if view.toast.undo is not None:
                self._undo(view)
                return True
        return False

    def dismiss_newest(self) -> bool:
        """Take the newest toast away; say whether there was one."""
        if not self._views:
            return False
        self._remove(self._views[-1])
        return True

    def clear(self) -> None:
        """Take all of them away."""
        for view in tuple(self._views):
            self._remove(view)

    def watch_place(self) -> None:
        """Stand at the right end of the column."""
        self._settle()

    def on_mount(self) -> None:
        """Stand in place from the beginning."""
        self._settle()

    def on_click(self, event: events.Click) -> None:
        """Undo where the line with the action was clicked, else dismiss."""
        for view in tuple(self._views):
            if view.region.contains(event.screen_x, event.screen_y):
                event.stop()
                if view.toast.undo is not None and event.screen_y == view.content_region.bottom - 1:
                    self._undo(view)
                else:
                    self._remove(view)

    def _undo(self, view: ToastView) -> None:
        self._remove(view)
        if view.toast.undo is not None:
            self.post_message(ToastUndone(view.toast.undo))

    def _start(self, view: ToastView) -> None:
        if view.timer is not None:
            view.timer.stop()
        if view.toast.kind is not ToastKind.ERROR:
            seconds = self._seconds if view.toast.undo is None else self._undo_seconds
            view.timer = self.set_timer(seconds, lambda: self._remove(view))

    def _remove(self, view: ToastView) -> None:
        if view in self._views:
            self._views.remove(view)
            if view.timer is not None:
                view.timer.stop()
            view.remove()
            self._settle()

    def _settle(self) -> None:
        # The rack has no room of its own: it is laid over what ends where the composer begins.
        width = max(1, min(WIDTH, self.place.outer_right - self.place.bar))
        frame = (
            3 if self.app.has_class("plain") else 1
        )  # a blank row below each, and lines where tone is missing
        height = sum(toast_height(view.toast) + frame for view in self._views)
        self.styles.width = width
        self.styles.offset = (self.place.outer_right - width, -height)
