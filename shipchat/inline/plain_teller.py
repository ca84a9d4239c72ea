"""Tells a conversation line by line on standard output: words for roles and states, no colours, nothing drawn twice."""

from collections.abc import Sequence

from shipchat.core.errors import ShipchatError
from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    MessageSaved,
    Notice,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from shipchat.core.messages import AssistantMessage, AttachmentPart, Message, TextPart, ToolCallPart
from shipchat.core.safe_text import safe_line, safe_text
from shipchat.core.session import Session
from shipchat.inline.told import ending_of, file_line, tool_line


class PlainTeller:
    """Implements `face.Teller`.

    A reply is printed as it comes, or in whole lines: a screen reader would read a line again with each piece.
    """

    def __init__(self, *, whole_lines: bool) -> None:
        self._whole_lines = whole_lines
        self._begun = ""  # what stands at the beginning of the next line of a reply
        self._printed = False  # whether some of a line is
        self._line = ""
        self._private = False

    def opened(self, session: Session, *, stored: bool, private: bool) -> None:
        """Say which session this is."""
        self._private = private
        if private:
            _say("session: private, nothing of it is kept")
        elif not stored:
            _say("session: new")
            _say('help: /help lists commands, \\ at the end of a line or """ around lines for more than one')
        else:
            count = len(session.path)
            _say(
                f"session: {session.title} ({session.key}), {'1 message' if count == 1 else f'{count:,} messages'}"
            )

    def message(self, position: int, message: Message) -> None:
        """Tell a whole message."""
        del position
        self._begun = "assistant: " if isinstance(message, AssistantMessage) else "you: "
        for part in message.parts:
            match part:
                case TextPart(text=text):
                    self._text(text)
                case ToolCallPart():
                    self._aside("tool", tool_line(part))
                case AttachmentPart():
                    self._aside("file", file_line(part))
        self._end()
        if isinstance(message, AssistantMessage) and ending_of(message):
            _say(f"note: {ending_of(message)}")

    def event(self, event: SessionEvent) -> None:
        """Tell what happens in a turn here."""
        match event:
            case ReplyStarted():
                self._begun = "assistant: "
            case TextDelta(text=text):
                self._text(text)
            case ToolCallFinished(call=call):
                self._aside("tool", tool_line(call))
            case MessageSaved(saved=AssistantMessage()):
                self._end()
            case RetryScheduled() | CompactionStarted() | CompactionFinished() | Notice():
                self._aside("note", event.message)
            case TurnCompleted():
                self._end()
            case TurnInterrupted():
                self._end()
                kept = "nothing of this is kept" if self._private else "what had arrived is saved"
                _say(f"note: interrupted, {kept}; /continue goes on")
            case TurnFailed(failure=failure, advice=advice):
                self._end()
                for line in (f"error: {failure.message} ({failure.code})", *advice[:2]):
                    _say(line)
            case _:
                pass

    def _text(self, text: str) -> None:
        *whole, self._line = (self._line + text).split("\n")
        for line in whole:
            self._print(line)
        if self._line and not self._whole_lines:
            self._print(self._line, end="")
            self._line, self._printed = "", True

    def _end(self) -> None:
        self._end_line()
        self._begun = ""

    def _end_line(self) -> None:
        if self._line or self._printed:
            self._print(self._line)
            self._line = ""

    def _print(self, line: str, end: str = "\n") -> None:
        begun, self._begun = self._begun, ""
        print(begun + safe_text(line), end=end, flush=True)
        self._printed = False

    def _aside(self, word: str, text: str) -> None:
        self._end_line()
        _say(f"{word}: {text}")

    def note(self, title: str, detail: str = "") -> None:
        """Tell something good to know."""
        _say(f"note: {_joined(title, detail)}")

    def warn(self, title: str, detail: str = "") -> None:
        """Tell something that was not done, or is in danger."""
        _say(f"warning: {_joined(title, detail)}")

    def error(self, error: ShipchatError) -> None:
        """Tell what went wrong and what can be done."""
        for line in (f"error: {error} ({error.code})", *error.advice[:2]):
            _say(line)

    def lines(self, title: str, lines: Sequence[str]) -> None:
        """Tell some lines under a title."""
        for line in (f"{title}:", *lines):
            _say(line)


def _joined(title: str, detail: str) -> str:
    return f"{title}: {detail}" if detail else title


def _say(text: str) -> None:
    print(safe_line(text), flush=True)
