"""The plain form of the inline front end: lines in, lines out; for screen readers, logs and terminals that can't redraw.

Each line is a prompt. A line that ends with a backslash goes on with the next one, and lines between two lines of
three quotes are one prompt: without redrawing there is no way to tell a paste from typing. While a reply is written
the terminal keeps what is typed, and it is read afterwards.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Final, TypeAlias

from shipchat.commands import table
from shipchat.commands.command import Option
from shipchat.commands.services import Services
from shipchat.core.errors import ShipchatError, UsageError
from shipchat.core.safe_text import safe_line
from shipchat.inline import following
from shipchat.inline.conversation import Conversation
from shipchat.inline.opening import begin
from shipchat.inline.plain_teller import PlainTeller
from shipchat.inline.stage import InlineStage
from shipchat.inline.start import InlineStart

PROMPT: Final = "you> "
MORE: Final = "...> "
QUOTES: Final = '"""'
MOST_OPTIONS: Final = 20

Handler: TypeAlias = Callable[[int, FrameType | None], object]


class PlainFace:
    """Implements `face.Face` with `input()`."""

    def __init__(self, services: Services, *, whole_lines: bool) -> None:
        self._teller = PlainTeller(whole_lines=whole_lines)
        self.left = False
        self.code = 0
        self.conversation = Conversation(services, self, services.chats.open(None))
        self.stage = InlineStage(self.conversation)
        self.prefill = ""
        self.crash: BaseException | None = None

    @property
    def teller(self) -> PlainTeller:
        """Who tells."""
        return self._teller

    def changed(self) -> None:
        """Show nothing: states are told when they matter."""

    async def load(self, text: str, prompts: Sequence[str]) -> None:
        """Put the draft kept for the session into the next line, with its prompts behind Up."""
        with contextlib.suppress(ImportError):
            import readline

            readline.clear_history()
            for prompt in prompts:
                readline.add_history(safe_line(prompt))
        self.set_draft(text)

    def restore(self, text: str) -> None:
        """Put a text that was not sent into the next line."""
        self.conversation.drafts.keep(text)
        self.set_draft(text)

    def set_draft(self, text: str) -> None:
        """Put `text` into the next line, to be changed; several lines become one there."""
        self.prefill = safe_line(text)

    def copy(self, text: str) -> None:
        """Refuse: a plain terminal has no clipboard that can be reached."""
        del text
        key = self.conversation.chat.key
        raise UsageError("nothing can be copied from here", advice=(f"shipchat show {key} prints it.",))

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types; an empty one gives up."""
        print(
            safe_line(f"{title}: {note} (empty: give up)" if note else f"{title} (empty: give up)"),
            flush=True,
        )
        answer = read_line(MORE, value)
        return answer or None

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses by number or name; an empty line gives up."""
        del query
        print(safe_line(f"{title}:"), flush=True)
        for number, one in enumerate(options[:MOST_OPTIONS], 1):
            print(safe_line(f"{number}. {one.label or one.id}  {one.detail}".rstrip()), flush=True)
        if len(options) > MOST_OPTIONS:
            print(f"and {len(options) - MOST_OPTIONS:,} more, by name", flush=True)
        answer = (read_line("number or name> ") or "").strip()
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= min(len(options), MOST_OPTIONS):
            return options[int(answer) - 1].id
        named = [one.id for one in options if answer and answer in (one.id, one.label)]
        if answer and len(named) != 1:
            raise UsageError(
                f"{answer!r} is none of these" if not named else f"{answer!r} is more than one of these"
            )
        return named[0] if named else None

    def leave(self, code: int = 0) -> None:
        """End after this line."""
        self.left, self.code = True, code

    def crashed(self, error: BaseException) -> None:
        """Raise `error` once the turn is over."""
        self.crash = error


def run_plain(services: Services, start: InlineStart) -> int:
    """Hold a conversation line by line until the end of the input; return the exit code."""
    os.environ["TERM"] = "dumb"  # readline then edits without escape sequences
    with contextlib.suppress(ImportError):
        import readline

        readline.parse_and_bind("set enable-bracketed-paste off")
    with asyncio.Runner() as runner, _signals():
        face = runner.run(_made(services, start))
        try:
            while not face.left:
                runner.run(_look(face))
                text = _read_prompt(face)
                if text is None:
                    break
                if text.strip():
                    runner.run(_take(face, text))
            return face.code
        finally:
            runner.run(_closed(face, services))


async def _made(services: Services, start: InlineStart) -> PlainFace:
    face = PlainFace(services, whole_lines=start.plain)
    await begin(face.conversation, start)
    return face


async def _look(face: PlainFace) -> None:
    try:
        await following.look(face.conversation)
    except ShipchatError as error:
        face.teller.error(error)


async def _take(face: PlainFace, text: str) -> None:
    """Send a prompt or run a command, and wait for the end of the turn; Ctrl-C interrupts it, other signals end all."""
    conversation = face.conversation
    loop = asyncio.get_running_loop()

    def stop(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGINT:
            face.leave(128 + number)
        loop.call_soon_threadsafe(conversation.interrupt)

    conversation.drafts.keep("")  # on disk once the prompt is
    try:
        with _handled(dict.fromkeys((signal.SIGINT, *_ending()), stop)):
            if table.is_command(text):
                await face.stage.run(text)
            else:
                await conversation.send(text)
            await conversation.idle()
    except ShipchatError as error:
        face.teller.error(error)
    if face.crash is not None:
        raise face.crash


async def _closed(face: PlainFace, services: Services) -> None:
    from shipchat.inline.run import say_how_to_go_on

    try:
        await face.conversation.close()
    finally:
        await services.models.close()
        with contextlib.suppress(OSError):
            say_how_to_go_on(face.conversation)


def _read_prompt(face: PlainFace) -> str | None:
    """Return the next prompt, empty when it was given up with Ctrl-C, None at the end of the input."""
    value, face.prefill = face.prefill, ""
    line = read_line(PROMPT, value)
    if line is None:
        return None
    lines: list[str] = []
    if line.strip() == QUOTES:
        while (line := read_line(MORE)) is not None and line.strip() != QUOTES:
            lines.append(line)
        return "\n".join(lines)
    while line is not None and line.endswith("\\"):
        lines.append(line[:-1])
        line = read_line(MORE)
    return "\n".join([*lines, line or ""])


def read_line(prompt: str, value: str = "") -> str | None:
    """Return a line from the terminal, `value` standing in it to begin with; empty after Ctrl-C, None at the end."""
    with _prefilled(value):
        try:
            return input(prompt)
        except KeyboardInterrupt:
            print(flush=True)
            return ""
        except EOFError:
            print(flush=True)
            return None


@contextlib.contextmanager
def _prefilled(value: str) -> Iterator[None]:
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_startup_hook((lambda: readline.insert_text(value)) if value else None)
    try:
        yield
    finally:
        readline.set_startup_hook(None)


def _ending() -> list[signal.Signals]:
    return [one for name in ("SIGTERM", "SIGHUP") if (one := getattr(signal, name, None)) is not None]


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Let Ctrl-C interrupt a line that is typed, and let signals that end programs end this one in order."""
    with _handled({signal.SIGINT: signal.default_int_handler, **dict.fromkeys(_ending(), _end)}):
        yield


@contextlib.contextmanager
def _handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # while a line is read; asyncio lets it through as well
