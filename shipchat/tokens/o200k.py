"""The o200k_base encoding from data inside this package, and a counter that survives any text.

The only home of tiktoken. Knows nothing of messages or models: it counts a string.
"""

import lzma
import threading
from importlib import resources
from typing import TYPE_CHECKING, Final

from shipchat.core.safe_text import without_surrogates

if TYPE_CHECKING:
    import tiktoken

DATA_FILE: Final = "o200k_base.xz"
"""The packed table, made by `shipchat.tokens.pack`."""

TABLE_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""SHA-256 of the `.tiktoken` text the table comes from, as tiktoken itself has it (tiktoken_ext.openai_public)."""

SLICE_CHARACTERS: Final = 50_000
"""Longest piece given to tiktoken at once.

A run of a million spaces exhausts its regex engine's stack: a panic, which is a BaseException, with a backtrace
on stderr. Runs of 50,000 characters of any one kind encode without fault.
"""

# From tiktoken_ext.openai_public.o200k_base; the table is only half of an encoding.
_SPECIAL_TOKENS: Final = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
_ALTERNATIVES: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
)

# How far back from a slice's end to look for a place where a cut changes no count.
_LOOK_BACK: Final = 256


def unpack(data: bytes) -> dict[bytes, int]:
    """Return the rank of each token from the packed form: xz of a length byte and the token's bytes, by rank."""
    packed = lzma.decompress(data)
    ranks: dict[bytes, int] = {}
    position, rank, end = 0, 0, len(packed)
    while position < end:
        start = position + 1
        position = start + packed[position]
        ranks[packed[start:position]] = rank
        rank += 1
    return ranks


def load_encoding() -> "tiktoken.Encoding":
    """Return a new o200k_base encoding. Reads no network and no cache; takes about 0.4 s and 75 MB."""
    import tiktoken

    return tiktoken.Encoding(
        "o200k_base",
        pat_str="|".join(_ALTERNATIVES),
        mergeable_ranks=unpack(resources.files("shipchat.tokens").joinpath(DATA_FILE).read_bytes()),
        special_tokens=_SPECIAL_TOKENS,
    )


def slices(text: str) -> list[str]:
    """Return `text` in pieces of at most SLICE_CHARACTERS, which joined give it back.

    A cut goes after a line feed that a letter or digit follows, where one is near the end of a piece: the
    encoding splits there itself, so that the count stays exact. Elsewhere a cut may add a token.
    """
    pieces = []
    start, length = 0, len(text)
    while length - start > SLICE_CHARACTERS:
        end = start + SLICE_CHARACTERS
        for cut in range(end, end - _LOOK_BACK, -1):
            if text[cut - 1] == "\n" and text[cut].isalnum():
                end = cut
                break
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


class O200kCounter:
    """Counts tokens with o200k_base; implements `core.protocols.TokenCounter`. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._encoding: tiktoken.Encoding | None = None

    def load(self) -> None:
        """Load the table now (about 0.4 s), for example in a thread while nobody waits; later calls do nothing."""
        self._loaded()

    def count(self, text: str) -> int:
        """Return the tokens of `text`; special tokens written out in it count as the text they are.

        A lone surrogate counts as U+FFFD. Blocks; the first call loads the table.
        """
        if not text:
            return 0
        encode = self._loaded().encode_ordinary
        return sum(len(encode(piece)) for piece in slices(without_surrogates(text)))

    def _loaded(self) -> "tiktoken.Encoding":
        encoding = self._encoding
        if encoding is None:
            with self._lock:
                if self._encoding is None:
                    self._encoding = load_encoding()
                encoding = self._encoding
        return encoding
