"""Colours for code that arrives line by line, as spans; which colours they are is the style sheet's."""

from typing import TYPE_CHECKING, Final

from shipchat.inline.rows import Row

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CONTEXT_LINES: Final = 80
"""A line is coloured knowing at most so many lines before it: the cost of a line does not grow with the block."""

LONGEST_LINE: Final = 2_000
"""Characters; longer lines (minified, generated) are shown in one colour."""

# pygments' names of what a piece of code is, the first that fits decides.
_CLASSES: Final = (
    ("Token.Comment", "class:code.comment"),
    ("Token.Literal.String", "class:code.string"),
    ("Token.Literal.Number", "class:code.number"),
    ("Token.Keyword", "class:code.keyword"),
    ("Token.Operator.Word", "class:code.keyword"),
    ("Token.Name.Function", "class:code.name"),
    ("Token.Name.Class", "class:code.name"),
    ("Token.Name.Tag", "class:code.name"),
    ("Token.Name.Decorator", "class:code.name"),
    ("Token.Name.Builtin", "class:code.name"),
)


class CodeColours:
    """Colours the lines of one block of code, one after the other."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._context: list[str] = []

    def line(self, text: str) -> Row:
        """Return the next line in spans."""
        if self._lexer is None or len(text) > LONGEST_LINE:
            return [("class:code.block", text)]
        if len(self._context) >= CONTEXT_LINES and not text.strip():
            self._context = []
        self._context = self._context[-2 * CONTEXT_LINES :]
        before = "".join(f"{line}\n" for line in self._context)
        self._context.append(text)
        row: Row = []
        at = 0
        for kind, value in self._lexer.get_tokens(before + text):
            begin, at = at, at + len(value)
            piece = value[max(len(before) - begin, 0) :].replace("\n", "")
            if at > len(before) and piece:
                row.append((_style(str(kind)), piece))
        if "".join(piece for _, piece in row) != text:  # the lexer changed something: show what was written
            return [("class:code.block", text)]
        return row


def _style(kind: str) -> str:
    return next((style for name, style in _CLASSES if kind.startswith(name)), "class:code.block")


def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None
