"""Sessions stand under the right heads, forks under their parents, and filters find what they should."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.widgets.sidebar_lines import (
    BlankLine,
    HeadLine,
    Line,
    RowLine,
    SnippetLine,
    arrange,
    folded,
    matching,
    searchable,
)
from shipchat.tui.widgets.sidebar_row import SearchHit, SidebarRow

NOW = datetime(2026, 11, 29, 15, 14, tzinfo=UTC)


def row(key: str, ago: timedelta, parent: str | None = None) -> SidebarRow:
    return SidebarRow(key, f"title of {key}", NOW - ago, parent=parent)


def shape(lines: list[Line]) -> list[str]:
    """Lines as text: heads as they are, sessions by key with their indent, `-` for an empty line."""
    shapes = []
    for line in lines:
        match line:
            case HeadLine(text=text):
                shapes.append(text)
            case RowLine(row=session, depth=depth):
                shapes.append("  " * depth + session.key)
            case SnippetLine(row=session):
                shapes.append(f"hit in {session.key}")
            case BlankLine():
                shapes.append("-")
    return shapes


def test_newest_first_by_day() -> None:
    rows = [
        row("month", timedelta(days=20)),
        row("yesterday", timedelta(days=1)),
        row("today", timedelta(hours=2)),
        row("newest", timedelta(minutes=1)),
        row("weekday", timedelta(days=5)),
        row("year", timedelta(days=400)),
        row("ahead", timedelta(minutes=-30)),
    ]
    assert shape(arrange(rows, NOW)) == [
        *("-", "Today", "ahead", "newest", "today"),
        *("-", "Yesterday", "yesterday"),
        *("-", "Tuesday", "weekday"),
        *("-", "November", "month"),
        *("-", "October 2025", "year"),
    ]


def test_forks_stand_under_their_parents_where_the_newest_of_the_family_belongs() -> None:
    rows = [
        row("other", timedelta(hours=1)),
        row("old", timedelta(days=30)),
        row("fork", timedelta(days=3), parent="old"),
        row("deep", timedelta(minutes=2), parent="fork"),
        row("second", timedelta(days=9), parent="old"),
        row("orphan", timedelta(days=1), parent="not listed"),
    ]
    assert shape(arrange(rows, NOW)) == [
        *("-", "Today", "old", "  fork", "    deep", "  second", "other"),
        *("-", "Yesterday", "orphan"),
    ]


def test_lineage_in_a_circle_loses_no_session() -> None:
    rows = [
        row("a", timedelta(minutes=1), parent="b"),
        row("b", timedelta(minutes=2), parent="a"),
        row("self", timedelta(minutes=3), parent="self"),
    ]
    assert sorted(key.strip() for key in shape(arrange(rows, NOW))[2:]) == ["a", "b", "self"]


def test_a_chain_of_ten_thousand_forks_is_no_reason_to_fail() -> None:
    rows = [row(f"k{n}", timedelta(minutes=n), parent=f"k{n + 1}") for n in range(10_000)]
    lines = arrange(rows, NOW)
    assert isinstance(last := lines[-1], RowLine)
    assert (last.row.key, last.depth) == ("k0", 9_999)


def test_days_are_those_of_the_readers_zone() -> None:
    late = SidebarRow("late", "late", datetime(2026, 11, 28, 23, 30, tzinfo=UTC))
    oslo = datetime(2026, 11, 29, 12, 0, tzinfo=ZoneInfo("Europe/Oslo"))
    assert shape(arrange([late], NOW)) == ["-", "Yesterday", "late"]
    assert shape(arrange([late], oslo)) == ["-", "Today", "late"]


def test_a_hit_has_a_line_of_its_own() -> None:
    rows = [row("a", timedelta(minutes=1)), row("b", timedelta(minutes=2))]
    hit = SearchHit("a", 7, "found here", ((0, 5),))
    assert shape(arrange(rows, NOW, {"a": hit})) == ["-", "Today", "a", "hit in a", "b"]


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 10**6), st.none() | st.integers(0, 40)),
        unique_by=lambda entry: entry[0],
    )
)
def test_every_session_is_listed_once_whatever_the_lineage(
    entries: list[tuple[int, int, int | None]],
) -> None:
    rows = [
        row(f"k{key}", timedelta(minutes=minutes), None if parent is None else f"k{parent}")
        for key, minutes, parent in entries
    ]
    random.Random(0).shuffle(rows)
    listed = [line.row.key for line in arrange(rows, NOW) if isinstance(line, RowLine)]
    assert sorted(listed) == sorted(session.key for session in rows)


def test_filtering() -> None:
    session = SidebarRow(
        "2026-k3f9", "\N{FULLWIDTH LATIN CAPITAL LETTER N}ightly Straße\n2", NOW, tags=("Bug", "ops")
    )
    text = searchable(session)
    assert text == "nightly strasse 2\n2026-k3f9\n#bug\n#ops"
    found = {
        query: matching(query, [text])[0]
        for query in ("", " ", "NIGHT", "#bug", "#BU", "k3f9", "strasse 2 #ops")
    }
    assert found == dict.fromkeys(found, True)
    assert [matching(query, [text])[0] for query in ("#night", "nightly day", "bugs")] == [
        False,
        False,
        False,
    ]


def test_folding_is_for_comparing() -> None:
    assert folded("ÉCOLE") == folded("e\u0301cole") == folded("école")
