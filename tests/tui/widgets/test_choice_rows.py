"""A few letters find the right choice, and no text, however long or odd, makes it slow or crooked."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.widgets.choice_rows import (
    Choice,
    Found,
    GapLine,
    GroupLine,
    choice_content,
    choice_lines,
    found_choices,
    match_letters,
)


@pytest.mark.parametrize(
    ("query", "text", "letters"),
    [
        ("", "anything", ()),
        ("FOR", "Fork this session", (0, 1, 2)),
        ("for", "Information for you", (12, 13, 14)),
        ("for", "Information", (2, 3, 4)),
        ("fts", "Fork this session", (0, 5, 8)),
        ("new s", "New session", (0, 1, 2, 3, 4)),
        ("ses", "sesses", (0, 1, 2)),
        ("ss", "a_s_ss", (4, 5)),
    ],
)
def test_which_letters_match(query: str, text: str, letters: tuple[int, ...]) -> None:
    matched = match_letters(query, text)
    assert matched is not None
    assert matched[1] == letters


@pytest.mark.parametrize(("query", "text"), [("xyz", "Fork"), ("kf", "Fork"), ("forks", "Fork")])
def test_what_does_not_match(query: str, text: str) -> None:
    assert match_letters(query, text) is None


def test_better_matches_score_more() -> None:
    texts = ["Fork this", "Theme: forest", "Information", "Find or keep"]
    scores = [score for text in texts if (found := match_letters("for", text)) and (score := found[0])]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)


@given(st.text(min_size=1, max_size=8), st.text(max_size=40))
def test_matched_letters_are_those_of_the_query(query: str, text: str) -> None:
    matched = match_letters(query, text)
    if matched is not None and len(text.lower()) == len(text):
        found = "".join(text[at].lower() for at in matched[1])
        assert "".join(found.split()) == "".join(query.lower().split())
        assert list(matched[1]) == sorted(set(matched[1]))


def test_a_hostile_title_does_not_make_it_slow() -> None:
    begun = time.process_time()
    match_letters("a" * 30 + "b", "a" * 20_000)
    match_letters("aba" * 10, "ab " * 20_000)
    assert time.process_time() - begun < 1


CHOICES = [
    Choice("fork", "Fork this session here", key="f", group="session"),
    Choice("export", "Export as Markdown", detail="for reading", group="session"),
    Choice("theme", "Theme: forest dark", group="screen"),
    Choice("end", "Jump forward to the end", key="End", group="screen"),
]


def test_groups_stay_together_and_the_best_is_first() -> None:
    assert [found.choice.id for found in found_choices("", CHOICES)] == ["fork", "export", "theme", "end"]
    assert [found.choice.id for found in found_choices("for", CHOICES)] == ["fork", "export", "theme", "end"]
    assert [found.choice.id for found in found_choices("forw", CHOICES)] == ["end"]
    assert [found.choice.id for found in found_choices("screen", CHOICES)] == ["theme", "end"]
    assert [found.choice.id for found in found_choices("theme", CHOICES)] == ["theme"]
    lines = choice_lines(found_choices("", CHOICES))
    assert lines == [
        GroupLine("session"),
        Found(CHOICES[0]),
        Found(CHOICES[1]),
        GapLine(),
        GroupLine("screen"),
        Found(CHOICES[2]),
        Found(CHOICES[3]),
    ]


def test_a_row() -> None:
    content = choice_content(Found(CHOICES[3], (5, 6, 7)), 40, selected=True)
    assert content.plain == "▌Jump forward to the end            End "
    accent = [
        content.plain[span.start : span.end] for span in content.spans if str(span.style) == "bold $accent"
    ]
    assert accent == ["f", "o", "r"]
    assert choice_content(
        Found(Choice("a", "smollm2", detail="8k · free", current=True)), 40, label_cells=12
    ).plain == (" smollm2       8k · free •              ")


@given(
    st.builds(
        Choice,
        st.just("x"),
        st.text(max_size=50),
        st.text(max_size=30),
        st.text(max_size=10),
        current=st.booleans(),
    ),
    st.text(max_size=3),
    st.integers(0, 70),
    st.booleans(),
    st.integers(0, 24),
)
def test_a_row_is_exactly_as_wide_as_the_list(
    choice: Choice, query: str, width: int, selected: bool, label_cells: int
) -> None:
    found = found_choices(query, [choice])
    if found:
        content = choice_content(found[0], width, selected=selected, label_cells=label_cells)
        assert content.cell_length == width
        assert "\n" not in content.plain
