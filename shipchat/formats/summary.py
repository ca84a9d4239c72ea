"""The row a list shows of a session file, read without building its messages; must agree with `core.session`.

Three ways to the same row: all lines in one decoding call for a whole, well-formed file (nearly all are); line by line
for everything else; and going on from a `RowState` for a file that has only grown.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from shipchat.core.entries import ForkOrigin, HeadEntry, MessageEntry, SessionHeader, SetEntry
from shipchat.core.messages import UserMessage
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.core.titles import auto_title
from shipchat.formats.document import first_line, read_document
from shipchat.formats.header import FORMAT
from shipchat.formats.lines import CLOSING, CRC_LENGTH, ENTRIES_FIELD, BadJson
from shipchat.formats.migrations import VERSION
from shipchat.formats.quick import session_summary
from shipchat.formats.scan import Problem, scan
from shipchat.formats.wire import Instant, OriginWire

SEAL: Final = 32
"""Bytes before the end of what was read that tell whether the file is still the same: they end in a checksum."""


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
_FROM_CRC: Final = -(CRC_LENGTH + 2)
"""Where the checksum begins in a line that a comma follows, from its end."""
_decode_parts: Final[Callable[[msgspec.Raw], list[_Part]]] = msgspec.json.Decoder(list[_Part]).decode


class _Document(msgspec.Struct, gc=False, kw_only=True, forbid_unknown_fields=True):
    format: str
    version: int
    key: str
    created: Instant
    forked_from: OriginWire | None = None
    copied: int = 0
    crc: str
    entries: list[_AnyLine]


_decode_document: Final[Callable[[bytes], _Document]] = msgspec.json.Decoder(_Document).decode


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
        self.seq = self.count = 0

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

    def shown_title(self) -> str:
        """Return the automatic title of the current path, empty when there is none."""
        prompt = self.prompts[self.roots[self.head]] if self.head is not None else None
        return _title_of(prompt)

    def state(self, header: SessionHeader) -> "RowState":
        return RowState(
            created=header.created,
            origin=_origin(header.forked_from),
            copied=header.copied,
            head=self.head,
            depth=self.depths[self.head] if self.head is not None else 0,
            prompt_title=self.shown_title(),
            updated=self.updated,
            replied=self.replied,
            model=self.model,
            title=self.title,
            by=self.by,
            old_titles=tuple(self.old_titles),
            tags=tuple(self.tags),
            archived=self.archived,
        )


class RowState(msgspec.Struct, array_like=True, gc=False, kw_only=True):
    """A row and where it was left off: enough to go on when a file has grown. `end` is where its last entry ends."""

    created: datetime
    origin: tuple[str, str | None, int] | None
    copied: int
    head: str | None = None
    depth: int = 0
    prompt_title: str = ""
    updated: datetime | None = None
    replied: str | None = None
    model: str | None = None
    title: str | None = None
    by: str | None = None
    old_titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    archived: bool = False
    seq: int = 0
    count: int = 0
    end: int = 0
    seal: bytes = b""

    def summary(self, key: str, size: int, damage: Damage | None = None) -> SessionSummary:
        """Return the row of the session `key`, whose file has `size` bytes."""
        return session_summary(
            key,
            self.title or self.prompt_title or key,
            self.created,
            self.updated or self.created,
            tags=self.tags,
            archived=self.archived,
            messages=self.depth,
            model=self.model or self.replied,
            forked_from=None if self.origin is None else ForkOrigin(*self.origin),
            old_titles=self.old_titles,
            size=size,
            damage=damage,
        )


@dataclass(frozen=True, slots=True)
class RowReading:
    """A row, and the state to go on from: None where nobody should (torn, damaged, of an older version)."""

    row: SessionSummary
    state: RowState | None = None


def _origin(origin: ForkOrigin | None) -> tuple[str, str | None, int] | None:
    return None if origin is None else (origin.key, origin.message, origin.position)


def _title_of(prompt: msgspec.Raw | str | None) -> str:
    if isinstance(prompt, msgspec.Raw):
        try:
            prompt = "".join([part.text for part in _decode_parts(prompt) if part.type == "text"])
        except msgspec.MsgspecError:
            prompt = None
    return auto_title(prompt) if prompt else ""


def damage_of(problem: Problem, data: bytes, path: str) -> Damage:
    """Return a problem of a file's bytes as what a list shows: with the line's number, and the stable code."""
    line = data.count(b"\n", 0, problem.offset) + 1
    return Damage(path, line, problem.reason, "session_damaged" if problem.newer is None else "session_newer")


def read_summary(data: bytes, key: str, path: str) -> SessionSummary | Damage:
    """Return the row of a file's bytes; `damage` is set when only its beginning could be read.

    Returns the Damage alone when not even the header could.
    """
    reading = read_row(data, key, path)
    return reading if isinstance(reading, Damage) else reading.row


def read_row(data: bytes, key: str, path: str) -> RowReading | Damage:
    """Return what `read_summary` does, with the state to go on from."""
    state = _read_whole(data)
    if state is not None:
        return RowReading(state.summary(key, len(data)), state)
    found, start, problem = first_line(data, key)
    if found is None:
        return damage_of(problem or Problem("not a session file", 0), data, path)
    row = _Row()
    end = 0
    if found.steps:  # an older version: rare, so by the long way
        reading = read_document(data, key)
        for entry in reading.entries:
            _add_entry(row, entry)
        problem = reading.problem
    else:
        lines = scan(data, start, first=True)
        problem = _fold_lines(row, data, lines.spans, found.header.copied) or lines.problem
        end = lines.end
    state = row.state(found.header)
    torn = problem is None or problem.torn  # an append that is not finished yet is no damage
    damage = None if torn or not problem else damage_of(problem, data, path)
    summary = state.summary(key, len(data), damage)
    if problem is not None or found.steps or data[end:] != CLOSING:
        return RowReading(summary)
    state.seq, state.count, state.end = row.seq, row.count, end
    state.seal = data[max(0, end - SEAL) : end]
    return RowReading(summary, state)


def extend_row(state: RowState, tail: bytes, base: int) -> RowState | None:
    """Return the state of a file that has grown since `state`; `tail` are its bytes from `base` on.

    None when the file must be read as a whole: it is not what it was, is being written, or its new lines can only be
    judged knowing the older ones (a rewind, a sibling). Ids are taken to be new, as every writer of ours makes sure.
    """
    at = state.end - len(state.seal) - base
    if at < 0 or not tail.startswith(state.seal, at) or not tail.endswith(CLOSING):
        return None
    start = state.end - base
    lines = scan(tail, start, first=state.count == 0)
    if lines.problem is not None or tail[lines.end :] != CLOSING:
        return None
    view = memoryview(tail)
    try:
        entries = [_decode(view[begin:stop]) for begin, stop in lines.spans]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    grown = _fold_chain(msgspec.structs.replace(state), entries)
    if grown is not None:
        grown.end = base + lines.end
        grown.seal = tail[max(0, lines.end - SEAL) : lines.end]
    return grown


def _read_whole(data: bytes) -> RowState | None:
    """Return the state of a file that is exactly as we write it, all checksums good; None for any other."""
    if not data.endswith(CLOSING):
        return None
    try:
        document = _decode_document(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if document.format != FORMAT or document.version != VERSION or document.copied < 0:
        return None
    if not _seals_hold(data, len(document.entries)):
        return None
    origin = document.forked_from
    begun = RowState(
        created=document.created,
        origin=None if origin is None else (origin.key, origin.message, origin.position),
        copied=document.copied,
    )
    state = _fold_chain(begun, document.entries)
    if state is None:
        return None
    state.end = len(data) - len(CLOSING)
    state.seal = data[max(0, state.end - SEAL) : state.end]
    return state


def _seals_hold(data: bytes, count: int) -> bool:
    """Return whether this well-formed document has `count` lines of entries, each with its checksum where we write it."""
    lines = data.split(b"\n")
    if len(lines) != count + 3:
        return False
    crc32 = zlib.crc32
    header = lines[0]
    at = len(header) - len(ENTRIES_FIELD) - CRC_LENGTH
    if at <= 0 or header[at:] != b',"crc":"%08x"%b' % (crc32(header[:at]), ENTRIES_FIELD):
        return False
    if not count:
        return True
    lines[-3] += b","
    del lines[-2:], lines[0]
    # Comprehensions, because ten thousand files are read while somebody waits.
    found = [line[_FROM_CRC:] for line in lines]
    return {line[:1] for line in lines} == {b"{"} and found == [
        b',"crc":"%08x"},' % crc32(line[:_FROM_CRC]) for line in lines
    ]


def _fold_chain(state: RowState, entries: "list[_AnyLine]") -> RowState | None:
    """Fold `entries` into `state` (which is changed); None when one of them branches off or makes no sense here."""
    head, depth, updated = state.head, state.depth, state.updated
    seq, count, copied = state.seq, state.count, state.copied
    seen: set[str] = set()
    settings: list[_Set] = []
    for line in entries:
        number = line.seq
        if number != seq + 1 and not (count < copied and number > seq):
            return None
        seq = number
        count += 1
        if type(line) is _Message:
            message_id = line.id if line.id is not None else f"seq-{number}"
            if message_id in seen or message_id == head:
                return None
            seen.add(message_id)
            if line.parent is None:
                if head is not None:
                    return None
                depth = 1
                state.prompt_title = _title_of(line.parts) if line.role == "user" else ""
            elif line.parent != head:
                return None
            else:
                depth += 1
            head = message_id
            if updated is None or line.at > updated:
                updated = line.at
            if line.model and line.role == "assistant":
                state.replied = line.model
        elif type(line) is _Set:
            settings.append(line)
        elif type(line) is _Head and line.target != head:
            return None
    state.head, state.depth, state.updated = head, depth, updated
    state.seq, state.count = seq, count
    if settings:
        _apply(state, settings)
    return state


def _apply(state: RowState, settings: "list[_Set]") -> None:
    row = _Row()
    row.title, row.by, row.old_titles = state.title, state.by, list(state.old_titles)
    row.tags, row.archived, row.model = dict.fromkeys(state.tags), state.archived, state.model
    for entry in settings:
        row.set(entry)
    state.title, state.by, state.old_titles = row.title, row.by, tuple(row.old_titles)
    state.tags, state.archived, state.model = tuple(row.tags), row.archived, row.model


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
        seq = row.seq = number
        row.count = count + 1
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
