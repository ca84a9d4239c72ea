"""Replies being written: gathers their pieces until the next paint, and knows how long each has been going on."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stream:
    """One reply: when it began (seconds of the monotonic clock), and what came since the last paint."""

    began: float
    pieces: list[str] = field(default_factory=list)


class Streams:
    """All replies being written, by the id of their item."""

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._streams

    def __bool__(self) -> bool:
        return bool(self._streams)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._streams))

    def begin(self, item_id: str, seconds: float) -> None:
        """Begin a reply that has been going on for `seconds` already."""
        self._streams[item_id] = Stream(time.monotonic() - seconds)

    def add(self, item_id: str, text: str) -> bool:
        """Keep a piece until the next paint; return whether there is such a reply."""
        stream = self._streams.get(item_id)
        if stream is None:
            return False
        stream.pieces.append(text)
        return True

    def take(self, item_id: str) -> str:
        """Return what came since the last time, and forget it."""
        stream = self._streams.get(item_id)
        if stream is None or not stream.pieces:
            return ""
        text = "".join(stream.pieces)
        stream.pieces.clear()
        return text

    def end(self, item_id: str) -> None:
        """Forget a reply."""
        self._streams.pop(item_id, None)

    def clear(self) -> None:
        """Forget all."""
        self._streams.clear()

    def seconds(self, item_id: str) -> int:
        """Return for how long the reply has been going on; 0 if there is none."""
        stream = self._streams.get(item_id)
        return 0 if stream is None else int(time.monotonic() - stream.began)
