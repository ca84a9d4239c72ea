"""What the inline front end does for slash commands; which commands there are is the table's."""

from collections.abc import Sequence

from shipchat.commands import table
from shipchat.commands.command import CommandContext, Option, Stream, Undo
from shipchat.core.errors import UsageError
from shipchat.core.messages import UserMessage
from shipchat.inline import following, opening
from shipchat.inline.conversation import Conversation
from shipchat.sessions.chat_session import ChatSession


class InlineStage:
    """Implements `commands.command.Stage`."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    async def run(self, text: str) -> None:
        """Run the command in `text`. Raises what the command raises."""
        conversation = self._conversation
        context = CommandContext(
            conversation.services, self, conversation.chat, conversation.undo, conversation.rows
        )
        await table.run(context, text)

    def _check_idle(self) -> None:
        if self._conversation.busy:
            raise UsageError("a reply is being written here", advice=("Esc stops it.",))

    async def open_session(self, key: str | None, *, position: int | None = None) -> None:
        """Open the session `key` (None: a fresh one) and tell its end, or from `position` on."""
        self._check_idle()
        if key is None:
            await opening.open_fresh(self._conversation)
        else:
            await opening.open_key(self._conversation, key, position=position)
        await following.look_at_model(self._conversation)

    async def open_chat(self, chat: ChatSession, *, private: bool = False) -> None:
        """Open this session, which need not be stored anywhere."""
        self._check_idle()
        await chat.refresh()
        await opening.become(self._conversation, chat, private=private)
        await following.look_at_model(self._conversation)

    async def session_changed(self) -> None:
        """Show the open session as it is now."""
        conversation = self._conversation
        if not conversation.busy:
            await following.look(conversation)
        await following.look_at_model(conversation)
        conversation.face.changed()

    def show(self, title: str, lines: Sequence[str]) -> None:
        """Tell some lines."""
        self._conversation.face.teller.lines(title, lines)

    def toast(self, title: str, detail: str = "", *, undo: Undo | None = None) -> None:
        """Tell what was done and how to take it back."""
        back = "/undo takes it back" if undo is not None else ""
        self._conversation.face.teller.note(title, " · ".join(filter(None, (detail, back))))

    def warn(self, title: str, detail: str = "") -> None:
        """Tell what was not done and why."""
        self._conversation.face.teller.warn(title, detail)

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types, None when it is given up."""
        return await self._conversation.face.ask(title, value=value, note=note)

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses, None when it is given up."""
        return await self._conversation.face.choose(title, options, query=query)

    async def choose_theme(self, name: str) -> None:
        """Refuse: here the colours are the terminal's own."""
        del name
        raise UsageError("colours are the terminal's own here", advice=("Themes belong to the full screen.",))

    def themes(self) -> Sequence[str]:
        """Return none."""
        return ()

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard."""
        self._conversation.face.copy(text)

    def set_composer(self, text: str) -> None:
        """Replace what is typed."""
        self._conversation.face.set_draft(text)

    async def edit(self, position: int) -> None:
        """Let the user write the prompt at `position` anew."""
        conversation = self._conversation
        message = conversation.chat.session.find_message(position)
        if not isinstance(message, UserMessage):
            raise UsageError(f"message {position} is a reply; only prompts can be edited")
        conversation.editing = message.id
        conversation.face.set_draft(message.text)
        made = "a fork" if conversation.services.settings.edit == "fork" else "an alternative beside it"
        conversation.face.teller.note(f"Editing message {position}", f"sending makes {made}; Esc gives up")

    def start_turn(self, stream: Stream) -> None:
        """Run a turn and tell it."""
        self._conversation.start(stream)

    async def go_to(self, position: int) -> None:
        """Tell the message at `position`."""
        message = self._conversation.chat.session.find_message(position)
        self._conversation.face.teller.message(position, message)

    async def quit(self) -> None:
        """End the program."""
        self._conversation.face.leave()
