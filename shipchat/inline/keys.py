"""Which key does what; what is done is the screen's. Editing keys are prompt_toolkit's own (emacs or vi)."""

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, Filter, vi_insert_mode, vi_mode
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from shipchat.inline.screen import InlineScreen

# The mark that ends a paste, when a paste held one: without this it would be typed, and its Escape would stop a reply.
ANSI_SEQUENCES.setdefault("\x1b[201~", Keys.Ignore)


def key_bindings(screen: "InlineScreen") -> KeyBindings:
    """Return the keys of the conversation and of questions."""
    keys = KeyBindings()
    asking = Condition(lambda: screen.question is not None)
    _composer_keys(keys, screen, ~asking)
    _question_keys(keys, screen, asking)

    @keys.add("<sigint>")
    @keys.add("c-c")
    def _stop(_event: KeyPressEvent) -> None:
        screen.stop()

    @keys.add(Keys.Vt100MouseEvent)
    def _no_mouse(_event: KeyPressEvent) -> None:
        """Ignore what only looks like one (a colour in a paste): the mouse is never asked for."""

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    return keys


def _composer_keys(keys: KeyBindings, screen: "InlineScreen", typing: Filter) -> None:
    empty = Condition(lambda: not screen.composer.text)
    waiting = Condition(
        lambda: bool(screen.conversation.chat.queue) or screen.conversation.waiting is not None
    )
    completing = Condition(lambda: screen.composer.buffer.complete_state is not None)
    # In vi's insert mode Escape first leaves that mode, unless there is nothing to edit.
    stops = typing & (~vi_mode | ~vi_insert_mode | empty)

    @keys.add("enter", filter=typing)
    def _enter(event: KeyPressEvent) -> None:
        # More input behind Enter: it came in one piece, as a paste without marks does. That is no wish to send.
        screen.enter(in_a_burst=bool(event.app.key_processor.input_queue))

    @keys.add("c-j", filter=typing)
    @keys.add("escape", "enter", filter=typing)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=typing)
    def _paste(event: KeyPressEvent) -> None:
        screen.composer.paste(event.data)

    @keys.add("escape", filter=stops & ~completing)
    def _interrupt(_event: KeyPressEvent) -> None:
        screen.interrupt()

    @keys.add("escape", filter=typing & completing, eager=True)
    def _no_completion(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    @keys.add("tab", filter=typing)
    def _complete(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is None:
            buffer.start_completion(insert_common_part=True)
        else:
            buffer.complete_next()

    @keys.add("up", filter=typing & empty & waiting)
    def _take_back(_event: KeyPressEvent) -> None:
        screen.take_back()

    @keys.add("c-d", filter=typing & empty)
    def _leave(_event: KeyPressEvent) -> None:
        screen.leave()


def _question_keys(keys: KeyBindings, screen: "InlineScreen", asking: Condition) -> None:
    @keys.add("enter", filter=asking)
    @keys.add("c-j", filter=asking)
    def _accept(_event: KeyPressEvent) -> None:
        if screen.question is not None:
            screen.question.accept()

    @keys.add("escape", filter=asking, eager=True)
    @keys.add("c-d", filter=asking)
    def _give_up(_event: KeyPressEvent) -> None:
        if screen.question is not None:
            screen.question.give_up()

    @keys.add("up", filter=asking)
    @keys.add("c-p", filter=asking)
    def _up(_event: KeyPressEvent) -> None:
        if screen.question is not None:
            screen.question.move(-1)

    @keys.add("down", filter=asking)
    @keys.add("tab", filter=asking)
    @keys.add("c-n", filter=asking)
    def _down(_event: KeyPressEvent) -> None:
        if screen.question is not None:
            screen.question.move(1)

    @keys.add(Keys.BracketedPaste, filter=asking)
    def _paste(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(" ".join(event.data.split()))
