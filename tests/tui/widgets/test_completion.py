"""Completion knows what is being typed, and its list shows the chosen one whatever its length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.widgets.completion import Candidate, CompletionQuery, completion_query
from shipchat.tui.widgets.completion_list import completion_lines, first_shown


@pytest.mark.parametrize(
    ("line", "row", "column", "query"),
    [
        ("/", 0, 1, CompletionQuery("/", "", 0, 1)),
        ("/fork", 0, 3, CompletionQuery("/", "fo", 0, 3)),
        ("/fork x", 0, 7, CompletionQuery("/", "x", 6, 7, "fork")),
        ("/model ", 0, 7, CompletionQuery("/", "", 7, 7, "model")),
        ("/model local/s", 0, 14, CompletionQuery("/", "local/s", 7, 14, "model")),
        ("/fork x", 0, 6, None),
        ("/usr/bin ls", 0, 11, None),
        ("/usr/bin", 0, 8, None),
        (" /fork", 0, 6, None),
        ("/fork", 1, 5, None),
        ("see @night", 0, 10, CompletionQuery("@", "night", 4, 10)),
        ("see\t@src/a", 2, 10, CompletionQuery("@", "src/a", 4, 10)),
        ("@", 3, 1, CompletionQuery("@", "", 0, 1)),
        ("mail me@host", 0, 12, None),
        ("@night done", 0, 11, None),
        ("", 0, 0, None),
    ],
)
def test_what_is_completed(line: str, row: int, column: int, query: CompletionQuery | None) -> None:
    assert completion_query(line, row, column) == query


def test_the_list() -> None:
    candidates = [Candidate("/fork", "fork here"), Candidate("/[b]", "evil \x1b[2J")]
    lines = completion_lines(candidates, 1, 40)
    assert [line.plain for line in lines] == [
        "  /fork         fork here               ",
        "▌ /[b]          evil ␛[2J               ",
    ]
    assert str(lines[1].spans[0].style) == "on $selection"


@pytest.mark.parametrize(("selected", "first"), [(0, 0), (4, 0), (5, 1), (10, 6), (19, 12)])
def test_a_long_list_scrolls_with_the_selection(selected: int, first: int) -> None:
    assert first_shown(selected, 20, 8) == first


@given(
    st.lists(st.tuples(st.text(max_size=30), st.text(max_size=60)), min_size=1, max_size=20),
    st.integers(0, 90),
    st.data(),
)
def test_rows_are_exactly_as_wide_as_the_list(
    entries: list[tuple[str, str]], width: int, data: st.DataObject
) -> None:
    selected = data.draw(st.integers(0, len(entries) - 1))
    lines = completion_lines([Candidate(*entry) for entry in entries], selected, width)
    assert len(lines) == min(8, len(entries))
    assert {line.cell_length for line in lines} == {width}
    assert not any("\n" in line.plain for line in lines)
