"""The desk for the transcript: copies, edits, retries and forks messages, flips siblings, loads what lies before."""

import webbrowser
from typing import TYPE_CHECKING

from shipchat.commands.command import Option
from shipchat.commands.on_sessions import fork_at
from shipchat.commands.on_turns import model
from shipchat.core.errors import UsageError
from shipchat.core.messages import UserMessage
from shipchat.tui.messages import OwnMessage
from shipchat.tui.widgets.toast import Toast
from shipchat.tui.widgets.transcript_messages import (
    Action,
    CopyCode,
    FoldToggled,
    LinkActivated,
    LoadMore,
    MessageAction,
    MessageFocused,
    SiblingFlip,
    TranscriptLeft,
    ViewMoved,
)

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


class MessageDesk:
    """Deals with what is wanted of messages."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is the transcript's; return whether it was."""
        screen = self._screen
        match message:
            case MessageAction(item_id=item_id, action=action):
                screen.do(self._act(item_id, action))
            case CopyCode(code=code):
                screen.stage.copy(code)
            case LinkActivated(url=url):
                # A browser is a program of the user's; the transcript lets only http, https and mailto get here.
                screen.run_worker(lambda: webbrowser.open(url), thread=True, exit_on_error=False)
            case SiblingFlip(item_id=item_id, direction=direction):
                screen.do(self._flip(item_id, direction))
            case ViewMoved(position=position, at_end=at_end):
                screen.view.show_place(position, at_end=at_end)
            case LoadMore():
                screen.window.opened.show_more()
                screen.view.show_messages()
            case TranscriptLeft():
                screen.view.focus()
            case MessageFocused() | FoldToggled():
                pass
            case _:
                return False
        return True

    async def _act(self, item_id: str, action: Action) -> None:
        screen = self._screen
        opened = screen.window.opened
        match action:
            case "copy":
                text = screen.view.transcript.markdown_of(item_id)
                screen.stage.copy(text)
                screen.view.toasts.show(Toast("Copied", f"{len(text):,} characters, as Markdown"))
            case "edit":
                screen.turns.begin_edit(self._prompt_of(item_id))
            case "retry":
                screen.turns.start(opened.chat.regenerate(item_id))
            case "continue":
                if item_id != opened.session.head:
                    raise UsageError("only the last reply can be continued")
                screen.turns.start(opened.chat.continue_reply())
            case "fork":
                if opened.private:
                    raise UsageError("a private session can't be forked: nothing of it is stored")
                await fork_at(screen.context, opened.key, self._position(item_id))
            case "model":
                await model(screen.context, "")
                screen.turns.start(opened.chat.regenerate(item_id))
            case "pin":
                await self._pin(item_id)
            case "more":
                await self._more(item_id)

    async def _more(self, item_id: str) -> None:
        position = self._position(item_id)
        pins = self._screen.window.opened.session.pins
        options: list[tuple[Action, str, str]] = [
            ("copy", "Copy as Markdown", "c"),
            ("edit", "Edit and send again", "e"),
            ("retry", "Another reply", "r"),
            ("model", "Another reply by another model", ""),
            ("fork", "Fork from here", "f"),
            ("pin", "Take the pin off" if item_id in pins else "Pin: the model always sees it", "p"),
        ]
        chosen = await self._screen.stage.choose(
            f"Message {position}", [Option(action, label, key) for action, label, key in options]
        )
        if chosen is not None:
            await self._act(item_id, next(action for action, _, _ in options if action == chosen))

    async def _pin(self, item_id: str) -> None:
        screen, opened = self._screen, self._screen.window.opened
        position = self._position(item_id)  # a reply that is being written can't be pinned yet
        if item_id in opened.session.pins:
            await opened.chat.set(unpin=item_id)
            said = f"Message {position} is pinned no more", ""
        else:
            await opened.chat.set(pin=item_id)
            said = f"Message {position} is pinned", "the model always sees it"
        screen.view.show_messages()
        screen.view.toasts.show(Toast(*said))

    async def _flip(self, item_id: str, direction: int) -> None:
        screen, opened = self._screen, self._screen.window.opened
        if opened.turning:
            raise UsageError("a reply is being written", advice=("Esc stops it.",))
        tree = opened.session.tree
        siblings = tree.siblings(item_id)
        index = siblings.index(item_id) + direction
        if 0 <= index < len(siblings):
            await opened.chat.go_to(tree.newest_below(siblings[index]))
            screen.view.show_messages()
            screen.view.show_state()
            screen.view.transcript.choose(siblings[index])

    def _position(self, item_id: str) -> int:
        position = self._screen.window.opened.session.position_of(item_id)
        if position is None:
            raise UsageError("this message is not finished yet")
        return position

    def _prompt_of(self, item_id: str) -> int:
        """Return the position of the prompt that a message is, or answers to."""
        session = self._screen.window.opened.session
        position = self._position(item_id)
        while position > 1 and not isinstance(session.find_message(position), UserMessage):
            position -= 1
        return position
