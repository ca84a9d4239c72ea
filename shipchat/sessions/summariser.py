"""Has a model summarise a stretch of a session, in as many bounded calls as it takes; writes nothing anywhere."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from shipchat.core.compaction import Block, pieces_of
from shipchat.core.context import MESSAGE_OVERHEAD
from shipchat.core.errors import ContextOverflow, ProviderError, ShipchatError
from shipchat.core.events import StreamEnded, TextDelta
from shipchat.core.messages import Message, TextPart, UserMessage
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import ModelRequest, Provider
from shipchat.sessions.options import CompactionOptions
from shipchat.sessions.summary_prompt import (
    SIMPLE_PROMPT,
    SYSTEM,
    NoSummary,
    block_text,
    checked_summary,
    request_text,
)
from shipchat.sessions.token_ledger import TokenTable

logger = logging.getLogger("shipchat.sessions")

SMALL_WINDOW: Final = 32_768
"""Up to this window a summariser gets no room beyond the summary itself, and is asked again more simply when it could
not do what it was asked; above, models may think before they write."""

THINKING: Final = 8_192
"""Tokens that a summariser with a large window may spend in all, its thoughts included."""

WORDS_A_TOKEN: Final = 0.6
"""Words asked for a token of the limit: a word is about 1.3 tokens, and models write more than they are asked for."""

MARGIN: Final = 0.85
"""How much of the room that is left by our count is used: the count is an estimate."""

SMALLER: Final = 0.6
"""How long pieces are, beside those before, when the summariser says that they were too long."""

MAX_ATTEMPTS: Final = 3
"""How often pieces are made smaller."""

CHARACTERS_A_TOKEN: Final = 16
"""A reply of more characters than this for each token that was allowed is given up."""

_REFUSED: Final = frozenset({"refusal", "content_filter", "safety"})

Progress = Callable[[int, int], None]
"""Told the number of a piece that begins and how many there are."""


class CompactionFailed(ShipchatError):
    """There is no summary; the session is as it was."""

    code = "compaction_failed"
    exit_code = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What is to be summarised: messages with their positions, the earlier summary, and the most tokens for a new one."""

    messages: Sequence[tuple[int, Message]]
    earlier: str | None
    limit: int
    instructions: Sequence[str] = ()


class Summariser:
    """Asks `provider` for summaries as `ref`; `options` give the time limit and the prompt."""

    def __init__(
        self, provider: Provider, ref: ModelRef, table: TokenTable, options: CompactionOptions
    ) -> None:
        self._provider = provider
        self._ref = ref
        self._table = table
        self._options = options

    async def summarise(self, stretch: Stretch, progress: Progress) -> str:
        """Return the summary of `stretch`, under the six headings.

        Raises CompactionFailed, or what the provider raises; a ShipchatError in any case.
        """
        try:
            async with asyncio.timeout(self._options.timeout):
                info = await self._provider.info(self._ref.name)
            blocks = await asyncio.to_thread(self._blocks, stretch, info)
            share = MARGIN
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return await self._whole(stretch, blocks, info, share, progress)
                except ContextOverflow:
                    if attempt == MAX_ATTEMPTS:
                        raise
                    share *= SMALLER
            raise AssertionError  # the loop returns or raises
        except NoSummary as error:
            raise self._failed(str(error)) from None
        except TimeoutError:
            raise self._failed(f"nothing whole came back within {self._options.timeout:g} s") from None
        except ShipchatError:
            raise
        except Exception as error:
            logger.exception("a summariser failed")  # names the place, not the text
            raise self._failed(f"its provider failed with {type(error).__name__}") from error

    async def _whole(
        self, stretch: Stretch, blocks: Sequence[Block], info: ModelInfo, share: float, progress: Progress
    ) -> str:
        """Summarise piece by piece: each summary holds what the one before it said."""
        limit = min(stretch.limit, max(1, info.window // 4))
        around = await asyncio.to_thread(self._around, stretch, info, limit)
        room = int((info.window - _reply_room(info, limit) - around) * share)
        if room < limit // 2:
            raise self._failed(f"its window of {info.window:,} tokens is too small")
        pieces = pieces_of(blocks, room)
        summary = stretch.earlier
        for number, piece in enumerate(pieces, 1):
            progress(number, len(pieces))
            source = f"{summary or ''}\n{piece}"
            try:
                text = await self._call(piece, summary, stretch, info, limit)
                summary = checked_summary(text, source)
            except NoSummary:
                if info.window > SMALL_WINDOW or self._options.prompt is not None:
                    raise
                text = await self._call(piece, summary, stretch, info, limit, prompt=SIMPLE_PROMPT)
                summary = checked_summary(text, source)
        if summary is None:
            raise self._failed("there was nothing to summarise")
        return summary

    async def _call(
        self,
        piece: str,
        earlier: str | None,
        stretch: Stretch,
        info: ModelInfo,
        limit: int,
        *,
        prompt: str | None = None,
    ) -> str:
        text = request_text(
            piece,
            earlier=earlier,
            words=int(limit * WORDS_A_TOKEN),
            instructions=stretch.instructions,
            prompt=prompt or self._options.prompt,
        )
        asked = UserMessage(id="summary", parent=None, at=datetime.now(UTC), parts=(TextPart(text),))
        room = _reply_room(info, limit)
        request = ModelRequest(model=self._ref.name, system=SYSTEM, messages=(asked,), max_tokens=room)
        texts: list[str] = []
        length = 0
        ended: StreamEnded | None = None
        async with asyncio.timeout(self._options.timeout):
            async with contextlib.aclosing(self._provider.stream(request)) as stream:  # type: ignore[type-var]  # every provider's stream is an async generator
                async for event in stream:
                    if isinstance(event, TextDelta):
                        texts.append(event.text)
                        length += len(event.text)
                        if length > room * CHARACTERS_A_TOKEN:
                            raise NoSummary("it did not end")
                    elif isinstance(event, StreamEnded):
                        ended = event
        if ended is None:
            raise ProviderError("the summary broke off before its end", retryable=True)
        if ended.stop_reason in _REFUSED:
            raise NoSummary("the model refused")
        return "".join(texts)

    def _blocks(self, stretch: Stretch, info: ModelInfo) -> list[Block]:
        scale = info.tokens_per_o200k
        blocks = []
        for position, message in stretch.messages:
            text = block_text(position, message)
            blocks.append(Block(text, int(self._table.of(text) * scale) + 1))
        return blocks

    def _around(self, stretch: Stretch, info: ModelInfo, limit: int) -> int:
        """Return the tokens of everything in a request but the piece."""
        asked = request_text(
            "", earlier="", words=limit, instructions=stretch.instructions, prompt=self._options.prompt
        )
        own = self._table.of(asked) + self._table.of(SYSTEM) + 2 * MESSAGE_OVERHEAD
        earlier = max(limit, self._table.of(stretch.earlier) if stretch.earlier else 0)
        return int((own + earlier) * info.tokens_per_o200k)

    def _failed(self, why: str) -> CompactionFailed:
        return CompactionFailed(
            f"{self._ref} gave no summary: {why}",
            advice=(
                "The session is as it was. Another model can summarise: compaction.model in the config.",
            ),
            details={"model": str(self._ref)},
        )


def _reply_room(info: ModelInfo, limit: int) -> int:
    """Return the tokens that a reply may have."""
    if info.window <= SMALL_WINDOW:
        return limit
    return max(limit, min(THINKING, info.max_output or THINKING))
