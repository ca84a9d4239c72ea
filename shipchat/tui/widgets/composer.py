"""The composer: prompts waiting, notices, attachments, the text and its completion; sending is someone else's."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import TextArea

from shipchat.tui.axis import Axis, axis
from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.messages import (
    AttachmentDropRequested,
    CandidateClicked,
    CtrlC,
    DraftChanged,
    DraftCleared,
    ExternalEditorRequested,
    HeldChoice,
    HeldChosen,
    InterruptRequested,
    QueueEditRequested,
    SaveRetryRequested,
    Submitted,
    TextCopied,
)
from shipchat.tui.widgets.completion import CompletionSource, completion_query, no_candidates
from shipchat.tui.widgets.completion_control import CompletionControl
from shipchat.tui.widgets.completion_list import MOST_ROWS, CompletionList
from shipchat.tui.widgets.composer_block import ComposerBlock
from shipchat.tui.widgets.composer_input import ComposerInput
from shipchat.tui.widgets.composer_state import Attachment, ComposerState, Elsewhere
from shipchat.tui.widgets.draft_text import is_blank
from shipchat.tui.widgets.prompt_history import PromptHistory
from shipchat.tui.widgets.queue_rows import QueueRows

_HELD_KEYS = {"w": HeldChoice.WAIT, "f": HeldChoice.FORK, "n": HeldChoice.NEW}


@dataclass(frozen=True, slots=True)
class ComposerKeys:
    """Which keys do what, by Textual's names."""

    submit: tuple[str, ...] = ("enter",)
    new_line: tuple[str, ...] = ("ctrl+j", "shift+enter", "alt+enter")
    editor: tuple[str, ...] = ("ctrl+g",)


class Composer(Vertical):
    """Everything at the foot of the transcript.

    Down: `state`, `queue`, `place`, `glyphs`, `source` (completion), `keys`, `set_history`, `load`, `restore`,
    `insert`, `clear`. Up: the composer's messages in `shipchat.tui.messages`. It grows upwards with the text, to ten
    lines and two fifths of the screen's height.
    """

    DEFAULT_CSS = """
    Composer { height: auto; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    state: reactive[ComposerState] = reactive(ComposerState())
    #: Prompts waiting behind the running turn, first to run first.
    queue: reactive[tuple[str, ...]] = reactive(())
    #: The text axis. Set it at every resize of the terminal: the height allowed follows from that too.
    place: reactive[Axis] = reactive(axis(80, 24), always_update=True)
    glyphs: reactive[Glyphs] = reactive(UNICODE)

    def __init__(
        self,
        *,
        source: CompletionSource = no_candidates,
        keys: ComposerKeys | None = None,
        id: str | None = "composer",  # noqa: A002  (Textual's own name for it)
    ) -> None:
        super().__init__(id=id)
        self.keys = keys or ComposerKeys()
        self.input = ComposerInput(self._key)
        self._menu = CompletionList()
        self._completion = CompletionControl(self.input, self._menu, source)
        self._queue_rows = QueueRows()
        self._block = ComposerBlock(self.input)
        self._history = PromptHistory()
        self._asking = False
        self._ready = False  # the parts are there

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield self._menu
        yield self._queue_rows
        yield self._block

    def on_mount(self) -> None:
        """Take the place given and draw what was set before."""
        self._ready = True
        self._show()

    def on_resize(self) -> None:
        """Keep to the height allowed and say only what fits."""
        self._show()

    # --- values down

    @property
    def text(self) -> str:
        """The draft."""
        return self.input.text

    def load(self, text: str) -> None:
        """Show another draft (of another session, say); where one stood in the history is forgotten."""
        self._history = PromptHistory.of(self._history.entries)
        self._set_text(text)

    def restore(self, text: str) -> None:
        """Give back a prompt that could not be sent, before anything typed meanwhile."""
        typed = self.text
        self._set_text(f"{text}\n{typed}" if typed.strip() else text)

    def insert(self, text: str) -> None:
        """Insert `text` at the cursor."""
        self.input.insert_text(text)

    def clear(self) -> None:
        """Empty the draft."""
        self._set_text("")

    def set_history(self, entries: Iterable[str]) -> None:
        """Let Up walk through these prompts, oldest first."""
        self._history = PromptHistory.of(entries)

    def focus_input(self) -> None:
        """Give the keys to the text."""
        self.input.focus()

    @property
    def source(self) -> CompletionSource:
        """Where candidates come from."""
        return self._completion.source

    @source.setter
    def source(self, source: CompletionSource) -> None:
        self._completion.source = source

    @property
    def asking(self) -> bool:
        """Whether one of the keys w, f, n is awaited."""
        return self._asking

    # --- drawing

    def watch_state(self) -> None:
        """Draw the state."""
        if self.state.elsewhere is None:
            self._asking = False
        self._show()

    def watch_queue(self) -> None:
        """Draw the waiting prompts."""
        self._queue_rows.queue = self.queue

    def watch_place(self) -> None:
        """Stand on the axis."""
        place = self.place
        self.styles.margin = (0, 0, 0, place.bar)
        self.styles.width = max(1, place.outer_right - place.bar)
        self._show()

    def watch_glyphs(self) -> None:
        """Draw with the other signs."""
        self._menu.glyphs = self.glyphs
        self._queue_rows.glyphs = self.glyphs
        self._show()

    def _show(self) -> None:
        if self._ready:
            self._menu.rows = max(1, min(MOST_ROWS, self.screen.size.height - 4))
            self._block.show(self.state, self.place, asking=self._asking, glyphs=self.glyphs)

    def _follow(self) -> None:
        """Bring completion and hints in step with the text."""
        row, column = self.input.cursor_location
        # While one walks through the history, a recalled command must not catch Up and Down.
        recalled = self._history.walking and self.text == self._history.entries[self._history.index]
        idle = recalled or not self.input.has_focus
        line = self.input.document.get_line(row)
        self._completion.follow(None if idle else completion_query(line, row, column))
        self._block.set_class(self._completion.opened, "menu")
        if self._ready:
            self._block.show_hints(self.state, self.place, glyphs=self.glyphs)

    # --- text

    def _set_text(self, text: str) -> None:
        self.input.load_text(text)
        self._follow()

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self._asking:
            self._ask(asking=False)
        self._follow()
        self.post_message(DraftChanged())

    @on(TextArea.SelectionChanged)
    def _moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._follow()

    def _submit(self) -> None:
        text = self.text
        if is_blank(text):
            return
        if not text.startswith("/"):
            if self.state.not_saved is not None:
                self.post_message(SaveRetryRequested())
                return
            if self.state.elsewhere is not None:
                self._ask(asking=True)
                return
        self._history = self._history.remember(text)
        self._set_text("")
        self.post_message(Submitted(text))

    def _ask(self, *, asking: bool) -> None:
        self._asking = asking
        self._show()

    # --- keys

    def _key(self, key: str) -> bool:
        """Deal with a key before the editor sees it; say whether that was all."""
        self._follow()
        if self._asking:
            if key in _HELD_KEYS:
                self._ask(asking=False)
                self.post_message(HeldChosen(_HELD_KEYS[key], self.text))
                return True
            self._ask(asking=False)
            if key in {"escape", *self.keys.submit}:
                return True
        if self._completion.opened and self._completion.key(key, self.keys.submit):
            self._follow()
            return True
        if key in self.keys.submit:
            self._submit()
        elif key in self.keys.new_line:
            self.input.insert_text("\n")
        elif key in self.keys.editor:
            self.post_message(ExternalEditorRequested())
        elif key == "escape":
            self.post_message(InterruptRequested())
        elif key in {"ctrl+c", "super+c"}:
            self._ctrl_c()
        elif key == "up":
            return self._up()
        elif key == "down":
            return self._down()
        else:
            return False
        return True

    def _up(self) -> bool:
        if not self.input.on_first_row:
            return False
        if self.queue and not self._history.walking and is_blank(self.text):
            self.post_message(QueueEditRequested(len(self.queue) - 1))
            return True
        return self._walk(self._history.older(self.text))

    def _down(self) -> bool:
        return self.input.on_last_row and self._walk(self._history.newer())

    def _walk(self, step: tuple[PromptHistory, str] | None) -> bool:
        if step is None:
            return False
        self._history, text = step
        self._set_text(text)
        return True

    def _ctrl_c(self) -> None:
        """Copy, else clear the draft, else leave it to the screen; the history is never touched."""
        if selected := self.input.selected_text:
            self.app.copy_to_clipboard(selected)
            self.post_message(TextCopied(len(selected)))
        elif marked := self.screen.get_selected_text():
            self.app.copy_to_clipboard(marked)
            self.screen.clear_selection()
            self.post_message(TextCopied(len(marked)))
        elif self.text:
            self._history = self._history.remember(self.text)
            self._set_text("")
            self.post_message(DraftCleared())
        else:
            self.post_message(CtrlC())

    # --- the mouse, and the keys that go elsewhere

    def on_candidate_clicked(self, event: CandidateClicked) -> None:
        """Take the candidate that was clicked."""
        event.stop()
        self._completion.take(event.index)
        self.input.focus()

    def on_descendant_blur(self) -> None:
        """Nothing is completed and nothing awaited while the keys go elsewhere."""
        self._completion.forget()
        self._block.remove_class("menu")
        if self._asking:
            self._ask(asking=False)

    def on_click(self, event: events.Click) -> None:
        """Remove an attachment whose sign was clicked; a click anywhere else gives the keys to the text."""
        x, y = event.screen_x, event.screen_y
        index = self._block.attachment_at(x, y, self.state, self.place, glyphs=self.glyphs)
        if index is not None:
            event.stop()
            self.post_message(AttachmentDropRequested(index))
            return
        self.input.focus()


__all__ = ["Attachment", "Composer", "ComposerKeys", "ComposerState", "Elsewhere"]
