"""What a finished turn gives a program: the reply, what it cost, and everything that happened."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from shipchat.core.errors import ShipchatError
from shipchat.core.events import (
    MessageSaved,
    SessionEvent,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from shipchat.core.messages import AssistantMessage, Failure, Usage


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What `run` and `send` return.

    `message` is the last reply (its `status` is "interrupted" when the turn was), `usage` the tokens of all model
    calls of the turn, `events` everything that happened, in order.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
    >>> result = agent.run("Hi")
    >>> result.output, result.message.status, result.usage.output_tokens
    ('Hello.', 'complete', 0)
    >>> [event.type for event in result.events]
    ['turn_started', 'message_saved', 'reply_started', 'text_delta', 'message_saved', 'turn_completed']
    """

    message: AssistantMessage
    usage: Usage
    events: tuple[SessionEvent, ...]

    @property
    def output(self) -> str:
        """The text of the last reply."""
        return self.message.text

    def __str__(self) -> str:
        """The text of the last reply."""
        return self.output


class ReplyFailed(ShipchatError):
    """A turn began and then failed; the prompt is stored, and so is what had arrived of the reply.

    `code`, `exit_code` and `advice` are the failure's own (`provider_auth`, `context_overflow`, ...); `result` holds
    what there is, None when not even a reply began.

    >>> from shipchat import Agent, InMemorySessionStore, ProviderAuth, ReplyFailed
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> agent = Agent(
    ...     provider=ScriptedProvider([["Hel", ProviderAuth("the key was refused")]]),
    ...     session_store=InMemorySessionStore(),
    ... )
    >>> try:
    ...     agent.run("Hi")
    ... except ReplyFailed as error:
    ...     print(error.code, "|", error, "|", error.result.output)
    provider_auth | the key was refused | Hel
    """

    def __init__(self, last: TurnFailed, result: TurnResult | None) -> None:
        super().__init__(last.failure.message, advice=last.advice)
        self.code = last.failure.code
        self.exit_code = last.exit_code
        self.saved = last.saved
        self.result = result


def result_of(events: Sequence[SessionEvent]) -> TurnResult:
    """Return the result of a turn that had these events. Raises ReplyFailed when its last event is a failure."""
    last = events[-1] if events else None
    match last:
        case TurnCompleted(reply=reply):
            return TurnResult(reply, _usage(events, reply), tuple(events))
        case TurnInterrupted(reply=reply) if reply is not None:
            return TurnResult(reply, _usage(events, reply), tuple(events))
        case TurnFailed(reply=reply):
            result = None if reply is None else TurnResult(reply, _usage(events, reply), tuple(events))
            raise ReplyFailed(last, result)
        case _:
            failure = Failure("interrupted", "the turn was interrupted before a reply began")
            raise ReplyFailed(TurnFailed(failure, None, exit_code=130), None)


def _usage(events: Sequence[SessionEvent], reply: AssistantMessage) -> Usage:
    """Return the sum over the turn's model calls, each of which is one message."""
    replies = {reply.id: reply}
    for event in events:
        if isinstance(event, MessageSaved) and isinstance(event.saved, AssistantMessage):
            replies[event.saved.id] = event.saved
    known = [one.usage for one in replies.values() if one.usage is not None]
    return Usage(**{one.name: sum(getattr(usage, one.name) for usage in known) for one in fields(Usage)})
