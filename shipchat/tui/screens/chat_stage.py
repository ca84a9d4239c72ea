"""What the chat screen does for slash commands; which commands there are is the table's."""

import asyncio
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from shipchat.commands.command import Option, Stream, Undo
from shipchat.commands.file_names import matching_files
from shipchat.commands.table import complete_argument, complete_name
from shipchat.core.errors import SessionNotFound, UsageError
from shipchat.core.messages import UserMessage
from shipchat.sessions.chat_session import ChatSession
from shipchat.tui.screens.ask import AskScreen
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.screens.edit_text import EditTextScreen
from shipchat.tui.screens.lines import LinesScreen
from shipchat.tui.screens.theme_picker import ThemePickerScreen
from shipchat.tui.start import Start
from shipchat.tui.widgets.choice_rows import Choice
from shipchat.tui.widgets.completion import Candidate, CompletionQuery
from shipchat.tui.widgets.toast import Toast, ToastKind

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


class ChatStage:
    """Implements `commands.command.Stage`."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._undos: dict[str, Undo] = {}
        self._numbers = count(1)

    # --- sessions ---

    async def open_first(self, start: Start) -> None:
        """Open what the program was started for; when that can't be, a fresh session, and say why."""
        screen, window = self._screen, self._screen.window
        text = ""
        if start.private:
            text = await window.open_private(screen.services.chats.private(model=start.model))
        else:
            key = start.key
            if key is None:
                try:
                    key = await asyncio.to_thread(screen.services.sessions.newest)
                except SessionNotFound:
                    text = await window.drafts_of_fresh()
            if key is not None:
                text = await window.open_key(key, read_only=start.read_only)
        screen.view.show_session(at=start.position)
        await self.load_draft(text)
        screen.turns.offer_queue(window.opened)

    async def open_session(self, key: str | None, *, position: int | None = None) -> None:
        """Show the session `key` (None: a fresh one), at the message with this position if given."""
        window = self._screen.window
        await self._keep_draft()
        text = await window.open_fresh() if key is None else await window.open_key(key)
        await self._opened(text, position)

    async def open_chat(self, chat: ChatSession, *, private: bool = False) -> None:
        """Show this session, which need not be stored anywhere."""
        await self._keep_draft()
        if private:
            await chat.refresh()
        await self._opened(await self._screen.window.open_chat(chat, private=private), None)

    async def _keep_draft(self) -> None:
        window, view = self._screen.window, self._screen.view
        window.drafts.keep(view.composer.text)

    async def _opened(self, text: str, position: int | None) -> None:
        screen = self._screen
        screen.view.asking_model = False
        screen.view.show_session(at=position)
        await self.load_draft(text)
        screen.turns.offer_queue(screen.window.opened)
        screen.models.look_at_model()
        screen.view.show_rows()
        if screen.window.opened.chat.exists and screen.window.opened.key not in screen.window.rows:
            screen.do(screen.following.poll_now())  # made a moment ago, a fork say
        if screen.view.drawer_open:
            screen.view.close_sidebar()
        screen.view.focus()

    async def load_draft(self, text: str) -> None:
        """Put the text kept for the open session into the composer, with its prompts behind Up."""
        view, session = self._screen.view, self._screen.window.opened.session
        prompts = (
            message.text
            for message in session.messages(max(1, len(session.path) - 1000))
            if isinstance(message, UserMessage)
        )
        view.composer.set_history(prompts)
        view.composer.load(text)

    async def session_changed(self) -> None:
        """Show the open session, and the list, as they are now."""
        screen = self._screen
        opened = screen.window.opened
        if opened.chat.exists and not opened.damaged:
            opened.take_look(await opened.chat.look())
        screen.view.show_messages()
        screen.view.show_state()
        screen.models.look_at_model()
        await screen.following.poll_now()

    # --- saying and asking ---

    def show(self, title: str, lines: Sequence[str]) -> None:
        """Show some lines to read."""
        self._screen.app.push_screen(LinesScreen(title, lines, glyphs=self._screen.view.glyphs))

    def toast(self, title: str, detail: str = "", *, undo: Undo | None = None) -> None:
        """Say briefly what was done and how to take it back."""
        name: str | None = None
        if undo is not None:
            name = f"undo-{next(self._numbers)}"
            self._undos = {name: undo, **dict(list(self._undos.items())[:9])}
        typing = self._screen.view.composer.input.has_focus
        self._screen.view.toasts.show(
            Toast(
                title,
                detail,
                undo=name,
                undo_key="/undo" if typing else "u",
                undo_word="" if typing else "undo",
            )
        )

    def warn(self, title: str, detail: str = "") -> None:
        """Say briefly what was not done and why."""
        self._screen.view.toasts.show(Toast(title, detail, ToastKind.WARNING))

    async def undo(self, name: str) -> None:
        """Take back what the toast with this name said."""
        undo = self._undos.pop(name, None)
        if undo is not None:
            self._screen.window.undo.forget(undo)
            await undo()

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types, None when it is given up."""
        return await self.wait_for(AskScreen(title, value=value, note=note, glyphs=self._screen.view.glyphs))

    async def edit_text(self, title: str, text: str) -> str | None:
        """Return a text as the user left it, None when it is given up."""
        return await self.wait_for(EditTextScreen(title, text, glyphs=self._screen.view.glyphs))

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses, None when it is given up."""
        choices = [Choice(one.id, one.label, one.detail, "", one.group, one.current) for one in options]
        return await self.wait_for(ChooseScreen(title, choices, query=query, glyphs=self._screen.view.glyphs))

    async def wait_for(self, dialog: ModalScreen[str | None]) -> str | None:
        """Show a dialog and return its result."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def answered(result: str | None) -> None:
            if not answer.done():
                answer.set_result(result)

        self._screen.app.push_screen(dialog, answered)
        return await answer

    # --- theme ---

    async def choose_theme(self, name: str) -> None:
        """Use the theme `name`; with an empty name let the user choose, looking at each."""
        screen = self._screen
        host = screen.host
        if name and name not in host.themes_found:
            raise UsageError(
                f"there is no theme {name!r}", advice=(f"There are: {', '.join(host.themes_found)}",)
            )
        chosen: str | None = name
        if not name:
            picker = ThemePickerScreen(
                host.themes_found.values(), host.theme_name, host.use_theme, glyphs=screen.view.glyphs
            )
            chosen = await self.wait_for(picker)
        if chosen:
            host.use_theme(chosen)
            screen.preferences.theme = chosen
            await asyncio.to_thread(screen.preferences.keep, "theme", chosen)

    def themes(self) -> Sequence[str]:
        """Return the names of all themes."""
        return tuple(self._screen.host.themes_found)

    # --- text ---

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard."""
        self._screen.app.copy_to_clipboard(text)

    def set_composer(self, text: str) -> None:
        """Replace what is typed."""
        self._screen.view.composer.load(text)
        self._screen.view.focus()

    async def edit(self, position: int) -> None:
        """Let the user write the prompt at `position` anew."""
        self._screen.turns.begin_edit(position)

    def start_turn(self, stream: Stream) -> None:
        """Run a turn and show it."""
        self._screen.turns.start(stream)

    async def go_to(self, position: int) -> None:
        """Bring the message at `position` into view."""
        view, opened = self._screen.view, self._screen.window.opened
        opened.show_position(position)
        view.show_messages()
        view.transcript.focus()
        view.transcript.choose(opened.session.path[position - 1], reveal=False)
        view.transcript.scroll_to_position(position)

    async def quit(self) -> None:
        """End the program."""
        await self._screen.host.leave()

    # --- completion ---

    def candidates(self, query: CompletionQuery) -> Sequence[Candidate]:
        """Offer slash commands, what may stand behind one, and files behind an `@`."""
        if query.sign == "@":
            return [Candidate(f"@{name}") for name in matching_files(query.text)]
        if query.command:
            offered = complete_argument(self._screen.context, query.command, query.text)
            return [Candidate(option.id, option.detail) for option in offered]
        return [Candidate(option.id, option.detail) for option in complete_name(query.text)]
