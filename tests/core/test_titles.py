import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from shipchat.core.titles import auto_title, clean_title, cut, fork_title


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("The nightly export fails.\nFind out why.", "The nightly export fails."),
        ("\n\n  # Heading  \n", "Heading"),
        ("- a list", "a list"),
        ("", ""),
        (" \n\t\n", ""),
        ("x" * 70, "x" * 59 + "…"),
        ("日" * 40, "日" * 29 + "…"),
        ("cut \ud83d here", "cut \ufffd here"),
        ("[/b] [TODO] plan", "[/b] [TODO] plan"),
    ],
)
def test_the_first_line_that_says_anything(prompt: str, title: str) -> None:
    assert auto_title(prompt) == title


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=100), st.integers(2, 60))
def test_a_cut_title_fits(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert shown == text or shown.endswith("…")
    assert max(wcswidth(shown), 0) <= limit


@pytest.mark.parametrize(
    ("title", "number", "expected"),
    [
        ("Nightly export", 1, "Nightly export (fork)"),
        ("Nightly export", 2, "Nightly export (fork 2)"),
        ("Nightly export (fork)", 3, "Nightly export (fork 3)"),
        ("Nightly export (fork 7)", 1, "Nightly export (fork)"),
        ("a (forked)", 1, "a (forked) (fork)"),
    ],
)
def test_forks_are_numbered_not_nested(title: str, number: int, expected: str) -> None:
    assert fork_title(title, number) == expected


def test_a_title_is_one_line() -> None:
    assert clean_title("  a\n\tb  c ") == "a b c"
