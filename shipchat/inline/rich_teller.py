"""Tells a conversation in styled rows: heads, prompts behind a bar, replies as Markdown, notes; where they go is handed in."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from shipchat.core.errors import ShipchatError
from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    MessageSaved,
    Notice,
    ReasoningDelta,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.messages import AssistantMessage, AttachmentPart, Message, TextPart, ToolCallPart
from shipchat.core.safe_text import safe_line, safe_text
from shipchat.core.session import Session
from shipchat.inline.markdown_stream import MarkdownStream
from shipchat.inline.rows import Row, cut, wrapped
from shipchat.inline.told import ending_of, file_line, tool_line

MARGIN: Final = "  "
BAR: Final = "▌ "
WIDEST: Final = 98
"""Cells of a row at most, the margin included: longer lines of prose are hard to read."""

MOST_PROMPT_ROWS: Final = 40
"""Rows of a prompt that are told at most: it was typed or pasted by the reader."""


class RichTeller:
    """Implements `face.Teller`. `put` takes finished rows; `columns` gives the terminal's width at the moment."""

    def __init__(self, put: Callable[[Iterable[Row]], None], columns: Callable[[], int]) -> None:
        self._put = put
        self._columns = columns
        self._stream: MarkdownStream | None = None
        self._thinking_since: float | None = None
        self._private = False

    @property
    def tail(self) -> Row:
        """The row of the reply in flight that is not finished yet."""
        return [] if self._stream is None else self._stream.tail()

    def width(self) -> int:
        """Return the cells of a row; the last column stays free, where terminals differ."""
        return max(min(self._columns() - 1, WIDEST), 8)

    # --- sessions and messages ---

    def opened(self, session: Session, *, stored: bool, private: bool) -> None:
        """Say which session this is."""
        self._private = private
        if private:
            self._put(
                [
                    [],
                    [
                        ("", MARGIN),
                        ("class:strong", "A private session"),
                        ("class:muted", "  nothing of it is kept"),
                    ],
                ]
            )
        elif not stored:
            self._put(
                [
                    [],
                    [
                        ("", MARGIN),
                        ("class:strong", "Ask anything."),
                        ("class:muted", "  Every message is on disk before it is sent."),
                    ],
                    [
                        ("", MARGIN),
                        ("class:muted", "/ commands   @ files   Ctrl+J new line   Esc stops   Ctrl+D leaves"),
                    ],
                ]
            )
        else:
            count = len(session.path)
            facts = [session.key, "1 message" if count == 1 else f"{count:,} messages"]
            facts += [f"#{tag}" for tag in session.tags]
            self._put([[]])
            self._wrap(
                [
                    ("class:strong", safe_line(session.title)),
                    ("class:muted", safe_line("  " + " · ".join(facts))),
                ]
            )

    def message(self, position: int, message: Message) -> None:
        """Tell a whole message."""
        if not isinstance(message, AssistantMessage):
            self._prompt(position, message)
            return
        self._begin(position, message.model)
        for part in message.parts:
            match part:
                case TextPart(text=text):
                    self._text(text)
                case ToolCallPart():
                    self._aside(tool_line(part))
                case AttachmentPart():
                    self._aside(file_line(part))
        self._end()
        ending = ending_of(message)
        if ending:
            self._wrap([("class:warning", f"! {safe_line(ending)}")])

    def _prompt(self, position: int, message: Message) -> None:
        bar: Row = [("class:bar", BAR)]
        text = safe_text(message.text).rstrip("\n")
        room = MOST_PROMPT_ROWS * WIDEST
        rows = [
            row
            for line in text[:room].split("\n")[:MOST_PROMPT_ROWS]
            for row in wrapped([("", line)], self.width(), bar, bar)
        ]
        if len(rows) > MOST_PROMPT_ROWS or len(text) > room or text.count("\n") >= MOST_PROMPT_ROWS:
            rows[MOST_PROMPT_ROWS - 1 :] = [[*bar, ("class:muted", f"… {len(text):,} characters in all")]]
        rows += [
            [*bar, ("class:muted", file_line(part))]
            for part in message.parts
            if isinstance(part, AttachmentPart)
        ]
        head: Row = [("class:bar", BAR), ("class:you", "you"), ("class:muted", f"  {position}")]
        self._put([[], head, *rows])

    # --- a turn ---

    def event(self, event: SessionEvent) -> None:
        """Tell what happens in a turn here."""
        match event:
            case TurnStarted(prompt=prompt, position=position):
                if prompt is not None:
                    self._prompt(position, prompt)
            case ReplyStarted(position=position, model=model):
                self._begin(position, model)
            case ReasoningDelta():
                self._thinking_since = self._thinking_since or time.monotonic()
            case TextDelta(text=text):
                self._end_thought()
                self._text(text)
            case ToolCallFinished(call=call):
                self._end_thought()
                self._aside(tool_line(call))
            case MessageSaved(saved=AssistantMessage()):
                self._end()
            case RetryScheduled() | CompactionStarted() | CompactionFinished() | Notice():
                self._aside(event.message)
            case TurnCompleted(reply=reply):
                self._end()
                if reply.stop_reason in ("length", "max_tokens"):
                    self.note("The reply reached its longest length", "/continue goes on")
            case TurnInterrupted():
                self._end()
                kept = "nothing of this is kept" if self._private else "what had arrived is saved"
                self.warn("interrupted", f"{kept} · /continue goes on")
            case TurnFailed(failure=failure, advice=advice, reply=reply):
                self._end()
                again = (
                    "/continue goes on" if reply is not None and reply.text.strip() else "/retry asks again"
                )
                self._trouble(f"{failure.message} ({failure.code})", [*advice[:2], again])
            case _:
                pass

    def _begin(self, position: int, model: str) -> None:
        self._end()
        name = model.partition("/")[2] or model
        self._put(
            [
                [],
                [
                    ("", MARGIN),
                    ("class:strong", "assistant"),
                    ("class:muted", safe_line(f"  {position}  {name}")),
                ],
            ]
        )
        self._stream = MarkdownStream(self.width, margin=MARGIN)

    def _text(self, text: str) -> None:
        if self._stream is None:
            self._stream = MarkdownStream(self.width, margin=MARGIN)
        self._put(self._stream.feed(safe_text(text)))

    def _end_thought(self) -> None:
        since, self._thinking_since = self._thinking_since, None
        if since is not None:
            self._put([[("", MARGIN), ("class:muted", f"thought for {time.monotonic() - since:.0f} s")], []])

    def _end(self) -> None:
        self._thinking_since = None
        stream, self._stream = self._stream, None
        if stream is not None:
            self._put(stream.end())

    # --- asides ---

    def _aside(self, text: str) -> None:
        if self._stream is not None:
            self._put(self._stream.end())
        self._put([[("", MARGIN), ("class:muted", cut(safe_line(text), self.width() - len(MARGIN)))]])

    def note(self, title: str, detail: str = "") -> None:
        """Tell something good to know."""
        self._put([[]])
        self._wrap([("class:strong", safe_line(title)), ("class:muted", safe_line(f"  {detail}"))])

    def warn(self, title: str, detail: str = "") -> None:
        """Tell something that was not done, or is in danger."""
        self._put([[]])
        self._wrap([("class:warning", safe_line(f"! {title}")), ("class:muted", safe_line(f"  {detail}"))])

    def error(self, error: ShipchatError) -> None:
        """Tell what went wrong and what can be done."""
        self._trouble(f"{error} ({error.code})", error.advice[:2])

    def _trouble(self, what: str, advice: Sequence[str]) -> None:
        self._put([[]])
        self._wrap([("class:error", safe_line(f"! {what}"))])
        for line in advice:
            self._wrap([("class:muted", safe_line(line))], MARGIN)

    def lines(self, title: str, lines: Sequence[str]) -> None:
        """Tell some lines under a title."""
        self._put([[], [("", MARGIN), ("class:strong", safe_line(title))]])
        for line in lines:
            self._wrap([("", safe_line(line))])

    def said(self, command: str) -> None:
        """Tell the command that was given: what follows answers it."""
        self._put([[], [("class:bar", BAR), ("class:muted", cut(safe_line(command), self.width() - 2))]])

    def _wrap(self, spans: Row, more: str = "") -> None:
        margin: Row = [("", MARGIN + more)]
        following: Row = [("", MARGIN + MARGIN)]
        self._put(wrapped([span for span in spans if span[1].strip()], self.width(), margin, following))
