"""The display boundary: nothing that a terminal would obey comes through, and the cut of a stream can't matter."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.safe_text import safe_line, safe_text, without_surrogates

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
HOSTILE = [
    "\x1b]52;c;aGk=\x1b\\",
    "\x1b]0;t\x1b\\",
    "\x1b]8;;http://x\x1b\\a",
    "\x1b[10A",
    "\x1b[2J",
    "\x1b[6n",
    "\x1b]",
    "\x1bc",
    "\x1bPq\x1b\\",
    "\x9b2J",
    "\x9d52;c;aGk=\x9c",
    "\x1b[38:2:1:2:3m",
    "a\u202eb\u2066c",
    "\x07\x08\x00\x7f",
]


def foreign(text: str) -> list[str]:
    return [
        character
        for character in text
        if (unicodedata.category(character) in ("Cc", "Cs") and character != "\n")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_not_obeyed(text: str) -> None:
    assert foreign(safe_text(text)) == []
    assert foreign(safe_line(text)) == []
    assert safe_text(text) != text


@given(ANY_TEXT)
def test_nothing_foreign_ever_comes_through(text: str) -> None:
    assert foreign(safe_text(text)) == []
    assert foreign(safe_line(text)) == []
    assert "\n" not in safe_line(text)
    safe_text(text).encode("utf-8")


@given(ANY_TEXT, st.integers(0, 60))
def test_the_cut_of_a_stream_does_not_matter(text: str, at: int) -> None:
    assert safe_text(text[:at]) + safe_text(text[at:]) == safe_text(text)


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]), max_size=80))
def test_plain_text_comes_out_unaltered(text: str) -> None:
    assert safe_text(text) == text
    assert safe_line(text) == text


def test_what_becomes_what() -> None:
    assert safe_text("a\tb\r\nc\x1b[0m\x9b\u202e\ud83d") == "a    b\nc␛[0m<U+009B><U+202E>\ufffd"
    assert safe_line("a\tb\r\nc") == "a b c"


@given(ANY_TEXT)
def test_text_without_surrogates_can_be_encoded_and_is_else_the_same(text: str) -> None:
    clean = without_surrogates(text)
    clean.encode("utf-8")
    assert len(clean) == len(text)
    assert all(
        a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff") for a, b in zip(text, clean, strict=True)
    )
