"""Makes the request of one model call: which turns fit the model's window, and how they are counted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from shipchat.core.context import MESSAGE_OVERHEAD, Projection, countable, project
from shipchat.core.messages import Message, UserMessage
from shipchat.core.models import ModelInfo
from shipchat.core.protocols import ModelRequest, TokenCounter
from shipchat.core.session import Session

RESERVE_SHARE: Final = 0.25
"""The share of the window kept for the reply when no limit was asked for."""


RequestMaker: TypeAlias = Callable[[float], ModelRequest]
"""Makes the request within this share of the model's window; raises ContextOverflow. Blocking."""


@dataclass(slots=True)
class TokenTable:
    """Tokens of messages, counted once each and only when bytes alone can't tell that all fits."""

    counter: TokenCounter
    known: dict[str, int] = field(default_factory=dict)

    def count(self, message: Message) -> int:
        """Return the o200k tokens of `message`; blocks."""
        if message.tokens is not None:
            return message.tokens
        tokens = self.known.get(message.id)
        if tokens is None:
            tokens = self.known[message.id] = self.counter.count(countable(message))
        return tokens


def byte_bound(message: Message) -> int:
    """Return a number that the tokens of `message` can't pass: no token is less than a byte."""
    return len(countable(message).encode("utf-8", "replace"))


def make_request(
    session: Session,
    *,
    info: ModelInfo,
    system: str,
    table: TokenTable,
    share: float = 1.0,
    max_tokens: int | None = None,
    until: str | None = None,
    unstored: UserMessage | None = None,
) -> tuple[ModelRequest, Projection]:
    """Return what to send within `share` of the model's window, and the projection it was made from.

    `until` ends the path before the head; `unstored` is a last message that is sent but not stored. Blocks
    (counting); raises ContextOverflow.
    """
    reserve = max_tokens or min(info.max_output, int(info.window * RESERVE_SHARE))
    budget = int((info.window - reserve) * share)
    budget -= len(system.encode("utf-8", "replace")) // 3 + MESSAGE_OVERHEAD
    scale = info.tokens_per_o200k

    def scaled(message: Message) -> int:
        return int(table.count(message) * scale) + 1

    last = len(session.path) if until is None else session.position_of(until) or len(session.path)
    bound = 0
    for message_id in reversed(session.path[:last]):
        message = session.tree.get(message_id)
        bound += byte_bound(message) + MESSAGE_OVERHEAD if message else 0
        if bound > budget:
            break
    count = byte_bound if bound <= budget else scaled
    projection = project(session, system=system, budget=budget, count=count, until=until)
    messages = projection.messages if unstored is None else (*projection.messages, unstored)
    request = ModelRequest(model=info.ref.name, system=system, messages=messages, max_tokens=max_tokens)
    return request, projection
