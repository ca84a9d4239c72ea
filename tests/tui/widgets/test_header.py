"""The header keeps its title, gives up its tags first, and stands on the axis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.axis import axis
from shipchat.tui.messages import SidebarRequested
from shipchat.tui.widgets.header import Badge, Header, HeaderState, count_text, header_content
from tests.tui.stage import Stage

STATE = HeaderState("Nightly export", ("ops",), (), 2, None, "smollm2")


def line(state: HeaderState, width: int, height: int, *, menu: bool = False) -> str:
    return header_content(state, axis(width, height), width, menu=menu).plain


def test_on_the_axis() -> None:
    assert line(STATE, 74, 24) == "    Nightly export  #ops" + " " * 36 + "2 messages    "
    assert line(STATE, 74, 24, menu=True) == "    ≡  Nightly export  #ops" + " " * 33 + "2 messages    "


def test_a_tiny_terminal_shows_the_model_instead_of_the_count() -> None:
    assert line(STATE, 60, 16, menu=True) == "  ≡  Nightly export  #ops" + " " * 26 + "smollm2  "


def test_tags_go_before_the_title_is_cut() -> None:
    long = HeaderState("A rather long title of a session", ("ops", "production!"), (), 12_480, 38)
    assert line(long, 74, 24) == "    A rather long title of a session" + " " * 22 + "38 of 12,480    "
    longer = HeaderState("A rather long title " * 4, ("ops",), (Badge.PRIVATE, Badge.ARCHIVED), 12)
    assert (
        line(longer, 74, 24) == "    A rather long title A rather l…   private   archived   12 messages    "
    )


def test_what_stands_at_the_right_goes_before_the_title_does() -> None:
    state = HeaderState("Nightly export", (), (Badge.DAMAGED,), 12)
    assert line(state, 34, 24) == "  Nightly export" + " " * 16 + "  "


def test_badges_have_their_colours() -> None:
    content = header_content(HeaderState(badges=(Badge.DAMAGED, Badge.NO_MODEL)), axis(80, 24), 80)
    found = {content.plain[span.start : span.end].strip(): str(span.style) for span in content.spans}
    assert found["damaged, read-only"] == "$error"
    assert found["no model yet"] == "$warning"


@pytest.mark.parametrize(
    ("messages", "position", "text"),
    [
        (0, None, "nothing written yet"),
        (1, None, "1 message"),
        (12_480, None, "12,480 messages"),
        (12_480, 38, "38 of 12,480"),
    ],
)
def test_counts(messages: int, position: int | None, text: str) -> None:
    assert count_text(messages, position) == text


STATES = st.builds(
    HeaderState,
    title=st.text(max_size=80),
    tags=st.lists(st.text(max_size=12), max_size=3).map(tuple),
    badges=st.lists(st.sampled_from(Badge), max_size=3, unique=True).map(tuple),
    messages=st.integers(0, 20_000),
    model=st.text(max_size=60),
)


@given(STATES, st.integers(1, 130), st.integers(1, 40), st.booleans())
def test_a_header_is_as_wide_as_its_place(state: HeaderState, width: int, height: int, menu: bool) -> None:
    content = header_content(state, axis(width, height), width, menu=menu)
    assert content.cell_length == width
    assert "\n" not in content.plain


async def test_three_rows_where_there_is_height_and_a_click_opens_the_drawer() -> None:
    header = Header()
    app = Stage(lambda: [header])
    async with app.run_test(size=(60, 16)) as pilot:
        header.state, header.place, header.menu = STATE, axis(60, 16), True
        await pilot.pause()
        assert header.size.height == 1
        await pilot.click(header, offset=(2, 0))
        assert app.heard == [app.heard[0]]
        assert isinstance(app.heard[0], SidebarRequested)
        header.place = axis(120, 36)
        await pilot.pause()
        assert header.outer_size.height == 3
