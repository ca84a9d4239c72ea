"""A row of the sidebar is exactly as wide as the sidebar, whatever its title, and says what it should."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from shipchat.tui.glyphs import ASCII, UNICODE, Glyphs
from shipchat.tui.widgets.sidebar_row import (
    RowLook,
    RowMark,
    SearchHit,
    SidebarRow,
    first_mark,
    head_content,
    row_content,
    snippet_content,
)

NOW = datetime(2026, 11, 29, 15, 14, tzinfo=UTC)


def row(title: str, **changes: object) -> SidebarRow:
    return SidebarRow(**{"key": "k", "title": title, "at": NOW - timedelta(minutes=2), **changes})  # type: ignore[arg-type]


def drawn(
    session: SidebarRow,
    width: int = 30,
    *,
    depth: int = 0,
    look: RowLook | None = None,
    glyphs: Glyphs = UNICODE,
) -> str:
    return row_content(session, width, now=NOW, depth=depth, look=look or RowLook(), glyphs=glyphs).plain


def styles(content: Content) -> list[tuple[str, str]]:
    return [
        (content.plain[span.start : span.end], str(span.style))
        for span in content.spans
        if span.end > span.start
    ]


@pytest.mark.parametrize(
    ("session", "depth", "line"),
    [
        (row("Nightly export", tags=("ops",)), 0, "   Nightly export #ops     2m "),
        (row("Nightly export now", tags=("ops",)), 0, "   Nightly export now      2m "),
        (row("Nightly export no", tags=("ops", "x")), 0, "   Nightly export no #ops  2m "),
        (row("try the retry fix"), 1, "   └ try the retry fix     2m "),
        (row("deeper"), 3, "       └ deeper            2m "),
        (row("deepest"), 9, "       └ deepest           2m "),
        (row("Safari button ignores clicks", mark=RowMark.UNREAD), 0, " • Safari button ignores…  2m "),
        (row("Quarterly numbers", mark=RowMark.HELD), 0, " ◊ Quarterly numbers       2m "),
        (row("x", mark=RowMark.DAMAGED), 0, " ! x                       2m "),
        (row("x", mark=RowMark.STREAMING), 0, " ● x                       2m "),
        (row("x", mark=RowMark.PINNED), 0, " * x                       2m "),
        (row("日本語のタイトルがとても長い場合"), 0, "   日本語のタイトルがと…   2m "),
        (row("  \n "), 0, "   k                       2m "),
        (row("two\nlines\x1b[2J"), 0, "   two lines␛[2J           2m "),
        (row("[/b] [TODO] plan"), 0, "   [/b] [TODO] plan        2m "),
    ],
)
def test_rows(session: SidebarRow, depth: int, line: str) -> None:
    assert drawn(session, depth=depth) == line


def test_the_selected_row_has_a_ground_and_with_the_keys_a_bar() -> None:
    content = row_content(row("Nightly export"), 30, now=NOW, look=RowLook(selected=True, bar=True))
    assert content.plain == "▌  Nightly export          2m "
    assert styles(content) == [
        (content.plain, "on $selection"),
        ("▌", "$accent"),
        ("Nightly export", "bold $strong"),
        (" 2m", "$muted"),
    ]


def test_without_tone_the_selected_row_is_reversed_in_one_colour() -> None:
    look = RowLook(selected=True, bar=True, plain=True)
    content = row_content(row("Nightly export"), 30, now=NOW, look=look, glyphs=ASCII)
    assert content.plain == "|  Nightly export          2m "
    assert styles(content) == [(content.plain, "$text reverse"), ("Nightly export", "bold")]


def test_titles_are_strong_when_open_or_unread_and_muted_in_the_archive() -> None:
    def title_style(session: SidebarRow, look: RowLook) -> str:
        return dict(styles(row_content(session, 30, now=NOW, look=look)))["title"]

    assert title_style(row("title"), RowLook()) == "$text"
    assert title_style(row("title"), RowLook(opened=True)) == "bold $strong"
    assert title_style(row("title", mark=RowMark.UNREAD), RowLook()) == "bold $strong"
    assert title_style(row("title", archived=True), RowLook()) == "$muted"


def test_the_ascii_signs() -> None:
    assert drawn(row("a title that is too long for it", mark=RowMark.HELD), depth=1, glyphs=ASCII) == (
        " = ` a title that is too~  2m "
    )


def test_the_most_important_mark_wins() -> None:
    assert first_mark([RowMark.PINNED, RowMark.STREAMING, RowMark.DAMAGED]) is RowMark.DAMAGED
    assert first_mark([RowMark.UNREAD, RowMark.HELD]) is RowMark.HELD
    assert first_mark([]) is RowMark.NONE


TITLES = st.text(
    st.sampled_from("ab日\u0301\u200d\ufe0f✌👍🏽🇳 \t\n\x1b\u202e\u05d0") | st.characters(), max_size=60
)


ROWS = st.builds(
    row,
    TITLES,
    tags=st.lists(TITLES, max_size=2).map(tuple),
    mark=st.sampled_from(RowMark),
    archived=st.booleans(),
)
LOOKS = st.builds(RowLook, *[st.booleans()] * 4)


@given(ROWS, LOOKS, st.integers(0, 40), st.integers(0, 6))
def test_a_row_is_exactly_as_wide_as_the_sidebar(
    session: SidebarRow, look: RowLook, width: int, depth: int
) -> None:
    content = row_content(session, width, now=NOW, depth=depth, look=look)
    assert content.cell_length == width
    assert not set(content.plain) & set("\n\t\x1b\u202e\r")


@given(TITLES, st.integers(0, 40), st.data())
def test_a_snippet_is_exactly_as_wide_and_shows_the_match(text: str, width: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    content = snippet_content(SearchHit("k", 3, text, ((start, end),)), width, look=RowLook(selected=True))
    assert content.cell_length == width


def test_a_snippet() -> None:
    hit = SearchHit("k", 3, "the nightly export of quarterly numbers fails", ((12, 18),))
    content = snippet_content(hit, 30, look=RowLook())
    assert content.plain == "   the nightly export of qua… "
    assert ("export", "bold $accent") in styles(content)
    far = SearchHit("k", 3, "a" * 200 + " needle " + "b" * 50, ((201, 207),))
    assert snippet_content(far, 30, look=RowLook()).plain == "   …aaaaaaa needle bbbbbbbbb… "


@pytest.mark.parametrize(("width", "line"), [(12, "   Yesterday"), (8, "   Yest…"), (3, "   "), (0, "")])
def test_heads(width: int, line: str) -> None:
    assert head_content("Yesterday", width).plain == line
