"""Text is cut and filled to whole cells, and nothing is cut inside a letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.cells import cell_len, cut, fit, fold_line

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("Trip to Bergen", 14, "Trip to Bergen"),
        ("Trip to Bergen", 13, "Trip to Berg…"),
        ("Trip to Bergen", 5, "Trip…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        (f"{FAMILY}{FAMILY}", 3, f"{FAMILY}…"),
        (f"{FAMILY}{FAMILY}", 2, "…"),
        ("e\u0301te\u0301s", 3, "e\u0301t…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("abc", -3, ""),
        ("", 5, ""),
    ],
)
def test_cutting(text: str, width: int, short: str) -> None:
    assert cut(text, width) == short


# Letters that are hard to measure are offered often, beside any letter at all.
HARD = st.sampled_from(
    ["日", "a", "\u0301", "\u200d", "\ufe0f", "✌", "\U0001f1f3", "\U0001f44d", "\U0001f3fd", FAMILY, " "]
)
TEXT = st.lists(HARD | st.characters(exclude_categories=["Cs", "Cc"]), max_size=40).map("".join)


@given(TEXT, st.integers(-2, 50))
def test_a_text_is_never_wider_than_asked(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= max(width, 0)


@given(TEXT, st.integers(0, 50), TEXT)
def test_a_fitted_text_is_exactly_as_wide_as_asked_also_beside_others(
    text: str, width: int, other: str
) -> None:
    fitted = fit(text, width)
    assert cell_len(fitted) == width
    assert cell_len(f"|{fitted}|{fit(other, 9)}|") == width + 12


@given(TEXT, st.integers(2, 30))
def test_folding_keeps_the_words_and_the_width(text: str, width: int) -> None:
    lines = fold_line(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_very_long_text_is_cut_without_reading_it_whole() -> None:
    assert cut("日" * 1_000_000, 5) == "日日…"
