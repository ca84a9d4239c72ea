"""What counts as a word: text as it is indexed, and queries in the words of SQLite's FTS5. Nothing here reads files.

FTS5's own tokenizer (unicode61) makes words of letters and digits, without case and accents. To that we add, for
Chinese, Japanese and Korean, which write no spaces, each pair of neighbouring characters; and for identifiers like
`getUserName` their pieces and what begins at each piece, so that `username` is found in it.
"""

import re
from dataclasses import dataclass
from typing import Final

from shipchat.core.safe_text import without_surrogates

QUERY_LIMIT: Final = 1000
"""Characters of a query that are looked at."""
TERM_LIMIT: Final = 32
"""Words of a query that are looked at."""
_PIECES: Final = 8
"""Pieces of an identifier at most; a longer hump of humps is no identifier but encoded data."""

_CJK: Final = (
    "\u3005\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_RUN: Final = re.compile(f"[{_CJK}]+")
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]")
_CAMEL: Final = re.compile(r"[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")
_TERM: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a query: these words in a row; `prefix`: the last of them is only a beginning."""

    text: str
    prefix: bool = False
    phrase: bool = False


def index_form(text: str) -> tuple[str, str]:
    """Return the text as FTS5 is given it, and the extra words for the identifiers in it."""
    if text.isascii():
        return text, (_pieces(text) if _HUMP.search(text) else "")
    text = without_surrogates(text)
    return _RUN.sub(_bigrams, text), (_pieces(text) if _HUMP.search(text) else "")


def _bigrams(run: re.Match[str]) -> str:
    """Return `東京都` as ` 東京 京都 都 `: a word of two is one of them, a longer one a row of them."""
    text = run[0]
    return f" {' '.join([text[n : n + 2] for n in range(len(text))])} "


def _pieces(text: str) -> str:
    extra: list[str] = []
    for word in _CAMEL.findall(text):
        pieces = _PIECE.findall(word)
        if 2 <= len(pieces) <= _PIECES:
            extra += pieces
            extra += ["".join(pieces[n:]) for n in range(1, len(pieces) - 1)]
    return " ".join(extra)


def parse_query(query: str, *, prefix_last: bool = False) -> tuple[Term, ...]:
    """Return the terms of a query; none for one without any letter or digit. Takes any text."""
    cleaned = without_surrogates(query[:QUERY_LIMIT]).replace("\0", " ")
    found = list(_TERM.finditer(cleaned))[:TERM_LIMIT]
    terms: list[Term] = []
    for number, match in enumerate(found):
        phrase, word = match.groups()
        text = phrase if word is None else word
        if not any(character.isalnum() for character in text):
            continue
        starred = word is not None and word.endswith("*")
        last = prefix_last and number == len(found) - 1 and word is not None and not cleaned[-1:].isspace()
        bare = text.rstrip("*") if word is not None else text
        prefix = starred or last or (word is not None and _is_identifier(bare))
        terms.append(Term(bare, prefix, phrase=word is None))
    return tuple(terms)


def widened(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the same terms with every single word as a beginning."""
    return tuple(term if term.phrase else Term(term.text, prefix=True) for term in terms)


def _is_identifier(word: str) -> bool:
    """Return whether somebody looks for a piece of code: `nightly_exp`, `getUser`, `shipchat.index`."""
    return bool(_HUMP.search(word)) or bool(re.search(r"\w[_.:/-]+\w", word))


def match_expression(terms: tuple[Term, ...]) -> str:
    """Return the terms as an FTS5 query; every word is quoted, so that none of it is syntax."""
    return " AND ".join(_expression(term) for term in terms)


def _expression(term: Term) -> str:
    text, prefix = term.text, term.prefix
    runs = list(_RUN.finditer(text))
    if runs and runs[-1].end() == len(text):
        # The text may go on where the term ends: then it has another pair there instead of the single last character.
        last = runs[-1][0]
        prefix = len(last) == 1
        pairs = last if prefix else " ".join([last[n : n + 2] for n in range(len(last) - 1)])
        text = f"{_RUN.sub(_bigrams, text[: runs[-1].start()])} {pairs}"
    elif runs:
        text = _RUN.sub(_bigrams, text)
    quoted = '"' + text.replace('"', '""') + '"'
    return f"{quoted} *" if prefix else quoted
