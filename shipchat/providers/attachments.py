"""Attachments as a provider is sent them: what each is taken for, and the line that stands for one that can't be sent.

How a picture or document is written is each protocol's own affair.
"""

from dataclasses import dataclass

from shipchat.core.attachments import Sort, sort_of
from shipchat.core.messages import AttachmentPart
from shipchat.core.safe_text import without_surrogates
from shipchat.providers.server import BlobReader


@dataclass(frozen=True, slots=True)
class Attachment:
    """What is sent of an attachment: its bytes, or `text` (of a text file, or a line that says what is missing)."""

    sort: Sort
    name: str
    media_type: str = ""
    data: bytes = b""
    text: str = ""


def attachment(part: AttachmentPart, read: BlobReader | None, *, images: bool = True) -> Attachment:
    """Return what to send of `part`; blocks. A blob that can't be read becomes a line that says so."""
    name = without_surrogates(part.name)
    sort = sort_of(part.media_type)
    if sort is None:
        return _instead(part, "this kind of file can't be sent to the model")
    if sort == "image" and not images:
        return _instead(part, "the model can't see pictures")
    try:
        if read is None:
            return _instead(part, "it is not available")
        data = read(part.sha256)
    except OSError:
        return _instead(part, "it is missing")
    if sort != "text":
        return Attachment(sort, name, part.media_type, data)
    text = data.decode("utf-8", "replace")
    return Attachment(sort, name, text=f"Contents of the file {name}:\n\n{text}")


def _instead(part: AttachmentPart, why: str) -> Attachment:
    name = without_surrogates(part.name)
    return Attachment(
        "text", name, text=f"[The file {name} ({part.media_type}, {part.size:,} bytes): {why}.]"
    )
