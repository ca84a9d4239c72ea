"""A session as one JSON file that loses nothing, attachments inside, and reading such a file without trusting it."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from shipchat.core.entries import Entry, MessageEntry, SessionHeader, SessionRecord
from shipchat.core.errors import ShipchatError
from shipchat.core.messages import AttachmentPart, Json
from shipchat.formats.document import read_document
from shipchat.formats.entries import entry_to_json, instant_to_json
from shipchat.formats.header import FORMAT, NewerVersion, header_from_json, header_to_json
from shipchat.formats.lines import BadJson, encode_json, parse_strictly
from shipchat.formats.tolerant import entry_from_json

EXPORT: Final = "shipchat.export"
VERSION: Final = 1
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_BOM: Final = b"\xef\xbb\xbf"


class ImportRefused(ShipchatError):
    """A file that is no export, or a damaged one; nothing was made."""

    code = "import_refused"
    exit_code = 5


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file holds: a session under the key it had, and the attachments whose bytes are what they claim to be."""

    record: SessionRecord
    blobs: Mapping[str, bytes] = field(default_factory=dict)


def is_hash(text: str) -> bool:
    """Return whether `text` can name a blob: nothing else is ever part of a path."""
    return _HASH.fullmatch(text) is not None


def attachments_of(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the hashes of all attachments, each once, in order."""
    seen: set[str] = set()
    for entry in entries:
        if isinstance(entry, MessageEntry):
            for part in entry.message.parts:
                if isinstance(part, AttachmentPart) and part.sha256 not in seen and is_hash(part.sha256):
                    seen.add(part.sha256)
                    yield part.sha256


def encode_export(record: SessionRecord, blobs: Mapping[str, bytes], *, now: datetime | None = None) -> bytes:
    """Return the file: one entry a line, so that versions of it can be compared."""
    header = header_to_json(record.header)
    lines = [encode_json(entry_to_json(entry, seq)) for seq, entry in enumerate(record.entries, 1)]
    attached: dict[str, Json] = {name: base64.b64encode(data).decode("ascii") for name, data in blobs.items()}
    head: dict[str, Json] = {
        "format": EXPORT,
        "version": VERSION,
        "exported": instant_to_json(now or datetime.now(UTC)),
        "session": {name: value for name, value in header.items() if name not in ("format", "version")},
        "attachments": attached,
    }
    body = b",\n".join(lines)
    return encode_json(head)[:-1] + b',"entries":[' + (b"\n" + body + b"\n" if body else b"") + b"]}\n"


def decode_export(data: bytes, name: str) -> Imported:
    """Return what a file's bytes hold; `name` is the file's, for messages only. Raises ImportRefused."""
    try:
        value = parse_strictly(data.removeprefix(_BOM))
    except BadJson as error:
        raise _refused(name, str(error)) from error
    if not isinstance(value, dict):
        raise _refused(name, "not an export of shipchat")
    kind, version = value.get("format"), value.get("version")
    if kind == FORMAT:
        return Imported(_session_file(data, value, name))
    if kind != EXPORT:
        raise _refused(name, "not an export of shipchat")
    if version != VERSION:
        raise _refused(name, f"written by a newer shipchat (export version {str(version)[:20]})")
    header = _header(value.get("session"), name)
    entries = _entries(value.get("entries"), name)
    record = SessionRecord(replace(header, copied=min(header.copied, len(entries))), entries)
    return Imported(record, _blobs(value.get("attachments"), entries, name))


def _session_file(data: bytes, value: dict[str, Json], name: str) -> SessionRecord:
    """Read a session file itself, which must be whole."""
    key = value.get("key")
    reading = read_document(data, key if isinstance(key, str) else "imported")
    if reading.header is None or reading.problem is not None:
        raise _refused(name, reading.problem.reason if reading.problem else "without a header")
    return SessionRecord(reading.header, reading.entries)


def _header(value: Json, name: str) -> SessionHeader:
    if not isinstance(value, dict) or not isinstance(value.get("key"), str):
        raise _refused(name, "without a session")
    try:
        return header_from_json({**value, "format": FORMAT, "version": 1}, str(value["key"])).header
    except (BadJson, NewerVersion) as error:
        raise _refused(name, str(error)) from error


def _entries(value: Json, name: str) -> tuple[Entry, ...]:
    if not isinstance(value, list):
        raise _refused(name, "without entries")
    entries: list[Entry] = []
    for place, one in enumerate(value, 1):
        try:
            entries.append(entry_from_json(one)[1])
        except BadJson as error:
            raise _refused(name, f"entry {place}: {error}") from error
    return tuple(entries)


def _blobs(value: Json, entries: tuple[Entry, ...], name: str) -> dict[str, bytes]:
    """Return the attachments that the session refers to; one whose bytes are not what its name says is refused."""
    if not isinstance(value, dict):
        return {}
    blobs: dict[str, bytes] = {}
    for wanted in attachments_of(entries):
        text = value.get(wanted)
        if not isinstance(text, str):
            continue
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise _refused(name, f"attachment {wanted[:12]}… is not base64") from error
        if hashlib.sha256(data).hexdigest() != wanted:
            raise _refused(name, f"attachment {wanted[:12]}… has other bytes than its name says")
        blobs[wanted] = data
    return blobs


def _refused(name: str, reason: str) -> ImportRefused:
    return ImportRefused(
        f"{name} can't be imported: {reason}",
        advice=("Nothing was made. Exports are made with: shipchat export SESSION -o FILE.json",),
        details={"file": name, "reason": reason},
    )
