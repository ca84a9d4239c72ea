"""What a slash command is: a name, what it takes, what it does; and what it needs of the front end it runs in."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from shipchat.commands.services import Services
from shipchat.core.events import SessionEvent
from shipchat.core.summaries import SessionSummary
from shipchat.sessions.chat_session import ChatSession

Stream: TypeAlias = AsyncGenerator[SessionEvent]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose from; `detail` says more of it, `current` that it is what is in use."""

    id: str
    label: str
    detail: str = ""
    group: str = ""
    current: bool = False


class Undo(Protocol):
    """Takes something back."""

    async def __call__(self) -> None:
        """Do it."""
        ...


class Stage(Protocol):
    """What a front end can do for a command. Texts are shown as they are: the front end makes them safe."""

    async def open_session(self, key: str | None, *, position: int | None = None) -> None:
        """Show the session `key` (None: a fresh one), at the message with this position if given."""
        ...

    async def open_chat(self, chat: ChatSession, *, private: bool = False) -> None:
        """Show this session, which need not be stored anywhere."""
        ...

    async def session_changed(self) -> None:
        """Show the open session as it is now."""
        ...

    def show(self, title: str, lines: Sequence[str]) -> None:
        """Show some lines to read."""
        ...

    def toast(self, title: str, detail: str = "", *, undo: Undo | None = None) -> None:
        """Say briefly what was done and how to take it back."""
        ...

    def warn(self, title: str, detail: str = "") -> None:
        """Say briefly what was not done and why."""
        ...

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:
        """Return a line that the user types, None when it is given up."""
        ...

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:
        """Return the id of what the user chooses, None when it is given up."""
        ...

    async def choose_theme(self, name: str) -> None:
        """Use the theme `name`; with an empty name let the user choose."""
        ...

    def themes(self) -> Sequence[str]:
        """Return the names of all themes."""
        ...

    def copy(self, text: str) -> None:
        """Put `text` on the clipboard."""
        ...

    def set_composer(self, text: str) -> None:
        """Replace what is typed."""
        ...

    async def edit(self, position: int) -> None:
        """Let the user write the prompt at `position` anew."""
        ...

    def start_turn(self, stream: Stream) -> None:
        """Run a turn and show it."""
        ...

    async def go_to(self, position: int) -> None:
        """Bring the message at `position` into view."""
        ...

    async def quit(self) -> None:
        """End the program."""
        ...


@dataclass(slots=True)
class UndoLog:
    """What can be taken back, newest last."""

    steps: list[tuple[str, Undo]] = field(default_factory=list)

    def add(self, title: str, undo: Undo) -> None:
        """Remember how to take back what `title` says."""
        self.steps.append((title, undo))
        del self.steps[:-50]

    def take(self) -> tuple[str, Undo] | None:
        """Return the newest and forget it, None when there is none."""
        return self.steps.pop() if self.steps else None

    def forget(self, undo: Undo) -> None:
        """Forget a step that was taken back another way."""
        self.steps[:] = [step for step in self.steps if step[1] is not undo]


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command works with: the open session, the services, the front end.

    `rows` are the sessions as last listed, newest first or not: for completion, which must not read the disk.
    """

    services: Services
    stage: Stage
    chat: ChatSession
    undo: UndoLog
    rows: Iterable[SessionSummary] = ()


Run: TypeAlias = Callable[[CommandContext, str], Awaitable[None]]
Complete: TypeAlias = Callable[[CommandContext, str], Sequence[Option]]


def nothing(_context: CommandContext, _prefix: str) -> Sequence[Option]:
    """Complete nothing."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`/name arguments`: `about` says in a few words what it does, `arguments` what may follow (`[N]`).

    `takes_lines`: the argument may be a text of several lines.
    """

    name: str
    run: Run
    about: str
    arguments: str = ""
    aliases: tuple[str, ...] = ()
    takes_lines: bool = False
    complete: Complete = nothing
