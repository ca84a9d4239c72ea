"""The tree of a session's messages and the path through it that is current.

Both are append-only values: adding returns a new one, and every older one stays what it was. The versions share
one growing list underneath (a version sees only as much of it as was there when it was made), so that adding costs
the same in a session of 10 messages and of 10,000; adding to a version that is no longer the newest copies.
"""

from collections.abc import Iterator
from typing import overload

from shipchat.core.messages import Message


class _Log:
    """What the versions of one tree share."""

    __slots__ = ("children", "depths", "messages", "ordinals", "parents")

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.depths: list[int] = []
        self.parents: list[str | None] = []  # as found when the message came: never itself, never a later one
        self.ordinals: dict[str, int] = {}
        self.children: dict[str | None, list[int]] = {}

    def append(self, message: Message) -> None:
        ordinal = len(self.messages)
        above = None if message.parent is None else self.ordinals.get(message.parent)
        self.messages.append(message)
        self.depths.append(1 if above is None else self.depths[above] + 1)
        parent = None if above is None else self.messages[above].id
        self.parents.append(parent)
        self.ordinals[message.id] = ordinal
        self.children.setdefault(parent, []).append(ordinal)


class MessageTree:
    """All messages of a session, each under its parent. A parent that wasn't there before it counts as none."""

    __slots__ = ("_log", "_size")

    def __init__(self, log: _Log | None = None, size: int = 0) -> None:
        self._log = _Log() if log is None else log
        self._size = size

    def add(self, message: Message) -> "MessageTree":
        """Return the tree with `message`; an id that is there already changes nothing."""
        if message.id in self:
            return self
        log = self._log
        if len(log.messages) != self._size:  # a newer version has gone on from here: part ways
            log = _Log()
            for old in self:
                log.append(old)
        log.append(message)
        return MessageTree(log, self._size + 1)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, message_id: object) -> bool:
        return isinstance(message_id, str) and self._log.ordinals.get(message_id, self._size) < self._size

    def __iter__(self) -> Iterator[Message]:
        """All messages in the order they were stored."""
        return iter(self._log.messages[: self._size])

    def get(self, message_id: str) -> Message | None:
        """Return the message with this id, None when there is none."""
        ordinal = self._log.ordinals.get(message_id, self._size)
        return self._log.messages[ordinal] if ordinal < self._size else None

    def depth(self, message_id: str) -> int:
        """Return the position that the message has on every path through it (1-based). Raises KeyError."""
        if message_id not in self:
            raise KeyError(message_id)
        return self._log.depths[self._log.ordinals[message_id]]

    def parent(self, message_id: str) -> str | None:
        """Return the id of the message above this one, None for a first message. Raises KeyError."""
        if message_id not in self:
            raise KeyError(message_id)
        return self._log.parents[self._log.ordinals[message_id]]

    def children(self, message_id: str | None) -> tuple[str, ...]:
        """Return the ids of the messages under this one (None: the first messages), oldest first."""
        ordinals = self._log.children.get(message_id, ())
        return tuple(self._log.messages[ordinal].id for ordinal in ordinals if ordinal < self._size)

    def siblings(self, message_id: str) -> tuple[str, ...]:
        """Return the ids of all alternatives to this message, itself included, oldest first."""
        return self.children(self.parent(message_id)) if message_id in self else ()

    def path_to(self, message_id: str | None) -> list[str]:
        """Return the ids from the first message down to this one. None gives the empty path."""
        path: list[str] = []
        while message_id is not None and message_id in self:
            path.append(message_id)
            message_id = self.parent(message_id)
        path.reverse()
        return path

    def newest_below(self, message_id: str) -> str:
        """Return the leaf reached by always taking the newest child: where a flip to this message leads."""
        while below := self.children(message_id):
            message_id = below[-1]
        return message_id


class Path:
    """The ids of the messages on a path, first to last."""

    __slots__ = ("_ids", "_length")

    def __init__(self, ids: list[str] | None = None) -> None:
        self._ids = ids if ids is not None else []
        self._length = len(self._ids)

    def extended(self, message_id: str) -> "Path":
        """Return the path with one more message."""
        ids = self._ids if len(self._ids) == self._length else self._ids[: self._length]
        ids.append(message_id)
        return Path(ids)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids[: self._length])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return self._ids[start:stop:step] if step > 0 else self._ids[: self._length][index]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._ids[index if index >= 0 else self._length + index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # compared as a value, never a key

    def __repr__(self) -> str:
        return f"Path({list(self)!r})"
