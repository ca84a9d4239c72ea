"""Styled text as rows of spans: measuring in terminal cells and wrapping word by word as text arrives."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import wcwidth

Span: TypeAlias = tuple[str, str]
"""A style (prompt_toolkit's words: `class:strong`) and a text without line ends."""

Row: TypeAlias = list[Span]

# Spaces, wide characters one by one (a line may break between any two of them), and words.
_WIDE: Final = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
_WIDE_LETTER: Final = re.compile(f"[{_WIDE}]")
_PIECES: Final = re.compile(rf" +|[{_WIDE}]|[^ {_WIDE}]+")

LONGEST_WORD: Final = 4
"""A word is divided while it still grows once it is this many times as long as a row."""


def cells(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    return len(text) if text.isascii() else wcwidth.width(text)


def row_cells(row: Iterable[Span]) -> int:
    """Return how many cells a row takes."""
    return sum(cells(text) for _, text in row)


def cut(text: str, width: int) -> str:
    """Return `text` if it fits in `width` cells, else its beginning and an ellipsis; whole graphemes only."""
    if cells(text) <= width:
        return text
    return split(text, max(width - 1, 0))[0].rstrip() + ("…" if width > 0 else "")


def split(text: str, width: int) -> tuple[str, str]:
    """Return what of `text` fits in `width` cells, in whole graphemes, and the rest."""
    if text.isascii():
        return text[:width], text[width:]
    used = end = 0
    for grapheme in wcwidth.iter_graphemes(text[: width * 16 + 64]):
        used += wcwidth.width(grapheme)
        if used > width:
            break
        end += len(grapheme)
    return text[:end], text[end:]


class Wrapper:
    """Fills rows of `width` cells. `first` begins the first row, `following` every other one.

    A row is handed out when the next word does not fit into it any more: it can't change then.
    """

    def __init__(self, width: int, first: Row, following: Row) -> None:
        self._width = max(width, row_cells(first) + 4, row_cells(following) + 4)
        self._following = following
        self._row: Row = list(first)
        self._used = row_cells(first)
        self._empty = True
        self._spaces: Span = ("", "")
        self._word: Row = []
        self._word_cells = 0
        self._divided = False  # part of the word is in rows already

    def feed(self, spans: Iterable[Span]) -> list[Row]:
        """Add text and return the rows that are full."""
        done: list[Row] = []
        for style, text in spans:
            for match in _PIECES.finditer(text):
                piece = match.group()
                if piece[0] == " ":
                    done += self._end_word()
                    self._spaces = (style, self._spaces[1] + piece)
                    continue
                wide = _WIDE_LETTER.match(piece) is not None
                if wide:
                    done += self._end_word()
                self._grow_word(style, piece)
                if wide:
                    done += self._end_word()
                elif self._word_cells > self._width * LONGEST_WORD:
                    done += self._divide_word()
        return done

    def _grow_word(self, style: str, piece: str) -> None:
        """Add to the word; one that is joined out of letters that came apart is measured as what it has become."""
        if self._word and self._word[-1][0] == style:
            self._word[-1] = (style, self._word[-1][1] + piece)
        else:
            self._word.append((style, piece))
        if piece.isascii():
            self._word_cells += len(piece)
        else:
            self._word_cells = row_cells(self._word)

    def tail(self) -> Row:
        """Return the unfinished row."""
        return [*self._row, self._spaces, *self._word]

    def end(self) -> list[Row]:
        """Return what is left, at least one row."""
        return [*self._end_word(), self._row]

    def _divide_word(self) -> list[Row]:
        """Hand out what is certain of a word that is very long: all but its last grapheme, which may still grow."""
        style, text = self._word[-1]
        last = list(wcwidth.iter_graphemes(text[-64:]))[-1]
        self._word[-1] = (style, text[: len(text) - len(last)])
        self._word_cells = row_cells(self._word)
        done = self._end_word()
        self._word, self._word_cells, self._divided = [(style, last)], cells(last), True
        return done

    def _end_word(self) -> list[Row]:
        if not self._word:
            return []
        word, self._word = self._word, []
        word_cells, self._word_cells = self._word_cells, 0
        spaces, self._spaces = self._spaces, ("", "")
        divided, self._divided = self._divided, False
        done: list[Row] = []
        if divided:
            pass  # it goes on where its beginning ended
        elif not self._empty and self._used + len(spaces[1]) + word_cells > self._width:
            done.append(self._break())
        elif spaces[1]:
            self._row.append(spaces)
            self._used += len(spaces[1])
        for style, text in word:
            done += self._put(style, text)
        return done

    def _put(self, style: str, text: str) -> Iterator[Row]:
        while self._used + cells(text) > self._width:
            head, rest = split(text, self._width - self._used)
            if head:
                self._row.append((style, head))
            if not head and self._empty:  # a grapheme wider than a row
                break
            text = rest
            yield self._break()
        self._row.append((style, text))
        self._used += cells(text)
        self._empty = False

    def _break(self) -> Row:
        row, self._row = self._row, list(self._following)
        self._used = row_cells(self._row)
        self._empty = True
        return row


def wrapped(spans: Iterable[Span], width: int, first: Row, following: Row) -> list[Row]:
    """Return the rows of a whole text."""
    wrapper = Wrapper(width, first, following)
    return [*wrapper.feed(spans), *wrapper.end()]
