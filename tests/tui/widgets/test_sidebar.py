"""The sidebar, driven by keys and mouse: what it shows, and what it asks for."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from textual.geometry import Offset
from textual.strip import Strip

from shipchat.tui.messages import (
    ArchiveRequested,
    ArchiveViewChanged,
    DeleteRequested,
    ExportRequested,
    FilterChanged,
    ForkRequested,
    NewRequested,
    OwnMessage,
    RenameSubmitted,
    SessionChosen,
    SessionHighlighted,
    SidebarLeft,
    TagRequested,
)
from shipchat.tui.widgets.line_input import LineInput
from shipchat.tui.widgets.session_list import SessionList
from shipchat.tui.widgets.sidebar import RowMark, SearchHit, Sidebar, SidebarRow
from shipchat.tui.widgets.sidebar_frame import foot_text, head_text
from tests.tui.stage import Stage, press, screen_lines

NOW = datetime(2026, 11, 29, 15, 14, tzinfo=UTC)
# Titles that crash or fool widgets that take them for markup or for terminal commands.
EVIL = ["[/foo]", "[TODO] plan", "[@click=app.exit()]x[/]", "\x1b]52;c;aGk=\x1b\\", "\x9b2J\u202e", "[/"]


def row(key: str, minutes: float, title: str = "", **changes: object) -> SidebarRow:
    return SidebarRow(key, title or f"title {key}", NOW - timedelta(minutes=minutes), **changes)  # type: ignore[arg-type]


ROWS = [
    row("a", 1, "Nightly export", tags=("ops",)),
    row("b", 2, "Safari button", tags=("bug",)),
    row("c", 60 * 25, "Release notes"),
    row("z", 3, "Old things", archived=True),
]


def stage(rows: Sequence[SidebarRow] = ROWS) -> tuple[Stage, Sidebar]:
    sidebar = Sidebar(now=NOW)
    sidebar.set_rows(rows)
    return Stage(lambda: [sidebar]), sidebar


def asked(app: Stage) -> list[OwnMessage]:
    """What was asked for; where the cursor went is not of interest."""
    return [message for message in app.heard if not isinstance(message, SessionHighlighted)]


async def test_it_shows_what_it_was_given() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await pilot.pause()
        assert screen_lines(app) == [
            "",
            "   Sessions            ^N new",
            "",
            "   / search",
            "",
            "   Today",
            "▌  Nightly export #ops     1m",
            "   Safari button #bug      2m",
            "",
            "   Yesterday",
            "   Release notes           1d",
            "",
            "",
            "",
            "",
            "   3 sessions · 1 archived",
        ]


@pytest.mark.parametrize(
    ("key", "wish"),
    [
        ("enter", SessionChosen("b")),
        ("n", NewRequested()),
        ("f", ForkRequested("b")),
        ("t", TagRequested("b")),
        ("a", ArchiveRequested("b", archived=True)),
        ("d", DeleteRequested("b")),
        ("delete", DeleteRequested("b")),
        ("x", ExportRequested("b")),
        ("escape", SidebarLeft()),
    ],
)
async def test_keys_ask_for_things(key: str, wish: OwnMessage) -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "down", key)
        assert asked(app) == [wish]


async def test_the_cursor_passes_heads_and_stops_at_the_ends() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await pilot.pause()
        places = [sidebar.cursor]
        for key in ("up", "down", "down", "down", "home", "end", "pageup", "pagedown", "k", "j"):
            await press(pilot, key)
            places.append(sidebar.cursor)
        assert places == ["a", "a", "b", "c", "c", "a", "c", "a", "c", "b", "c"]


async def test_the_cursor_stays_on_its_session_when_the_rows_change() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "down")
        sidebar.set_rows([row("new", 0), *ROWS])
        assert sidebar.cursor == "b"
        sidebar.set_rows([row("b", 0, "renamed elsewhere"), ROWS[0], ROWS[2]])
        assert sidebar.cursor == "b"
        sidebar.set_rows([ROWS[0], ROWS[2]])
        assert sidebar.cursor == "a"  # the nearest to where it was
        sidebar.set_rows(ROWS)
        assert sidebar.cursor == "b"  # back again: a delete was undone
        sidebar.set_rows([])
        await pilot.pause()
        assert [sidebar.cursor] == [None]
        assert "   No sessions yet" in screen_lines(app)


async def test_filtering_as_one_types() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "slash", "#", "b", "u", "g")
        assert screen_lines(app)[3:8] == [
            "   / #bug               1 hit",
            "",
            "   Today",
            "   Safari button #bug      2m",
            "",
        ]
        assert [message.query for message in app.heard if isinstance(message, FilterChanged)] == [
            "#",
            "#b",
            "#bu",
            "#bug",
        ]
        await press(pilot, "z")
        assert "   Nothing found" in screen_lines(app)
        await press(pilot, "backspace", "enter")
        assert asked(app)[-1] == SessionChosen("b")
        assert isinstance(app.focused, SessionList)
        await press(pilot, "slash", "escape")
        assert (sidebar.filter_text, isinstance(app.focused, SessionList)) == ("", True)
        assert sidebar.cursor == "b"


async def test_hits_of_the_full_text_open_at_their_message() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_filter()
        await press(pilot, *"pool")
        sidebar.show_hits("poo", [SearchHit("a", 1, "an answer to an older question")])
        assert sidebar.cursor is None
        sidebar.show_hits(
            "pool", [SearchHit("c", 12, "the pool is empty", ((4, 8),)), SearchHit("c", 3, "worse hit")]
        )
        await pilot.pause()
        assert screen_lines(app)[5:8] == [
            "   Yesterday",
            "   Release notes           1d",
            "   the pool is empty",
        ]
        await press(pilot, "down", "enter")
        assert asked(app)[-1] == SessionChosen("c", 12)


async def test_renaming_in_place() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "down", "f2", "!", "enter")
        assert asked(app) == [RenameSubmitted("b", "Safari button!")]
        assert isinstance(app.focused, SessionList)
        await press(pilot, "r", "?", "escape")  # given up
        await press(pilot, "r", "ctrl+u", "enter")  # an empty title is none
        await press(pilot, "r", "enter")  # the same title is no change
        assert asked(app) == [RenameSubmitted("b", "Safari button!")]
        assert not sidebar.query_one("#sidebar-rename").display


async def test_a_rename_follows_its_session_and_ends_with_it() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "r", "!")
        editor = sidebar.query_one("#sidebar-rename", LineInput)
        assert editor.region.offset == Offset(3, 6)
        sidebar.set_rows([row("new", 0), *ROWS])
        await pilot.pause()
        assert (editor.region.offset, editor.value, editor.has_focus) == (
            Offset(3, 7),
            "Nightly export!",
            True,
        )
        sidebar.set_rows(ROWS[1:])
        await pilot.pause()
        assert (editor.display, isinstance(app.focused, SessionList)) == (False, True)


async def test_the_archive() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        sidebar.focus_list()
        await press(pilot, "A", "a")
        assert asked(app) == [ArchiveViewChanged(archived=True), ArchiveRequested("z", archived=False)]
        lines = screen_lines(app)
        assert (lines[1], lines[6], lines[-1]) == (
            "   Archived            A back",
            "▌  Old things              3m",
            "   1 archived",
        )
        await press(pilot, "A")
        assert sidebar.cursor == "a"


async def test_the_mouse_opens_and_begins() -> None:
    app, sidebar = stage()
    async with app.run_test(size=(40, 16)) as pilot:
        await pilot.click(sidebar, offset=(10, 7))
        await pilot.click(sidebar, offset=(26, 1))
        await pilot.click(sidebar, offset=(5, 5))  # a head is nothing
        assert asked(app) == [SessionChosen("b"), NewRequested()]


@pytest.mark.parametrize("evil", EVIL)
async def test_evil_titles_are_shown_as_they_are_and_work_like_any_other(evil: str) -> None:
    app, sidebar = stage([SidebarRow(evil, evil, NOW, tags=(evil,), mark=RowMark.UNREAD), *ROWS])
    async with app.run_test(size=(60, 16)) as pilot:
        sidebar.styles.width = 60
        sidebar.focus_list()
        await press(pilot, "r", "enter", "d")
        await pilot.hover(sidebar, offset=(10, 6))
        await pilot.pause()
        text = "\n".join(screen_lines(app))
        assert not set(text) & set("\x1b\x9b\u202e\x07")
        assert asked(app) == [DeleteRequested(evil)]
        if evil.isprintable():
            assert f" • {evil} " in text or f"▌• {evil} " in text


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (8, 4), (24, 8)])
async def test_it_survives_any_size(size: tuple[int, int]) -> None:
    app, sidebar = stage()
    async with app.run_test(size=size) as pilot:
        sidebar.styles.width = size[0]
        sidebar.focus_list()
        await press(pilot, "down", "r", "x", "escape", "slash", "x", "escape")
        assert sidebar.cursor == "b"


BIG = [row(f"k{n}", 7 * n, f"Session {n} of the year", tags=("bug",)) for n in range(10_000)]


async def test_ten_thousand_sessions_are_quick() -> None:
    app, sidebar = stage([])
    async with app.run_test(size=(40, 30)) as pilot:
        sidebar.focus_list()
        drawn = 0
        original = sidebar.list.render_line

        def counting(y: int) -> Strip:
            nonlocal drawn
            drawn += 1
            return original(y)

        sidebar.list.render_line = counting  # type: ignore[method-assign]
        sidebar.set_rows(BIG)
        await pilot.pause()
        assert drawn <= 4 * sidebar.list.size.height  # only what is in view, whatever the count
        await press(pilot, "end")
        assert sidebar.cursor == "k9999"
        assert sidebar.list.scroll_offset.y == len(sidebar.list.lines) - sidebar.list.size.height
        await press(pilot, "home")
        assert sidebar.list.scroll_offset.y == 0
        # How far one has scrolled is told in the last cell: at the top now, and one cell long.
        assert [y for y, line in enumerate(screen_lines(app)) if line[29:] == "│"] == [sidebar.list.region.y]
        costs = []
        for query in ("s", "se", "#bug 99", "nothing like it"):
            sidebar.query_one("#sidebar-query", LineInput).set_value(query)
            begun = time.process_time()
            await pilot.pause()
            costs.append(time.process_time() - begun)
        # The goal is 50 ms a key with its paint; a shared machine under test is given four times that.
        assert min(costs) < 0.05
        assert max(costs) < 0.2


def test_head_and_foot() -> None:
    assert head_text(30, archive=False).plain == "   Sessions            ^N new "
    assert head_text(12, archive=False).plain == "   Sessions"
    assert foot_text(128, 3, 30).plain == "   128 sessions · 3 archived"
    assert foot_text(128, 3, 28).plain == "   128 sessions"
    assert foot_text(1, 0, 30).plain == "   1 session"
