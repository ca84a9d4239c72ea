"""What may stand in the composer: cleans text that is pasted or loaded, and tells whether there is anything to send."""

import unicodedata
from typing import Final

_CONTROLS: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{code: f"<U+{code:04X}>" for code in range(0x80, 0xA0)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}

# Characters that turn the direction of text around or break lines are part of what is written (Hebrew needs
# them), so the draft keeps them; the terminal is shown a character of no width in their place.
_UNSEEN: Final[dict[int, str]] = dict.fromkeys(
    (
        0x061C,
        0x200E,
        0x200F,
        0x2028,
        0x2029,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x2070),
        0xFEFF,
        *range(0xFFF9, 0xFFFC),
        *range(0xE0000, 0xE0080),
    ),
    "\N{ZERO WIDTH SPACE}",
)


def clean_draft(text: str) -> str:
    r"""Return `text` as it may be typed: line ends are line feeds, control characters are visible signs.

    Everything else, tabs and direction marks included, stays as it is.

    >>> clean_draft("a\r\nb\x1b[201~")
    'a\nb␛[201~'
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


def shown_draft(line: str) -> str:
    """Return a cleaned line as the terminal may see it: as many characters, and none that turns the line around."""
    return line if line.isascii() else line.translate(_UNSEEN)


def is_blank(text: str) -> bool:
    """Say whether there is nothing to send: only spaces, line ends, invisible or control characters.

    A provider refuses such a message, and would refuse the session for ever after.
    """
    return all(
        character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp"}
        for character in text
    )
