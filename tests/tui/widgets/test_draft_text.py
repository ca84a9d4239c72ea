"""Whatever is pasted, the draft keeps its words and the terminal is told nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.safe_text import safe_text
from shipchat.tui.widgets.draft_text import clean_draft, is_blank, shown_draft


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("tab\tstays", "tab\tstays"),
        ("a \x1b[201~ rm -rf b", "a ␛[201~ rm -rf b"),
        ("\x00\x07\x7f\x9b2J", "␀␇␡<U+009B>2J"),
        ("cut \ud83d here", "cut � here"),
        ("שלום \u200f123\u202e", "שלום \u200f123\u202e"),
    ],
)
def test_cleaning(text: str, clean: str) -> None:
    assert clean_draft(text) == clean


@given(st.text() | st.text(st.characters(max_codepoint=0xFF)))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    clean = clean_draft(text)
    assert not [
        letter for letter in clean if unicodedata.category(letter) in {"Cc", "Cs"} and letter not in "\n\t"
    ]
    assert clean_draft(clean) == clean
    for line in clean.split("\n"):
        shown = shown_draft(line)
        assert len(shown) == len(line)
        assert safe_text(shown.replace("\t", " ")) == shown.replace("\t", " ")


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "\u00a0", "\u200b", "\u3000\u2028", "\ufeff\u200d", "\x00"]
)
def test_nothing_to_send(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", " a ", "\u200bא", "\u0301"])
def test_something_to_send(text: str) -> None:
    assert not is_blank(text)
