"""The raised block with the bar: notice, attachments, text and hints; what they say and do is the composer's."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from shipchat.tui.axis import Axis
from shipchat.tui.cells import cell_len
from shipchat.tui.glyphs import Glyphs
from shipchat.tui.widgets.composer_input import ComposerInput
from shipchat.tui.widgets.composer_state import (
    Bar,
    ComposerState,
    attachment_pieces,
    attachments_content,
    hint_content,
    notice_content,
    placeholder_text,
    tokens_content,
)

_MOST_LINES = 10
_SHARE_OF_HEIGHT = 0.4
_WIDE = 72  # cells of text from which the long hint fits beside the placeholder


class ComposerBlock(Vertical):
    """Shows a `ComposerState` around the input it is given. The class `menu` takes the accent off its bar."""

    DEFAULT_CSS = """
    ComposerBlock { height: auto; background: $raised; border-left: outer $mark; padding: 0 2 0 1; }
    ComposerBlock:focus-within { border-left: outer $accent; }
    ComposerBlock.elsewhere { border-left: outer $warning; }
    ComposerBlock.unsaved { border-left: outer $error; }
    ComposerBlock.menu { border-left: outer $mark; }
    ComposerBlock > .pad { height: 1; }
    ComposerBlock > #composer-notice { height: 1; display: none; }
    ComposerBlock > #composer-attachments { height: 1; display: none; }
    ComposerBlock > #composer-body { height: auto; layers: text hint; }
    ComposerBlock #composer-input { layer: text; }
    ComposerBlock #composer-hint { layer: hint; dock: right; width: auto; height: 1; }
    ComposerBlock > #composer-tokens { text-align: right; }
    ComposerBlock.tiny > .pad { display: none; }
    .ascii ComposerBlock { border-left: ascii $mark; }
    .ascii ComposerBlock:focus-within { border-left: ascii $accent; }
    .ascii ComposerBlock.elsewhere { border-left: ascii $warning; }
    .ascii ComposerBlock.unsaved { border-left: ascii $error; }
    .ascii ComposerBlock.menu { border-left: ascii $mark; }
    .plain ComposerBlock, .plain ComposerBlock:focus-within {
        border-left: none; border-top: solid $mark; border-bottom: solid $mark; padding: 0 2;
    }
    .plain.ascii ComposerBlock, .plain.ascii ComposerBlock:focus-within {
        border-left: none; border-top: ascii $mark; border-bottom: ascii $mark;
    }
    .plain ComposerBlock > .pad { display: none; }
    """
    SCOPED_CSS: ClassVar[bool] = False

    def __init__(self, editor: ComposerInput) -> None:
        super().__init__(id="composer-block")
        self._editor = editor
        self._notice = Static(id="composer-notice", markup=False)
        self._attachments = Static(id="composer-attachments", markup=False)
        self._hint = Static(id="composer-hint", markup=False)
        self._tokens = Static(id="composer-tokens", classes="pad", markup=False)

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(classes="pad", markup=False)
        yield self._notice
        yield self._attachments
        with Container(id="composer-body"):
            yield self._editor
            yield self._hint
        yield self._tokens

    def show(self, state: ComposerState, place: Axis, *, asking: bool, glyphs: Glyphs) -> None:
        """Draw the state; `asking`: one of the keys w, f, n is awaited."""
        width = place.text_width
        self.set_class(place.tiny, "tiny")
        for bar in (Bar.WARNING, Bar.ERROR):
            self.set_class(state.bar is bar, bar.value)
        lines = min(_MOST_LINES, int(self.screen.size.height * _SHARE_OF_HEIGHT))
        self._editor.styles.max_height = max(1, lines)
        self._editor.placeholder = placeholder_text(state, glyphs)
        notice = notice_content(state, width, asking=asking, glyphs=glyphs)
        self._notice.display = notice is not None
        if notice is not None:
            _say(self._notice, notice)
        self._attachments.display = bool(state.attachments)
        _say(self._attachments, attachments_content(state.attachments, width, glyphs=glyphs))
        self.show_hints(state, place, glyphs=glyphs)

    def show_hints(self, state: ComposerState, place: Axis, *, glyphs: Glyphs) -> None:
        """Draw what stands at the right, where the text leaves room for it. Called at every key."""
        width = place.text_width
        document = self._editor.document
        line = document.get_line(0)
        empty = document.line_count == 1 and not line
        hint = hint_content(state, empty=empty, wide=width >= _WIDE, glyphs=glyphs)
        beside = placeholder_text(state, glyphs) if empty else line[: width + 1]
        self._hint.display = bool(hint) and cell_len(beside) + hint.cell_length + 3 <= width
        _say(self._hint, hint)
        _say(self._tokens, tokens_content(state))

    def attachment_at(
        self, x: int, y: int, state: ComposerState, place: Axis, *, glyphs: Glyphs
    ) -> int | None:
        """Return the index of the attachment whose sign of removal is at this cell of the screen."""
        row = self._attachments.region
        if not (self._attachments.display and row.contains(x, y)):
            return None
        pieces = attachment_pieces(state.attachments, place.text_width, glyphs=glyphs)
        return next(
            (index for index, (_, sign, _) in enumerate(pieces) if sign <= x - row.x <= sign + 1), None
        )


def _say(widget: Static, content: Content) -> None:
    """Show `content` unless it is there: whatever is told to a Static, the whole screen is laid out anew."""
    shown = widget.content
    if not (isinstance(shown, Content) and shown.is_same(content)):
        widget.update(content)
