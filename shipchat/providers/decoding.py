"""From the bytes of a reply to events: what all protocols have in common, and the limits that none may pass."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import Final, Protocol, TypeVar

import msgspec

from shipchat.core.errors import ProviderRejected, ProviderUnavailable, ShipchatError
from shipchat.core.events import ReasoningDelta, StreamEvent, TextDelta, ToolCalled
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.failures import Failures
from shipchat.providers.sse import SseSplitter, SseTooLarge

T = TypeVar("T")

MAX_TEXT: Final = 10_000_000
"""Characters that a reply may have: a hundred times the longest that a model can write today."""


class ReplyReader(Protocol):
    """Reads the events of one reply in one protocol."""

    @property
    def ended(self) -> bool:
        """Whether the provider's own last word has come."""
        ...

    def read(self, data: bytes) -> Iterable[StreamEvent]:
        """Return what the data of one server-sent event says, StreamEnded last of all.

        Raises msgspec.DecodeError or UnicodeDecodeError for what can't be read, and the error that it stands for.
        """
        ...

    def finish(self) -> Iterable[StreamEvent]:
        """Return the end of a reply that is whole although no more bytes come; nothing when it is not."""
        ...


def decode(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    r"""Return what `data` says; half an emoji (`\\ud83d`), which strict JSON forbids, becomes U+FFFD.

    Raises msgspec.DecodeError, UnicodeDecodeError.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if b"\\u" not in data:
            raise
        try:
            text = json.dumps(json.loads(data), ensure_ascii=False)
        except (ValueError, RecursionError) as error:
            raise msgspec.DecodeError(str(type(error))) from None
        return decoder.decode(without_surrogates(text).encode())


async def decoded(
    chunks: AsyncIterator[bytes], reader: ReplyReader, failures: Failures
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events of the reply whose bytes are `chunks`; returns after StreamEnded.

    Deltas that came in one piece are one event. Raises ProviderUnavailable unless the reply ended by the provider's
    own word.
    """
    splitter, size = SseSplitter(), 0
    broken = failures.broken_off("the server closed it before the reply was whole")
    while True:
        try:
            chunk = await anext(chunks)
        except StopAsyncIteration:
            break
        except ProviderUnavailable as error:
            broken = error
            break
        events, failure = _read(splitter, chunk, reader, failures)
        for event in events:
            size += size_of(event)
            if size > MAX_TEXT:
                raise failures.too_large(f"{MAX_TEXT // 1_000_000} million characters")
            yield event
        if failure is not None:
            raise failure
        if reader.ended:
            return
    last = tuple(reader.finish())
    if not last:
        raise broken
    for event in last:
        yield event


def _read(
    splitter: SseSplitter, chunk: bytes, reader: ReplyReader, failures: Failures
) -> tuple[list[StreamEvent], ShipchatError | None]:
    """Return the events that `chunk` completed, and what went wrong after them."""
    events: list[StreamEvent] = []
    failure: ShipchatError | None = None
    try:
        for data in splitter.feed(chunk):
            events += reader.read(data)
            if reader.ended:
                break
    except SseTooLarge:
        failure = failures.broken_off("an event without an end")
    except (msgspec.DecodeError, UnicodeDecodeError):
        failure = failures.broken_off("a piece of it can't be read")
    except ShipchatError as error:
        failure = error
    return (joined(events) if len(events) > 1 else events), failure


def joined(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    """Return `events` with neighbouring deltas of one kind made one."""
    result: list[StreamEvent] = []
    pieces: list[str] = []
    kind: type[TextDelta | ReasoningDelta] | None = None
    for event in events:
        if kind is not None and type(event) is not kind:
            result.append(kind("".join(pieces)))
            pieces, kind = [], None
        if isinstance(event, TextDelta | ReasoningDelta):
            kind = type(event)
            pieces.append(event.text)
        else:
            result.append(event)
    if kind is not None:
        result.append(kind("".join(pieces)))
    return result


def size_of(event: StreamEvent) -> int:
    """Return how many characters `event` adds to the reply."""
    match event:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return len(text)
        case ToolCalled():
            return len(event.arguments)
        case _:
            return 0


def nothing_to_send() -> ProviderRejected:
    """Return the error of a request in which nothing is left to send."""
    return ProviderRejected("there is nothing to send: no message has any text")
