"""The row a list shows of a session file, read without building its messages; must agree with `core.session`."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from shipchat.core.entries import HeadEntry, MessageEntry, SessionHeader, SetEntry
from shipchat.core.messages import UserMessage
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.core.titles import auto_title
from shipchat.formats.document import first_line, read_document
from shipchat.formats.lines import BadJson
from shipchat.formats.scan import Problem, scan
from shipchat.formats.wire import Instant


class _Line(msgspec.Struct, gc=False, kw_only=True):
    seq: int
    at: Instant
    id: str | None = None


class _Message(_Line, tag="message", gc=False, kw_only=True):
    role: Literal["user", "assistant"]
    parent: str | None = None
    model: str | None = None
    parts: msgspec.Raw


class _Head(_Line, tag="head", gc=False, kw_only=True):
    target: str | None


class _Set(_Line, tag="set", gc=False, kw_only=True):
    title: str | None = None
    by: Literal["user", "auto"] | None = None
    archived: bool | None = None
    model: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


class _Checkpoint(_Line, tag="checkpoint", gc=False, kw_only=True):
    pass


class _Undone(_Line, tag="checkpoint_undone", gc=False, kw_only=True):
    pass


class _Notice(_Line, tag="notice", gc=False, kw_only=True):
    pass


class _Part(msgspec.Struct, gc=False):
    type: str
    text: str = ""


_AnyLine: TypeAlias = _Message | _Head | _Set | _Checkpoint | _Undone | _Notice
_decode: Final[Callable[[bytes | memoryview], _AnyLine]] = msgspec.json.Decoder(_AnyLine).decode
_decode_parts: Final[Callable[[msgspec.Raw], list[_Part]]] = msgspec.json.Decoder(list[_Part]).decode


class _Row:
    """What of a session a row needs, folded line by line."""

    def __init__(self) -> None:
        self.depths: dict[str, int] = {}
        self.roots: dict[str, str] = {}
        self.prompts: dict[str, msgspec.Raw | str | None] = {}
        self.head: str | None = None
        self.updated: datetime | None = None
        self.replied: str | None = None
        self.model: str | None = None
        self.title: str | None = None
        self.by: str | None = None
        self.old_titles: list[str] = []
        self.tags: dict[str, None] = {}
        self.archived = False

    def message(
        self, message_id: str, parent: str | None, at: datetime, prompt: msgspec.Raw | str | None
    ) -> None:
        if message_id in self.depths:
            return
        if parent is not None and parent in self.depths:
            self.depths[message_id] = self.depths[parent] + 1
            self.roots[message_id] = self.roots[parent]
        else:
            self.depths[message_id] = 1
            self.roots[message_id] = message_id
            self.prompts[message_id] = prompt
        self.head = message_id
        self.updated = at if self.updated is None else max(self.updated, at)

    def move(self, target: str | None) -> None:
        if target is None or target in self.depths:
            self.head = target

    def set(self, entry: "_Set | SetEntry") -> None:
        if entry.title is not None and not (self.by == "user" and entry.by != "user"):
            if self.title and self.title != entry.title and self.title not in self.old_titles:
                self.old_titles.append(self.title)
            self.title, self.by = entry.title, entry.by or "user"
        self.archived = self.archived if entry.archived is None else entry.archived
        self.model = self.model if entry.model is None else entry.model
        self.tags |= dict.fromkeys(entry.add_tags)
        for tag in entry.remove_tags:
            self.tags.pop(tag, None)

    def shown_title(self, key: str) -> str:
        if self.title:
            return self.title
        prompt = self.prompts[self.roots[self.head]] if self.head is not None else None
        if isinstance(prompt, msgspec.Raw):
            try:
                prompt = "".join(part.text for part in _decode_parts(prompt) if part.type == "text")
            except msgspec.MsgspecError:
                prompt = None
        return (auto_title(prompt) if prompt else "") or key

    def summary(self, header: SessionHeader, size: int, damage: Damage | None) -> SessionSummary:
        return SessionSummary(
            key=header.key,
            title=self.shown_title(header.key),
            created=header.created,
            updated=self.updated or header.created,
            tags=tuple(self.tags),
            archived=self.archived,
            messages=self.depths[self.head] if self.head is not None else 0,
            model=self.model or self.replied,
            forked_from=header.forked_from,
            old_titles=tuple(self.old_titles),
            size=size,
            damage=damage,
        )


def damage_of(problem: Problem, data: bytes, path: str) -> Damage:
    """Return a problem of a file's bytes as what a list shows: with the line's number, and the stable code."""
    line = data.count(b"\n", 0, problem.offset) + 1
    return Damage(path, line, problem.reason, "session_damaged" if problem.newer is None else "session_newer")


def read_summary(data: bytes, key: str, path: str) -> SessionSummary | Damage:
    """Return the row of a file's bytes; `damage` is set when only its beginning could be read.

    Returns the Damage alone when not even the header could.
    """
    found, start, problem = first_line(data, key)
    if found is None:
        return damage_of(problem or Problem("not a session file", 0), data, path)
    row = _Row()
    if found.steps:  # an older version: rare, so by the long way
        reading = read_document(data, key)
        for entry in reading.entries:
            _add_entry(row, entry)
        problem = reading.problem
    else:
        lines = scan(data, start, first=True)
        problem = _fold_lines(row, data, lines.spans, found.header.copied) or lines.problem
    torn = problem is None or problem.torn  # an append that is not finished yet is no damage
    return row.summary(
        found.header, len(data), None if torn or not problem else damage_of(problem, data, path)
    )


def _fold_lines(row: _Row, data: bytes, spans: list[tuple[int, int]], copied: int) -> Problem | None:
    view = memoryview(data)
    seq = 0
    for count, (start, stop) in enumerate(spans):
        try:
            line = _decode(view[start:stop])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            from shipchat.formats.entries import decode_entry

            try:
                number, entry = decode_entry(view[start:stop])
            except BadJson as error:
                return Problem(str(error), start)
            _add_entry(row, entry)
        else:
            number = line.seq
            if isinstance(line, _Message):
                message_id = line.id if line.id is not None else f"seq-{number}"
                row.message(message_id, line.parent, line.at, line.parts if line.role == "user" else None)
                row.replied = line.model or row.replied if line.role == "assistant" else row.replied
            elif isinstance(line, _Set):
                row.set(line)
            elif isinstance(line, _Head):
                row.move(line.target)
        if number != seq + 1 and not (count < copied and number > seq):
            return Problem(f"entry {number} where {seq + 1} should be", start)
        seq = number
    return None


def _add_entry(row: _Row, entry: object) -> None:
    match entry:
        case MessageEntry(message=UserMessage() as prompt):
            row.message(prompt.id, prompt.parent, prompt.at, prompt.text)
        case MessageEntry(message=reply):
            row.message(reply.id, reply.parent, reply.at, None)
            row.replied = getattr(reply, "model", None) or row.replied
        case SetEntry():
            row.set(entry)
        case HeadEntry():
            row.move(entry.target)
        case _:
            pass
