"""The status line shows whole segments, drops the least important first, and never a sign of trouble."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.axis import axis
from shipchat.tui.glyphs import ASCII
from shipchat.tui.messages import StatusClicked
from shipchat.tui.widgets.status_line import (
    SaveState,
    Segment,
    StatusLine,
    StatusState,
    context_text,
    duration_text,
    meter_content,
    status_content,
    status_layout,
    status_segments,
    window_text,
)
from tests.tui.stage import Stage

IDLE = StatusState(save=SaveState.SAVED, used=4_100, window=200_000, cost="$0.021", model="smollm2 · local")


def line(state: StatusState, width: int, height: int = 36) -> str:
    return status_content(state, axis(width, height), width).plain


def test_everything_fits_in_ninety_cells() -> None:
    assert line(IDLE, 90) == (
        "    saved   ──────   2% of 200k   $0.021        smollm2 · local   F1 keys   ^P actions    "
    )


def test_at_eighty_the_meter_goes() -> None:
    assert (
        line(IDLE, 80, 24)
        == "    saved   2% of 200k   $0.021       smollm2 · local   F1 keys   ^P actions    "
    )


def test_in_a_tiny_terminal_the_header_has_the_model() -> None:
    assert line(IDLE, 60, 16) == "  saved   2% of 200k   $0.021         F1 keys   ^P actions  "


def test_parts_go_from_the_bottom_of_the_list() -> None:
    state = StatusState(
        seconds=12, save=SaveState.SAVING, used=4_100, window=200_000, cost="$0.021", model="smollm2"
    )
    dropped = []
    for room in range(120, 0, -1):
        kept = {segment for segment, _, _ in status_layout(status_segments(state), room)}
        dropped += [segment for segment in Segment if segment not in kept and segment not in dropped]
    assert dropped == sorted(Segment, reverse=True)


def test_streaming() -> None:
    state = StatusState(seconds=72, save=SaveState.SAVING, model="smollm2")
    assert (
        line(state, 80).rstrip()
        == "    ● 1 min 12 s · Esc stops   saving…        smollm2   F1 keys   ^P actions"
    )


def test_trouble_with_saving_is_in_bold_error_and_loses_its_reason_before_itself() -> None:
    state = StatusState(save=SaveState.NOT_SAVED, failure="disk full\x1b[2J")
    content = status_content(state, axis(80, 24), 80)
    assert content.plain.startswith("    ! NOT SAVED  disk full␛[2J   ")
    assert [str(span.style) for span in content.spans if "NOT" in content.plain[span.start : span.end]] == [
        "bold $error"
    ]
    assert line(state, 16).strip() == "! NOT SAVED"


def test_who_replies_elsewhere() -> None:
    assert line(StatusState(elsewhere=True, save=SaveState.SAVED), 80).startswith(
        "    ◊ replying elsewhere   saved"
    )


@pytest.mark.parametrize(
    ("used", "window", "text"),
    [
        (0, 200_000, "0 of 200k"),
        (1, 200_000, "1% of 200k"),
        (4_100, 200_000, "2% of 200k"),
        (250_000, 200_000, "125% of 200k"),
        (1_240, None, "1,240 tokens"),
        (1_240, 0, "1,240 tokens"),
    ],
)
def test_context(used: int, window: int | None, text: str) -> None:
    assert context_text(used, window) == text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (200_000, "200k"),
        (8_192, "8k"),
        (512, "512"),
        (1_000_000, "1M"),
        (1_048_576, "1M"),
        (1_500_000, "1.5M"),
    ],
)
def test_windows(tokens: int, text: str) -> None:
    assert window_text(tokens) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (59, "59 s"), (125, "2 min 5 s"), (3_840, "1 h 4 min")]
)
def test_durations(seconds: int, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("share", "filled", "style"),
    [
        (0.0, 0, ""),
        (0.001, 1, "$accent"),
        (0.5, 3, "$accent"),
        (0.75, 4, "$warning"),
        (0.9, 5, "$error"),
        (3.0, 6, "$error"),
    ],
)
def test_the_meter(share: float, filled: int, style: str) -> None:
    content = meter_content(share)
    first = [
        (span.end - span.start, str(span.style))
        for span in content.spans
        if span.style != "$mark" and span.end > span.start
    ]
    assert content.plain == "──────"
    assert first == ([(filled, style)] if filled else [])
    assert meter_content(share, ASCII).plain == "[" + "#" * filled + "-" * (6 - filled) + "]"


STATES = st.builds(
    StatusState,
    seconds=st.none() | st.integers(0, 10_000),
    elsewhere=st.booleans(),
    save=st.sampled_from(SaveState),
    failure=st.text(max_size=60),
    used=st.integers(0, 10**7),
    window=st.none() | st.integers(0, 10**7),
    estimated=st.booleans(),
    cost=st.sampled_from(["", "$0", "$12.34"]),
    model=st.text(max_size=60),
)


@given(STATES, st.integers(1, 200), st.integers(1, 50))
def test_a_line_is_as_wide_as_its_place_and_its_segments_are_whole(
    state: StatusState, width: int, height: int
) -> None:
    content = status_content(state, axis(width, height), width)
    assert content.cell_length == width
    assert "\n" not in content.plain
    if width >= 20 and state.save is SaveState.NOT_SAVED and state.seconds is None and not state.elsewhere:
        assert "NOT SAVED" in content.plain


async def test_a_click_says_which_segment() -> None:
    status = StatusLine()
    app = Stage(lambda: [status])
    async with app.run_test(size=(90, 36)) as pilot:
        status.state, status.place = IDLE, axis(90, 36)
        await pilot.pause()
        for x in (5, 50, 67, 76, 10):
            await pilot.click(status, offset=(x, 0))
        clicked = [message.segment for message in app.heard if isinstance(message, StatusClicked)]
        assert clicked == ["save", "model", "keys", "actions"]
