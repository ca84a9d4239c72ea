"""A session that this window has open: its chat, the reply growing in it, and what is known of it; draws nothing."""

import time
from dataclasses import dataclass, field
from typing import assert_never

from shipchat.core.compaction import sees_from
from shipchat.core.drafts import QueuedPrompt
from shipchat.core.errors import HolderInfo
from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    LastEvent,
    MessageSaved,
    Notice,
    ReasoningDelta,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UsageUpdated,
)
from shipchat.core.messages import AssistantMessage, Part, ReasoningPart, TextPart, ToolCallPart, Usage
from shipchat.core.models import ModelInfo
from shipchat.core.session import Session
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.look import Look
from shipchat.tui.items import GrowingReply

SHOWN = 200
"""Messages made into items at first, and each time one scrolls to the first of them."""

LETTERS_PER_TOKEN = 4
"""Of English text, about: for the meter, until the model has reported what it counted."""


@dataclass(eq=False)
class OpenSession:
    """One open session.

    `read_only` says why nothing can be sent (None: it can); `salvaged` is what could be read of a damaged one.
    `first` is the position of the first message shown, `cut_at` the first that the model was last sent when older
    turns were left out.
    `not_saved` is why nothing can be written, `holder` who runs a turn elsewhere. `waiting` is a prompt to send when
    that turn ends, `editing` the id of the prompt that the next one is a sibling of, `ended` how the last turn did.
    `left` are prompts that a program that is gone left in the queue; `released` are the ids of those that may be sent
    by themselves, one after the other: queued here behind a turn that came to its end, or sent off by the user.
    """

    chat: ChatSession
    private: bool = False
    read_only: str | None = None
    damaged: bool = False
    salvaged: Session | None = None
    first: int = 1
    cut_at: int = 1
    turning: bool = False
    since: float | None = None
    not_saved: str | None = None
    missing: bool = False
    holder: HolderInfo | None = None
    elsewhere: GrowingReply | None = None
    info: ModelInfo | None = None
    usage: Usage | None = None
    waiting: str | None = None
    editing: str | None = None
    ended: LastEvent | None = None
    left: tuple[QueuedPrompt, ...] = ()
    released: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    _offered: frozenset[str] = frozenset()
    _reply: ReplyStarted | None = None
    _texts: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _tools: dict[str, ToolCallPart] = field(default_factory=dict)
    _word: str = "writing"
    _estimate: tuple[str | None, int] | None = None

    @property
    def key(self) -> str:
        """The session's unique name."""
        return self.chat.key

    @property
    def session(self) -> Session:
        """The session as far as it could be read."""
        return self.chat.session if self.salvaged is None else self.salvaged

    @property
    def starts_at(self) -> int:
        """The position from which on the model sees messages word for word (1: all of them)."""
        return max(self.cut_at, sees_from(self.session))

    @property
    def live(self) -> GrowingReply | None:
        """The reply that grows, here or elsewhere."""
        reply = self._reply
        if reply is None:
            return self.elsewhere
        parts: list[Part] = []
        if self._reasoning:
            parts.append(ReasoningPart("".join(self._reasoning)))
        parts += self._tools.values()
        if self._texts:
            parts.append(TextPart("".join(self._texts)))
        since = self.since or time.monotonic()
        return GrowingReply(
            reply.reply_id, reply.position, reply.model, reply.parent, tuple(parts), since, self._word
        )

    @property
    def live_id(self) -> str | None:
        """The id of the reply that grows here, None when there is none."""
        return None if self._reply is None else self._reply.reply_id

    @property
    def prompts(self) -> tuple[QueuedPrompt, ...]:
        """Every prompt that waits: those left behind before those queued here."""
        queue = self.chat.queue
        known = {prompt.id for prompt in queue}
        return (*(prompt for prompt in self.left if prompt.id not in known), *queue)

    @property
    def used(self) -> tuple[int, bool]:
        """Tokens of the context in use, and whether that is only an estimate (the model has reported none)."""
        for message_id in reversed(self.session.path[-4:]):
            message = self.session.tree.get(message_id)
            if isinstance(message, AssistantMessage) and message.usage is not None:
                return message.usage.input_tokens + message.usage.output_tokens, False
        head = self.session.head
        if self._estimate is None or self._estimate[0] != head:
            letters = sum(len(message.text) for message in self.session.messages(self.starts_at))
            self._estimate = (head, letters // LETTERS_PER_TOKEN)
        return self._estimate[1], True

    def show_from_end(self) -> None:
        """Show the last messages again."""
        self.first = max(1, len(self.session.path) - SHOWN + 1)

    def show_more(self) -> None:
        """Show earlier messages as well."""
        self.first = max(1, self.first - SHOWN)

    def show_position(self, position: int) -> None:
        """Show this message as well, with some before it."""
        if position < self.first:
            self.first = max(1, position - SHOWN // 4)

    def take_look(self, look: Look) -> bool:
        """Take in what was seen of a turn elsewhere; return whether anything that is shown changed."""
        reply = look.reply if look.holder is not None else None
        if self.turning:
            return look.changed
        elsewhere: GrowingReply | None = None
        if reply is not None:
            known = self.elsewhere
            since = known.since if known is not None and known.id == reply.id else time.monotonic()
            position = 1 + (self.session.position_of(reply.parent) or 0 if reply.parent else 0)
            elsewhere = GrowingReply(reply.id, position, reply.model, reply.parent, reply.parts, since)
        changed = look.changed or elsewhere != self.elsewhere or look.holder != self.holder
        left = look.queue if look.holder is None else ()
        changed = changed or look.missing != self.missing or left != self.left
        self.left = left
        self.elsewhere, self.holder, self.missing = elsewhere, look.holder, look.missing
        return changed

    def take(self, event: SessionEvent) -> None:
        """Take in an event of a turn that runs here."""
        match event:
            case TurnStarted(prompt=prompt):
                if prompt is not None and prompt.id in self._offered:
                    self.released |= self._offered  # the user sent the queue off
                self.turning, self.since = True, time.monotonic()
                self.elsewhere, self.holder, self.editing, self.left = None, None, None, ()
                self._forget()
            case ReplyStarted():
                self._forget()
                self._reply = event
            case TextDelta(text=text):
                self._texts.append(text)
                self._word = "writing"
            case ReasoningDelta(text=text):
                self._reasoning.append(text)
                self._word = "thinking"
            case ToolCallStarted(call=call) | ToolCallFinished(call=call):
                self._tools[call.call_id] = call
            case UsageUpdated(usage=usage):
                self.usage = usage
            case Notice(about="not_saved", message=message):
                self.not_saved = message
            case Notice(about="older_turns_left_out", details=details):
                starts_at = details.get("starts_at")
                self.cut_at = starts_at if isinstance(starts_at, int) else self.cut_at
            case MessageSaved(saved=saved):
                if self._reply is not None and saved.id == self._reply.reply_id:
                    self._forget()
            case TurnCompleted() | TurnInterrupted():
                self._end()
                self.ended = event
            case TurnFailed(failure=failure, saved=saved):
                self._end()
                self.ended = event
                if failure.code == "store_unavailable" or (not saved and not self.chat.saved):
                    self.not_saved = failure.message
            case RetryScheduled() | CompactionStarted() | CompactionFinished() | Notice():
                pass
            case _:
                assert_never(event)

    def begin(self, *, by_user: bool = True) -> None:
        """Note that a turn is about to begin."""
        self.ended = None
        self._offered = frozenset(prompt.id for prompt in self.prompts) if by_user else frozenset()
        self.turning, self.since = True, time.monotonic()

    def over(self) -> None:
        """Note that the turn's stream is closed."""
        self._end()

    def _end(self) -> None:
        self.turning, self.since = False, None
        self._forget()

    def _forget(self) -> None:
        self._reply, self._texts, self._reasoning, self._tools = None, [], [], {}
        self._word = "writing"
