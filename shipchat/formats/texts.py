"""The words of a session file, message by message, for an index: what was said and where in the file it stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from shipchat.core.entries import MessageEntry
from shipchat.core.messages import AssistantMessage, AttachmentPart, Message, TextPart, ToolCallPart
from shipchat.formats.document import first_line
from shipchat.formats.entries import decode_entry
from shipchat.formats.lines import BadJson
from shipchat.formats.scan import scan
from shipchat.formats.wire import Instant


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The words of one message. Its line is at `place` (bytes from the beginning of the file), `length` bytes long."""

    id: str
    parent: str | None
    role: Literal["user", "assistant"]
    at: datetime
    text: str
    place: int
    length: int


class _Result(msgspec.Struct, gc=False):
    output: str = ""


class _Part(msgspec.Struct, gc=False):
    type: str
    text: str = ""
    name: str = ""
    arguments: str = ""
    result: _Result | None = None


class _Line(msgspec.Struct, gc=False):
    seq: int


class _Message(_Line, tag="message", gc=False, kw_only=True):
    at: Instant
    role: Literal["user", "assistant"]
    parts: list[_Part]
    id: str | None = None
    parent: str | None = None


class _Head(_Line, tag="head", gc=False):
    pass


class _Set(_Line, tag="set", gc=False):
    pass


class _Checkpoint(_Line, tag="checkpoint", gc=False):
    pass


class _Undone(_Line, tag="checkpoint_undone", gc=False):
    pass


class _Notice(_Line, tag="notice", gc=False):
    pass


_AnyLine: TypeAlias = _Message | _Head | _Set | _Checkpoint | _Undone | _Notice
_decode: Final[Callable[[bytes | memoryview], _AnyLine]] = msgspec.json.Decoder(_AnyLine).decode


def texts_of(data: bytes, key: str, base: int = 0) -> Iterator[IndexedText]:
    """Yield the messages in a file's bytes, up to what is damaged. `base` is where in the file `data` begins.

    With `base` above 0, `data` begins right after an entry. Reasoning, system prompts and attachments' contents are
    no words of a conversation; names of attachments are.
    """
    start = 0
    if base == 0:
        found, start, _ = first_line(data, key)
        if found is None:
            return
    view = memoryview(data)
    for begin, stop in scan(data, start, first=base == 0).spans:
        try:
            line = _decode(view[begin:stop])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            odd = _read_slowly(view[begin:stop])
            if odd is not None:
                yield _of_message(odd, base + begin, stop - begin)
            continue
        if isinstance(line, _Message):
            yield IndexedText(
                line.id if line.id is not None else f"seq-{line.seq}",
                line.parent,
                line.role,
                line.at,
                _joined(line.parts),
                base + begin,
                stop - begin,
            )


def text_at(line: bytes) -> tuple[str, str] | None:
    """Return the id and the words of the message whose line this is, None when it is none (any more)."""
    message = _read_slowly(line)
    return None if message is None else (message.id, words_of(message))


def words_of(message: Message) -> str:
    """Return what is searched of a message: texts, tool calls with their arguments and results, names of attachments."""
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                pieces.append(text)
            case ToolCallPart(name=name, arguments=arguments, result=result):
                pieces += [name, arguments, "" if result is None else result.output]
            case AttachmentPart(name=name):
                pieces.append(name)
            case _:
                pass
    return "\n".join([piece for piece in pieces if piece])


def _joined(parts: list[_Part]) -> str:
    if len(parts) == 1 and parts[0].type == "text":
        return parts[0].text
    pieces: list[str] = []
    for part in parts:
        if part.type == "text":
            pieces.append(part.text)
        elif part.type == "tool_call":
            pieces += [part.name, part.arguments, "" if part.result is None else part.result.output]
        elif part.type == "attachment":
            pieces.append(part.name)
    return "\n".join([piece for piece in pieces if piece])


def _read_slowly(line: bytes | memoryview) -> Message | None:
    try:
        _, entry = decode_entry(line)
    except BadJson:
        return None
    return entry.message if isinstance(entry, MessageEntry) else None


def _of_message(message: Message, place: int, length: int) -> IndexedText:
    return IndexedText(
        message.id,
        message.parent,
        "assistant" if isinstance(message, AssistantMessage) else "user",
        message.at,
        words_of(message),
        place,
        length,
    )
