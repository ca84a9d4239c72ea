"""The inline screen: hands keys to the conversation, what it tells to the scrollback, its state to the live area."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import Final

from prompt_toolkit.formatted_text import AnyFormattedText
from prompt_toolkit.layout import AnyContainer, Window
from prompt_toolkit.output import Output

from shipchat.commands import table
from shipchat.commands.command import CommandContext, Option
from shipchat.commands.services import Services
from shipchat.core.errors import ShipchatError
from shipchat.inline import following
from shipchat.inline.completion import ChatCompleter
from shipchat.inline.composer import Composer
from shipchat.inline.conversation import Conversation
from shipchat.inline.keys import key_bindings
from shipchat.inline.live_area import live_application, question_view
from shipchat.inline.prompt_history import PromptHistory
from shipchat.inline.question import Question
from shipchat.inline.rich_teller import RichTeller
from shipchat.inline.rows import Row, row_cells, split
from shipchat.inline.scrollback import Scrollback
from shipchat.inline.stage import InlineStage

ROWS_AGE: Final = 3.0
"""Seconds after which the list of sessions is read again for completion."""

PLACEHOLDER: Final = "Write a message…   Enter sends · Ctrl+J new line · / commands"
SHORT_PLACEHOLDER: Final = "Write a message…   / commands"


class InlineScreen:
    """Implements `face.Face`."""

    def __init__(self, services: Services, output: Output) -> None:
        self.question: Question | None = None
        self.question_view: AnyContainer = Window(height=1)
        self._left = False
        self.hint = ""
        self.composer = Composer(ChatCompleter(self._context), self._typed)
        self._output = output
        self._history = PromptHistory(services.directories.data)
        self._rows_read = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self.conversation = Conversation(services, self, services.chats.open(None))
        self._stage = InlineStage(self.conversation)
        self.app = live_application(self, key_bindings(self), output, vi=services.settings.editing == "vi")
        self._scrollback = Scrollback(self.app)
        self._teller = RichTeller(self._put, self.columns)

    @property
    def teller(self) -> RichTeller:
        """Who tells."""
        return self._teller

    @property
    def stage(self) -> InlineStage:
        """What commands work with."""
        return self._stage

    def columns(self) -> int:
        """Return the width of the terminal in cells."""
        return self._output.get_size().columns

    # --- what is drawn ---

    def _put(self, rows: Iterable[Row]) -> None:
        self._scrollback.print(rows)

    def tail_rows(self, width: int) -> list[Row]:
        """Return the unfinished row of the reply, its end when it is too long."""
        row = self._teller.tail
        if not any(text.strip() for _, text in row):
            return []
        while (over := row_cells(row) - width) > 0:
            style, text = row[0]
            gone, rest = split(text, over)
            if not gone:  # a wide character that is only half too far left
                rest = text[1:]
            row = [(style, rest), *row[1:]] if rest else row[1:]
        return [row]

    def placeholder(self) -> AnyFormattedText:
        """Return what stands in the empty composer."""
        if self.conversation.busy:
            return "Enter queues · Esc stops"
        return PLACEHOLDER if self.columns() >= 80 else SHORT_PLACEHOLDER

    def changed(self) -> None:
        """Show the state as it is now."""
        self.app.invalidate()

    # --- keys ---

    def enter(self, *, in_a_burst: bool) -> None:
        """Take what is typed: a completion that is chosen, else send it or run the command."""
        buffer = self.composer.buffer
        state = buffer.complete_state
        if state is not None and state.current_completion is not None:
            buffer.complete_state = None
            if buffer.text.endswith(" ") or not buffer.text.startswith("/") or " " in buffer.text:
                return
        if in_a_burst:
            buffer.insert_text("\n")
            return
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
            return
        if buffer.text.strip():
            self.do(self._submit(self.composer.take()))

    async def _submit(self, text: str) -> None:
        conversation = self.conversation
        try:
            if table.is_command(text):
                self._teller.said(text)
                await self._stage.run(text)
            else:
                await conversation.send(text)
                if not conversation.private:
                    await asyncio.to_thread(self._history.append, conversation.chat.key, text)
        except ShipchatError:
            self.restore(text)
            raise

    def interrupt(self) -> None:
        """Stop the reply."""
        self.conversation.interrupt()

    def stop(self) -> None:
        """Do what Ctrl-C does next: give a question up, clear the draft, stop the reply, ask to leave, leave."""
        if self.question is not None:
            self.question.give_up()
        elif self.composer.text:
            self.composer.take()
        elif self.conversation.interrupt():
            pass
        elif self.hint:
            self.leave()
        else:
            self.hint = "Ctrl+C again leaves"
            self.app.invalidate()

    def take_back(self) -> None:
        """Put the last queued prompt into the composer."""

        async def take() -> None:
            text = await self.conversation.take_back()
            if text is not None:
                self.composer.restore(text)

        self.do(take())

    def do(self, work: Awaitable[None]) -> None:
        """Do something in the background; what goes wrong is told."""

        async def done() -> None:
            try:
                await work
            except ShipchatError as error:
                self._teller.error(error)
            except Exception as error:  # noqa: BLE001 -- a bug: it ends the program in order, and is reported
                self.crashed(error)

        task = asyncio.ensure_future(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _typed(self, text: str) -> None:
        self.hint = ""
        self.conversation.drafts.keep(text)

    # --- the face of the conversation ---

    async def load(self, text: str, prompts: Sequence[str]) -> None:
        """Show the draft kept for the session that is open now, with its prompts behind Up."""
        key = self.conversation.chat.key
        earlier = await asyncio.to_thread(lambda: self._history.read(without=key))
        typed = self.composer.text  # while another session was open: it stays what is being typed
        self.composer.use_history([*earlier, *prompts])
        self.composer.set("\n".join(filter(None, (text, typed))))
        if self._history.problem is not None:
            problem, self._history.problem = self._history.problem, None
            self._teller.warn(problem)

    def restore(self, text: str) -> None:
        """Give back a text that was not sent."""
        self.composer.restore(text)

    def set_draft(self, text: str) -> None:
        """Replace what is typed."""
        self.composer.set(text)

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard of the terminal (OSC 52), which works through ssh as well."""
        from base64 import b64encode

        data = b64encode(text.encode("utf-8", "replace")).decode("ascii")
        self._output.write_raw(f"\x1b]52;c;{data}\x07")
        self._output.flush()

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types."""
        return await self._answer(Question(title, note, value=value))

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses."""
        return await self._answer(Question(title, value=query, options=options))

    async def _answer(self, question: Question) -> str | None:
        if self.question is not None:
            self.question.give_up()
        self.question = question
        self.question_view = question_view(question)
        self.app.layout.focus(question.buffer)
        self.app.invalidate()
        try:
            return await question.answer
        finally:
            if self.question is question:
                self.question, self.question_view = None, Window(height=1)
                self.app.layout.focus(self.composer.buffer)
                self.app.invalidate()

    def leave(self, code: int = 0) -> None:
        """End the conversation."""
        if self.app.is_running and not self._left:
            self._left = True
            self.app.exit(result=code)

    def crashed(self, error: BaseException) -> None:
        """End in order and raise `error`."""
        if self.app.is_running and not self._left:
            self._left = True
            self.app.exit(exception=error)

    # --- from the first drawing to the end ---

    def follow(self) -> None:
        """Begin to follow what happens elsewhere, and count the seconds of a reply."""
        self.do(following.look_at_model(self.conversation))
        self.do(following.follow(self.conversation))
        self.do(self._tick())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self.conversation.busy:
                self.app.invalidate()

    async def close(self) -> None:
        """Stop what runs, wait until it is stored, and let go of everything."""
        for task in self._tasks:
            task.cancel()
        await self.conversation.close()

    async def _context(self) -> CommandContext:
        loop = asyncio.get_running_loop()
        conversation = self.conversation
        if loop.time() - self._rows_read > ROWS_AGE or not conversation.rows:
            conversation.rows = await asyncio.to_thread(lambda: list(conversation.store.summaries()))
            self._rows_read = loop.time()
        return CommandContext(
            conversation.services, self._stage, conversation.chat, conversation.undo, conversation.rows
        )
