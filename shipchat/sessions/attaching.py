"""Files that go with a prompt: read from the disk, kept as blobs before the prompt is, put into requests as text.

Everything here blocks. What kinds of files there are is `core.attachments`'; pictures and PDF files are written by
each provider in its own way.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from shipchat.core.attachments import (
    MAX_BYTES,
    MAX_TOGETHER,
    WORDS,
    NewAttachment,
    fenced,
    size_text,
    sniffed,
    sort_of,
)
from shipchat.core.errors import UsageError
from shipchat.core.messages import AttachmentPart, Message, Part, TextPart, UserMessage
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import Blobs
from shipchat.core.safe_text import safe_line

_MENTION: Final = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_WORD: Final = re.compile(r"\S+")
_WORDS: Final = 6  # that a file's name may have without quotes
_LONGEST_PATH: Final = 1_000
_CLOSING: Final = ".,;:!?)]}>'\""
_LONGEST_NAME: Final = 200

_BY_SUFFIX: Final = {
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
}


def read_attachment(path: str | os.PathLike[str]) -> NewAttachment:
    """Return the file at `path` (`~` is the home directory), its kind told by its bytes.

    Raises UsageError with one line: not there, no regular file, too large, empty, or of a kind that can't be sent.
    """
    place = Path(os.path.expanduser(os.fspath(path)))
    name = safe_line(place.name or str(place))[:_LONGEST_NAME]
    data = _read(place, name)
    media_type = sniffed(data)
    if not data:
        raise _refused(name, "it is empty")
    if media_type is None:
        raise _refused(name, "it is neither a PNG, JPEG, GIF or WebP picture, nor a PDF, nor text in UTF-8")
    sort = sort_of(media_type) or "text"
    if len(data) > MAX_BYTES[sort]:
        raise _too_large(name, len(data), f"{WORDS[sort]} may have {size_text(MAX_BYTES[sort])}")
    if media_type == "text/plain":
        media_type = _BY_SUFFIX.get(place.suffix.lower(), media_type)
    return NewAttachment(name, media_type, data)


def read_attachments(paths: Iterable[str | os.PathLike[str]]) -> tuple[NewAttachment, ...]:
    """Return the files at `paths`. Raises UsageError for the first that can't be sent, or when all are too large."""
    files: list[NewAttachment] = []
    for path in paths:
        files.append(read_attachment(path))
        _check_together(files)
    return tuple(files)


def _read(place: Path, name: str) -> bytes:
    most = max(MAX_BYTES.values())
    try:
        # Opened without waiting for the other end of a FIFO; a symbolic link of the user's own is fine.
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise _refused(name, (getattr(error, "strerror", None) or "no such file").lower()) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(name, "it is no regular file")
        if status.st_size > most:
            raise _too_large(name, status.st_size, f"files may have {size_text(most)}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most + 1)
    except OSError as error:
        raise _refused(name, (error.strerror or "it can't be read").lower()) from None
    finally:
        os.close(descriptor)


def _refused(name: str, reason: str) -> UsageError:
    return UsageError(f"{name} can't be attached: {reason}", details={"file": name, "reason": reason})


def _too_large(name: str, size: int, limit: str) -> UsageError:
    return _refused(name, f"it has {size_text(size)}; {limit}")


def _check_together(files: Sequence[NewAttachment]) -> None:
    together = sum(len(one.data) for one in files)
    if together > MAX_TOGETHER:
        raise UsageError(
            f"the files together have {size_text(together)}; those of one prompt may have {size_text(MAX_TOGETHER)}",
            advice=("Send some of them with another prompt.",),
        )


def mentioned(text: str) -> list[Path]:
    """Return the files that `text` names as `@path` or `@"a path"`, each once; what names no file is only text."""
    return list(dict.fromkeys(path for _, _, path in _mentions(text)))


def without_mention(text: str, path: Path) -> str:
    """Return `text` without the words that name the file `path`."""
    for start, end, _ in reversed([one for one in _mentions(text) if one[2] == path]):
        text = text[:start] + text[end:].removeprefix(" ")
    return text


def _mentions(text: str) -> Iterator[tuple[int, int, Path]]:
    """Yield where a file is named, from its sign on, and the file."""
    for match in _MENTION.finditer(text):
        quoted = match[1]
        if quoted is not None:
            if (path := _file(quoted)) is not None:
                yield match.start(), match.end(), path
            continue
        begins = match.start() + 1
        line = text[begins : begins + _LONGEST_PATH].partition("\n")[0]
        ends = [word.end() for _, word in zip(range(_WORDS), _WORD.finditer(line), strict=False)]
        # The longest name of a file counts: names have spaces, and punctuation behind one is not part of it.
        for end in reversed(ends):
            names = (line[:end], line[:end].rstrip(_CLOSING))
            found = next(((name, path) for name in names if name and (path := _file(name)) is not None), None)
            if found is not None:
                yield match.start(), begins + len(found[0]), found[1]
                break


def _file(name: str) -> Path | None:
    path = Path(os.path.expanduser(name))
    try:
        return path if stat.S_ISREG(path.stat().st_mode) else None
    except (OSError, ValueError):
        return None


def with_files(
    prompt: UserMessage,
    files: Sequence[NewAttachment],
    *,
    mentions: bool,
    ref: ModelRef,
    info: ModelInfo,
    blobs: Blobs | None,
) -> UserMessage:
    """Return `prompt` with `files`, and with `mentions` those its text names; on return their bytes are kept.

    Raises UsageError, nothing being kept, when the model `ref` takes no such file; StoreUnavailable.
    """
    if mentions:
        files = (*files, *read_attachments(mentioned(prompt.text)))
        _check_together(files)
    if not files:
        return prompt
    for file in files:
        if file.sort != "text" and file.sort not in info.accepts:
            raise UsageError(
                f"{ref} takes no {WORDS[file.sort]}: {file.name} can't be sent",
                advice=("Nothing was sent. Choose a model that takes them: shipchat models list",),
                details={"file": file.name, "model": str(ref), "media_type": file.media_type},
            )
    if blobs is None:
        raise UsageError("this session has no place for attachments")
    parts = [AttachmentPart(blobs.put(one.data), one.name, one.media_type, len(one.data)) for one in files]
    # The same file twice is one attachment.
    return replace(prompt, parts=(*prompt.parts, *dict.fromkeys(parts)))


def with_texts(
    messages: Sequence[Message], blobs: Blobs | None, accepts: frozenset[str]
) -> tuple[Message, ...]:
    """Return `messages` as a model is sent them: text files as text, a line for each file that it can't take.

    Depends on the messages and blobs alone, so that what was sent before is sent the same again.
    """
    return tuple(_with_texts(message, blobs, accepts) for message in messages)


def _with_texts(message: Message, blobs: Blobs | None, accepts: frozenset[str]) -> Message:
    if not any(isinstance(part, AttachmentPart) for part in message.parts):
        return message
    parts = tuple(
        _sent(part, blobs, accepts) if isinstance(part, AttachmentPart) else part for part in message.parts
    )
    return replace(message, parts=parts)


def _sent(part: AttachmentPart, blobs: Blobs | None, accepts: frozenset[str]) -> Part:
    sort = sort_of(part.media_type)
    name = safe_line(part.name)
    if sort is not None and sort != "text" and sort in accepts:
        return part
    why = "this model can't be sent such a file"
    if sort == "text":
        data = None if blobs is None else blobs.read(part.sha256)
        if data is not None:
            return TextPart(fenced(name, data.decode("utf-8-sig", "replace")))
        why = "it is missing"
    return TextPart(f"\n\n[The file {name} ({safe_line(part.media_type)}, {part.size:,} bytes): {why}.]\n")
