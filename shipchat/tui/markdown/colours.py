"""The colours of code by the grammar of its language (through Pygments), long code a slice of time at a time.

Drawing is left to `code`. A lexer takes about 4 ms a kB: a long block is shown plain at first and gets its colours
when `Colouring.advance` has been called often enough, so that no key waits for them.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, _TokenType
from pygments.util import ClassNotFound

from shipchat.tui.palette import Role

AT_ONCE: Final = 3_000  # characters coloured without delay
_NEVER: Final = 400_000  # longer code stays plain
_KEPT: Final = 64  # blocks whose colours are kept

CodeLine = tuple[tuple[str, Role, bool], ...]  # text, role, whether it is a comment's italic

_ROLES: Final[Sequence[tuple[_TokenType, Role]]] = (
    (Comment, "comment"),
    (Keyword.Constant, "number"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
    (Operator, "muted"),
    (Punctuation, "muted"),
    (String, "string"),
    (Number, "number"),
    (Name.Function, "link"),
    (Name.Builtin, "link"),
    (Name.Class, "link"),
    (Name.Decorator, "link"),
    (Name.Tag, "keyword"),
    (Name.Attribute, "link"),
)


_found: OrderedDict[tuple[str, str], Sequence[CodeLine]] = (
    OrderedDict()
)  # by language and code, the newest last


class Colouring:
    """The colours of one block of code, being found."""

    def __init__(self, code: str, language: str, lexer: Lexer) -> None:
        self._key = (language, code)
        self._tokens: Iterator[tuple[_TokenType, str]] = lexer.get_tokens(code)
        self._lines: list[list[tuple[str, Role, bool]]] = [[]]

    def advance(self, seconds: float) -> bool:
        """Work for about so many seconds; return whether the colours are found, and `colours_of` knows them."""
        end = time.monotonic() + seconds
        for count, (kind, text) in enumerate(self._tokens):
            self._add(_role(kind), text)
            if count % 64 == 63 and time.monotonic() > end:
                return False
        if not self._lines[-1]:
            self._lines.pop()
        # Some lexers drop blank lines at an end in spite of their options; rows must not move when colours come.
        self._lines.extend([] for _ in range(len(code_lines(self._key[1])) - len(self._lines)))
        _found[self._key] = tuple(tuple(line) for line in self._lines)
        while len(_found) > _KEPT:
            _found.popitem(last=False)
        return True

    def _add(self, role: Role, text: str) -> None:
        first, *rest = text.split("\n")
        if first:
            self._lines[-1].append((first, role, role == "comment"))
        self._lines.extend([(part, role, role == "comment")] if part else [] for part in rest)


def code_lines(code: str) -> list[str]:
    """Return the lines of `code`; a line feed at its very end begins no further line."""
    return (code.removesuffix("\n")).split("\n") if code else []


def colours_of(code: str, language: str) -> Sequence[CodeLine] | None:
    """Return the lines of `code` in roles: of short code, or when they have been found; else None."""
    known = _found.get((language, code))
    if known is None and len(code) <= AT_ONCE:
        colouring = colouring_of(code, language)
        if colouring is not None and colouring.advance(1):
            known = _found.get((language, code))
    return known if known is not None and len(known) == len(code_lines(code)) else None


def colouring_of(code: str, language: str) -> Colouring | None:
    """Return what finds the colours of `code`; None if they are known, or will never be."""
    if not language or len(code) > _NEVER or (language, code) in _found:
        return None
    lexer = _lexer(language)
    return None if lexer is None else Colouring(code, language, lexer)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _role(kind: _TokenType) -> Role:
    for parent, role in _ROLES:
        if kind is parent or kind[: len(parent)] == parent:  # a kind is the tuple of its names
            return role
    return "text"
