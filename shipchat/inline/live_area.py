"""The live area as prompt_toolkit's layout: the reply's unfinished row, what waits, the composer or a question, the state."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import AnyFormattedText, FormattedText
from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings
from prompt_toolkit.key_binding.bindings.open_in_editor import load_open_in_editor_bindings
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.output import Output
from prompt_toolkit.widgets import SearchToolbar

from shipchat.inline.composer import SafeInput
from shipchat.inline.output import HeldOutput
from shipchat.inline.question import Question
from shipchat.inline.rows import Row
from shipchat.inline.scrollback import rows_gained
from shipchat.inline.state_line import queue_rows, state_row
from shipchat.inline.styles import STYLE, colour_depth

if TYPE_CHECKING:
    from shipchat.inline.screen import InlineScreen

MOST_COMPOSER_ROWS = 10
REDRAW_SECONDS = 0.04
"""Drawings are at least this far apart: a fast reply is drawn 25 times a second at most."""


class InlineApplication(Application[int]):
    """An application whose area stays in place when the terminal is narrowed and wraps what was drawn.

    prompt_toolkit takes for granted that the area still has as many rows as it was drawn with; most terminals
    re-wrap it, and either its upper rows would stay in the scrollback or lines above it be lost. So the size is looked
    at when a drawing goes out, at the last moment: the signal that tells of a new one may come later.
    """

    _drawn: tuple[Screen, Point, int] | None = None

    def _redraw(self, render_as_done: bool = False) -> None:
        output = self.output
        if not isinstance(output, HeldOutput):
            super()._redraw(render_as_done)
            return
        output.hold()
        before = self.render_counter
        super()._redraw(render_as_done)
        if self.render_counter == before:
            return  # something else has the terminal, an editor for example: what is held waits for its end
        columns = output.get_size().columns
        gained = 0
        if self._drawn is not None and columns < self._drawn[2] and rewraps():
            gained = rows_gained(*self._drawn[:2], columns)
        output.release(gained)
        screen = self.renderer.last_rendered_screen
        cursor = None if screen is None else screen.get_cursor_position(self.layout.current_window)
        self._drawn = None if screen is None or cursor is None else (screen, cursor, columns)

    def _on_resize(self) -> None:
        self._redraw()


def rewraps() -> bool:
    """Return whether the terminal re-wraps its lines when it is narrowed; the few that cut them off name themselves."""
    import os

    term = os.environ.get("TERM", "")
    if os.environ.get("XTERM_VERSION") or term.startswith(("rxvt", "linux", "st-", "pyte")):
        return False
    return not term.startswith("screen") or bool(os.environ.get("TMUX"))


def live_application(
    screen: "InlineScreen", keys: KeyBindings, output: Output, *, vi: bool
) -> InlineApplication:
    """Return the application that draws `screen` and feeds it keys."""
    app = InlineApplication(
        layout=_layout(screen),
        key_bindings=merge_key_bindings([load_open_in_editor_bindings(), keys]),
        style=STYLE,
        color_depth=colour_depth(),
        editing_mode=EditingMode.VI if vi else EditingMode.EMACS,
        output=output,
        erase_when_done=True,
        min_redraw_interval=REDRAW_SECONDS,
        max_render_postpone_time=REDRAW_SECONDS,
    )
    app.ttimeoutlen = 0.05  # seconds in which the rest of an escape sequence comes, also over a slow link
    app.timeoutlen = 0.2  # and in which Escape may still become Alt
    return app


def _layout(screen: "InlineScreen") -> Layout:
    search = SearchToolbar(vi_mode=False)
    asking = Condition(lambda: screen.question is not None)
    composer = Window(
        BufferControl(
            buffer=screen.composer.buffer,
            input_processors=[
                SafeInput(),
                ConditionalProcessor(
                    AfterInput(screen.placeholder, style="class:placeholder"),
                    Condition(lambda: not screen.composer.text),
                ),
            ],
            search_buffer_control=search.control,
            preview_search=True,
        ),
        height=Dimension(min=1, max=MOST_COMPOSER_ROWS),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=lambda _line, _wrap: [("class:accent", "▌ ")],
    )
    body = HSplit(
        [
            _rows(screen.tail_rows),
            _row(lambda: ""),
            _rows(lambda width: queue_rows(screen.conversation, width)),
            ConditionalContainer(composer, ~asking),
            ConditionalContainer(DynamicContainer(lambda: screen.question_view), asking),
            ConditionalContainer(
                VSplit(
                    [Window(width=2, dont_extend_height=True), CompletionsMenu(max_height=8, scroll_offset=1)]
                ),
                Condition(lambda: screen.composer.buffer.complete_state is not None) & ~asking,
            ),
            search,
            _rows(lambda width: [[("", "  "), *state_row(screen.conversation, width, hint=screen.hint)]]),
        ]
    )
    return Layout(body, focused_element=composer)


def question_view(question: Question) -> HSplit:
    """Return the container that shows a question in place of the composer."""
    note = f"  {question.note}" if question.note else ""
    keys = "Enter chooses · Esc gives up" if question.chosen else "Enter takes it · Esc gives up"
    return HSplit(
        [
            _row(lambda: [("class:strong", f"  {question.title}"), ("class:muted", f"{note}   {keys}")]),
            Window(
                BufferControl(buffer=question.buffer, input_processors=[SafeInput()]),
                height=Dimension(min=1, max=3),
                wrap_lines=True,
                dont_extend_height=True,
                get_line_prefix=lambda _line, _wrap: [("class:accent", "▌ ")],
            ),
            _rows(question.rows),
        ]
    )


def _row(text: Callable[[], AnyFormattedText]) -> Window:
    return Window(FormattedTextControl(text), height=1, dont_extend_height=True)


def _rows(rows: Callable[[int], list[Row]]) -> ConditionalContainer:
    """Return a window as high as the rows that `rows` gives for the width it has; none, when there are none."""
    state: dict[str, Any] = {"rows": []}

    def fragments() -> FormattedText:
        joined: Row = []
        for index, row in enumerate(state["rows"]):
            joined += [("", "\n") if index else ("", ""), *row]
        return FormattedText(joined)

    def any_rows() -> bool:
        from prompt_toolkit.application import get_app

        # One cell on the right stays free: what is drawn must not fill a row, terminals differ in what happens then.
        state["rows"] = rows(max(get_app().output.get_size().columns - 4, 8))
        return bool(state["rows"])

    window = Window(
        FormattedTextControl(fragments),
        height=lambda: Dimension.exact(len(state["rows"])),
        dont_extend_height=True,
    )
    return ConditionalContainer(window, Condition(any_rows))
