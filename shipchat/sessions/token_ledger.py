"""What messages weigh: each counted once, sums along a path at hand, scaled to what the provider reports.

Counts are made with the o200k encoding and kept per message, stored ones first. Sums are kept per message from its
path's beginning on, so that what a range of 10,000 messages weighs is a subtraction. The scale from o200k to a model's
own tokens is what its provider last reported on this path beside what we had counted: nothing more is stored.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from shipchat.core.attachments import attachment_tokens
from shipchat.core.context import MESSAGE_OVERHEAD, countable
from shipchat.core.messages import AssistantMessage, Message, UserMessage
from shipchat.core.paths import Path
from shipchat.core.protocols import TokenCounter
from shipchat.core.session import Session

_LOOK_BACK: Final = 50
"""Messages looked at for the last report of usage; it is nearly always on the last or the last but one."""

_LEAST, _MOST = 0.5, 4.0
"""A scale outside these times the model's usual one comes of a request that was not what is assumed here."""

_TEXTS: Final = 64


@dataclass(slots=True)
class TokenTable:
    """Tokens of messages and texts, counted once each. `warm`: something was counted, so that more is cheap."""

    counter: TokenCounter
    known: dict[str, int] = field(default_factory=dict)
    warm: bool = False
    _texts: dict[str, int] = field(default_factory=dict)

    def count(self, message: Message) -> int:
        """Return the o200k tokens of `message`; blocks."""
        if message.tokens is not None:
            return message.tokens
        tokens = self.known.get(message.id)
        if tokens is None:
            tokens = self.known[message.id] = self.of(countable(message)) + attachment_tokens(message)
        return tokens

    def of(self, text: str) -> int:
        """Return the o200k tokens of `text`, not remembering it; blocks."""
        self.warm = True
        return self.counter.count(text)

    def of_text(self, text: str) -> int:
        """Return the o200k tokens of a text that comes again and again, such as a system prompt; blocks."""
        tokens = self._texts.get(text)
        if tokens is None:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            tokens = self._texts[text] = self.of(text)
        return tokens

    def stamped_prompt(self, message: UserMessage) -> UserMessage:
        """Return `message` with its tokens, to be stored with it, when counting is cheap."""
        return replace(message, tokens=self.count(message)) if self.warm else message

    def stamped_reply(self, message: AssistantMessage) -> AssistantMessage:
        """Return `message` with its tokens, to be stored with it, when counting is cheap."""
        return replace(message, tokens=self.count(message)) if self.warm else message


def byte_bound(message: Message) -> int:
    """Return a number that the tokens of `message` can't pass: no token is less than a byte.

    What its files weigh is taken from their sizes, as everywhere.
    """
    return byte_length(countable(message)) + attachment_tokens(message)


def byte_length(text: str) -> int:
    """Return the bytes of `text` as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


class PathSums:
    """Sums of one figure of messages along paths; each message is asked once and each range is a subtraction.

    Sums begin at the first position that was ever asked for: what came before a checkpoint is not counted until it is
    needed.
    """

    def __init__(self, of: Callable[[Message], int]) -> None:
        self._of = of
        self._begins = 0  # the depth at which the sums begin
        self._sums: dict[str, int] = {}
        self._guard = threading.Lock()

    def between(self, session: Session, path: Path, first: int, last: int) -> int:
        """Return the sum over positions `first` to `last` of `path`, MESSAGE_OVERHEAD added for each. May block."""
        if last < first or last < 1:
            return 0
        first = max(first, 1)
        with self._guard:
            if not self._sums or first < self._begins:
                self._sums.clear()
                self._begins = first
            self._fill(session, path, last)
            before = self._sums[path[first - 2]] if first > self._begins else 0
            return self._sums[path[last - 1]] - before

    def _fill(self, session: Session, path: Path, last: int) -> None:
        missing = last
        while missing >= self._begins and path[missing - 1] not in self._sums:
            missing -= 1
        total = self._sums[path[missing - 1]] if missing >= self._begins else 0
        for message_id in path[missing:last]:
            message = session.tree.get(message_id)
            if message is not None:
                total += self._of(message) + MESSAGE_OVERHEAD
            self._sums[message_id] = total


def calibrated(
    session: Session,
    path: Path,
    first: int,
    *,
    model: str,
    usual: float,
    since: float,
    fixed: int,
    room: int,
    raw: Callable[[int, int], int],
) -> float:
    """Return how many of `model`'s tokens one o200k token is on this path, `usual` when nothing tells.

    The newest complete reply of this model after `first` whose provider reported its input: what that was, divided by
    what we count for it (`raw` of the positions, and `fixed` for all that comes before them). Replies up to the time
    `since` (a timestamp) were made before the checkpoint and were sent something else.
    """
    for position in range(len(path), max(first, len(path) - _LOOK_BACK), -1):
        reply = session.tree.get(path[position - 1])
        if not isinstance(reply, AssistantMessage) or reply.model != model or reply.status != "complete":
            continue
        if reply.at.timestamp() <= since:
            break
        if reply.usage is None or reply.usage.input_tokens <= 0:
            continue
        counted = max(1, fixed + raw(first, position - 1))
        scale = reply.usage.input_tokens / counted
        return scale if _LEAST * usual <= scale <= _MOST * usual and counted * usual <= room else usual
    return usual
