"""The display boundary: turns any text into text that a terminal can only show, never obey.

Every character is judged by itself, never as part of a sequence. So the result cannot depend on where a stream
was cut into chunks, there is no escape-sequence parser to fool, and ordinary text comes out unaltered. What is
stored and what a model is sent is never changed here; only what is shown.
"""

from typing import Final

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

# Characters that reorder, hide or break the text around them: shown by their number.
_BIDI_AND_BREAKS: Final = (
    0x061C,  # Arabic letter mark
    *range(0x200E, 0x2010),  # left-to-right and right-to-left mark
    0x2028,  # line separator: some terminals break the line
    0x2029,  # paragraph separator
    *range(0x202A, 0x202F),  # embeddings and overrides
    *range(0x2066, 0x206A),  # isolates
    *range(0x206A, 0x2070),  # deprecated format characters
    0xFEFF,  # byte order mark
    *range(0xFFF9, 0xFFFC),  # interlinear annotation
    *range(0xE0000, 0xE0080),  # tags: invisible text (flags of England, Scotland and Wales lose their shape)
)


def _table(*, keep_newlines: bool) -> dict[int, str]:
    table: dict[int, str] = {}
    for code in range(0x20):
        table[code] = chr(0x2400 + code)  # the control picture: U+001B becomes its one-cell symbol
    table[0x7F] = chr(0x2421)
    for code in (*range(0x80, 0xA0), *_BIDI_AND_BREAKS):
        table[code] = f"<U+{code:04X}>"
    for code in range(0xD800, 0xE000):
        table[code] = REPLACEMENT
    table[0x0D] = (
        ""  # a carriage return before a line feed is how other systems end lines; alone it would overwrite
    )
    if keep_newlines:
        del table[0x0A]
        table[0x09] = "    "
    else:
        table[0x0A] = " "
        table[0x09] = " "
    return table


_TEXT: Final = _table(keep_newlines=True)
_LINE: Final = _table(keep_newlines=False)


def safe_text(text: str) -> str:
    r"""Return `text` fit to be shown on several lines.

    Line feeds stay, tabs become four spaces, carriage returns go; every other control character, C1 control and
    direction override becomes visible (a control picture, or its number like `<U+009B>`); a lone surrogate becomes
    U+FFFD. `safe_text(a) + safe_text(b) == safe_text(a + b)` for all a and b.

    >>> safe_text("clear \x1b[2J me")
    'clear ␛[2J me'
    """
    # Most text needs nothing: printable ASCII is a fast check, a translation costs about 5 ns a character.
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_TEXT)


def safe_line(text: str) -> str:
    r"""Return `text` fit to be shown on one line: as `safe_text`, and line feeds and tabs become spaces.

    >>> safe_line("two\nlines")
    'two lines'
    """
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_LINE)


def without_surrogates(text: str) -> str:
    r"""Return `text` with each lone surrogate replaced by U+FFFD, so that it can be encoded, stored and sent.

    >>> without_surrogates("cut \ud83d here")
    'cut � here'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if 0xD800 <= ord(character) < 0xE000 else character for character in text)
    return text
