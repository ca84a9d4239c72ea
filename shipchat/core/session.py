"""A session as the fold of its entries: pure, incremental, one new value for each batch of entries."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, assert_never

from shipchat.core.entries import (
    CheckpointEntry,
    CheckpointUndoneEntry,
    Entry,
    ForkOrigin,
    HeadEntry,
    MessageEntry,
    NoticeEntry,
    SessionHeader,
    SessionRecord,
    SetEntry,
    UnknownEntry,
)
from shipchat.core.errors import MessageNotFound
from shipchat.core.messages import Json, Message, UserMessage
from shipchat.core.paths import MessageTree, Path
from shipchat.core.titles import auto_title


@dataclass(frozen=True, slots=True)
class PlacedNotice:
    """A notice and the message it follows (None: before the first)."""

    after: str | None
    notice: NoticeEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Everything known of one session. Positions are 1-based places on the current path.

    `checkpoints` are those that were not undone, oldest first, and `undone` those that still can be redone, in the
    order of their undoing; `oddities` says in a sentence each what was wrong
    with entries that could still be read (a message stored twice, an unknown parent).
    """

    header: SessionHeader
    set_title: str | None = None
    titled_by: Literal["user", "auto"] | None = None
    old_titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    archived: bool = False
    system: str | None = None
    model: str | None = None
    pins: frozenset[str] = frozenset()
    custom: Mapping[str, Json] = field(default_factory=dict)
    tree: MessageTree = field(default_factory=MessageTree)
    path: Path = field(default_factory=Path)
    head: str | None = None
    checkpoints: tuple[CheckpointEntry, ...] = ()
    undone: tuple[CheckpointEntry, ...] = ()
    notices: tuple[PlacedNotice, ...] = ()
    last_message_at: datetime | None = None
    oddities: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The session's unique name."""
        return self.header.key

    @property
    def created(self) -> datetime:
        """When it was made."""
        return self.header.created

    @property
    def forked_from(self) -> ForkOrigin | None:
        """Where it parted from its parent, None when it is no fork."""
        return self.header.forked_from

    @property
    def updated(self) -> datetime:
        """The time of the latest message, or of creation: what "newest" means."""
        return self.last_message_at or self.created

    @property
    def title(self) -> str:
        """The display name: the set title, else the first prompt's first line, else the key."""
        if self.set_title:
            return self.set_title
        if self.path:
            first = self.tree.get(self.path[0])
            if isinstance(first, UserMessage):
                return auto_title(first.text) or self.key
        return self.key

    def messages(self, first: int = 1, last: int | None = None) -> Iterator[Message]:
        """Yield the messages on the current path from position `first` to `last`, both included."""
        for message_id in self.path[max(first, 1) - 1 : last]:
            message = self.tree.get(message_id)
            if message is not None:
                yield message

    def position_of(self, message_id: str) -> int | None:
        """Return the position of a message on the current path, None when it isn't on it."""
        if message_id not in self.tree:
            return None
        depth = self.tree.depth(message_id)
        return depth if depth <= len(self.path) and self.path[depth - 1] == message_id else None

    def find_message(self, ref: int | str) -> Message:
        """Return the message at a position on the current path or with an id anywhere in the tree.

        A string of digits is a position unless a message has it as its id. Raises MessageNotFound, which names the
        valid range, for everything else: 0, negative, beyond the end, a bool or a float.
        """
        if isinstance(ref, str):
            by_id = self.tree.get(ref)
            if by_id is not None:
                return by_id
            ref = int(ref) if ref.isascii() and ref.isdigit() else ref
        if isinstance(ref, int) and not isinstance(ref, bool) and 1 <= ref <= len(self.path):
            found = self.tree.get(self.path[ref - 1])
            if found is not None:
                return found
        total = len(self.path)
        valid = f"positions 1 to {total} or a message id" if total else "it has no messages yet"
        raise MessageNotFound(
            f"session {self.key} has no message {str(ref)[:40]!r}",
            advice=(f"Valid: {valid}.",) if total else (f"Nothing to choose from: {valid}.",),
            details={"key": self.key, "message": str(ref), "first": 1 if total else 0, "last": total},
        )


def new_session(header: SessionHeader) -> Session:
    """Return the session that has this header and no entries."""
    return Session(header=header)


def session_from(record: SessionRecord) -> Session:
    """Return the session that a stored record holds."""
    return fold(new_session(record.header), record.entries)


def fold(session: Session, entries: Iterable[Entry]) -> Session:
    """Return `session` with `entries` added in order. Pure; costs in proportion to `entries` alone."""
    tree, path, head = session.tree, session.path, session.head
    last_at = session.last_message_at
    settings: list[SetEntry] = []
    checkpoints, undone = list(session.checkpoints), list(session.undone)
    notices = list(session.notices)
    oddities = list(session.oddities)
    for entry in entries:
        match entry:
            case MessageEntry(message=message):
                if message.id in tree:
                    oddities.append(f"message {message.id} is stored twice; the first one counts")
                    continue
                if message.parent is not None and message.parent not in tree:
                    oddities.append(f"message {message.id} answers to {message.parent}, which isn't there")
                tree = tree.add(message)
                goes_on = tree.parent(message.id) == head
                path = path.extended(message.id) if goes_on else Path(tree.path_to(message.id))
                head = message.id
                last_at = message.at if last_at is None else max(last_at, message.at)
            case HeadEntry(target=target):
                if target is not None and target not in tree:
                    oddities.append(f"a rewind names message {target}, which isn't there")
                    continue
                head = target
                path = Path(tree.path_to(target))
            case SetEntry():
                settings.append(entry)
            case CheckpointEntry():
                checkpoints.append(entry)
                again = entry.extra.get(
                    "redo_of"
                )  # a redo brings one back; a new compaction ends all redoing
                undone = [one for one in undone if one.id != again] if again is not None else []
            case CheckpointUndoneEntry(checkpoint=taken_back):
                undone += [one for one in checkpoints if one.id == taken_back]
                checkpoints = [one for one in checkpoints if one.id != taken_back]
            case NoticeEntry():
                notices.append(PlacedNotice(head, entry))
            case UnknownEntry():
                pass
            case _:
                assert_never(entry)
    grown = replace(
        session,
        tree=tree,
        path=path,
        head=head,
        last_message_at=last_at,
        checkpoints=tuple(checkpoints),
        undone=tuple(undone),
        notices=tuple(notices),
        oddities=tuple(oddities),
    )
    return _with_settings(grown, settings) if settings else grown


def _with_settings(session: Session, settings: list[SetEntry]) -> Session:
    title, by, old_titles = session.set_title, session.titled_by, list(session.old_titles)
    archived, system, model = session.archived, session.system, session.model
    tags = dict.fromkeys(session.tags)  # a set that keeps its order
    pins = set(session.pins)
    custom = dict(session.custom)
    for entry in settings:
        if entry.title is not None and not (by == "user" and entry.by != "user"):
            if title and title != entry.title and title not in old_titles:
                old_titles.append(title)
            title, by = entry.title, entry.by or "user"
        archived = archived if entry.archived is None else entry.archived
        system = system if entry.system is None else entry.system
        model = model if entry.model is None else entry.model
        tags |= dict.fromkeys(entry.add_tags)
        for tag in entry.remove_tags:
            tags.pop(tag, None)
        pins |= set(entry.add_pins)
        pins -= set(entry.remove_pins)
        custom |= entry.custom
    return replace(
        session,
        set_title=title,
        titled_by=by,
        old_titles=tuple(old_titles),
        archived=archived,
        system=system,
        model=model,
        tags=tuple(tags),
        pins=frozenset(pins),
        custom=custom,
    )
