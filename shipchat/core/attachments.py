"""Files that go with a prompt: which kinds there are, told by their bytes, how large they may be, what they weigh.

Reading files is `sessions.attaching`'s; keeping their bytes is a `core.protocols.Blobs`'.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from shipchat.core.messages import AttachmentPart, Message

Sort: TypeAlias = Literal["text", "image", "pdf"]

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The kinds of pictures that both vendors take."""

PDF: Final = "application/pdf"

TEXTS: Final = frozenset(
    {"application/json", "application/xml", "application/toml", "application/yaml", "application/x-yaml"}
)
"""What is text though its type does not say so."""

TEXT_ONLY: Final[frozenset[str]] = frozenset({"text"})
"""What every model takes: a text file is sent as text."""

EVERY_SORT: Final[frozenset[str]] = frozenset({"text", "image", "pdf"})

MAX_BYTES: Final[Mapping[Sort, int]] = {"text": 1_000_000, "image": 20_000_000, "pdf": 20_000_000}
"""The largest file of each sort. A text of this size is about 250,000 tokens; vendors refuse larger pictures anyway."""

MAX_TOGETHER: Final = 24_000_000
"""Bytes of all files of one prompt: base64 makes 32 MB of them, which is what Anthropic takes in one request."""

WORDS: Final[Mapping[Sort, str]] = {"text": "text files", "image": "pictures", "pdf": "PDF files"}

_IMAGE_TOKENS: Final = 1_600
"""What a large picture costs at most with Anthropic (its longer side is scaled to 1,568 pixels); OpenAI's cost less."""

_BYTES_PER_TOKEN: Final[Mapping[Sort, int]] = {"text": 3, "pdf": 100}
"""Cautious for English and code (4 and more). A PDF's pages can't be told from its size: only a rough guess."""

_LEAST_PDF: Final = 2_000
"""Tokens of one page of a PDF, which is sent as text and as a picture."""

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)
_BACKTICKS: Final = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class NewAttachment:
    """A file to go with a prompt, not kept anywhere yet. `name` is fit to be shown."""

    name: str
    media_type: str
    data: bytes

    @property
    def sort(self) -> Sort:
        """What it is sent as."""
        return sort_of(self.media_type) or "text"


def sort_of(media_type: str) -> Sort | None:
    """Return what a file of this type is sent as, None when no model takes it."""
    if media_type in IMAGES:
        return "image"
    if media_type == PDF:
        return "pdf"
    return "text" if media_type.startswith("text/") or media_type in TEXTS else None


def sniffed(data: bytes) -> str | None:
    r"""Return the media type that the bytes of a file show, whatever its name says; None for what can't be sent.

    >>> sniffed(b"GIF89a..."), sniffed("é".encode()), sniffed(b"\x00\x01"), sniffed("é".encode("latin-1"))
    ('image/gif', 'text/plain', None, None)
    """
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if b"\0" in data:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "text/plain"


def size_text(size: int) -> str:
    """Return `size` bytes for people: `812 B`, `4 kB`, `2.1 MB`.

    >>> size_text(999), size_text(4_200), size_text(2_100_000)
    ('999 B', '4 kB', '2.1 MB')
    """
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:.0f} kB" if size < 999_500 else f"{size / 1_000_000:.1f} MB"


def fenced(name: str, text: str) -> str:
    """Return a text file as it is sent in a message: named, between fences that nothing in it can end."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"\n\nContents of the file {name}:\n\n{fence}\n{text}{end}{fence}\n"


def attachment_tokens(message: Message) -> int:
    """Return about how many tokens the files of `message` are, on the high side: what their sizes tell."""
    total = 0
    for part in message.parts:
        if isinstance(part, AttachmentPart):
            sort = sort_of(part.media_type)
            if sort == "image":
                total += _IMAGE_TOKENS
            elif sort == "pdf":
                total += max(_LEAST_PDF, part.size // _BYTES_PER_TOKEN["pdf"])
            else:
                total += part.size // _BYTES_PER_TOKEN["text"] + 1
    return total
