"""Toasts say what happened, leave in time, merge, and can be undone."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from textual.containers import Vertical
from textual.widgets import Static

from shipchat.tui.axis import axis
from shipchat.tui.messages import ToastUndone
from shipchat.tui.widgets.toast import Toast, ToastKind, ToastStack, ToastView, toast_content, toast_height
from tests.tui.stage import Stage, press, screen_lines

TRASHED = Toast("Moved to trash", "Release notes", undo="restore:a")


def stage(rack: ToastStack) -> Stage:
    css = "#rest { height: 1fr; } #foot { height: 3; }"
    return Stage(lambda: [Vertical(Static(id="rest"), rack, Static(id="foot"))], css=css)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, at most five seconds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - a timer of Textual's has no event to wait for
            await asyncio.sleep(0.005)


def test_lines() -> None:
    assert toast_content(TRASHED, 43).plain == "Moved to trash\nRelease notes   u undo"
    assert toast_content(TRASHED, 20).plain == "Moved to trash\nRelease no…   u undo"
    assert toast_content(TRASHED, 5, count=2).plain == "M… ×2\nRele…"  # noqa: RUF001
    assert toast_content(Toast("Copied"), 43, count=3).plain == "Copied ×3"  # noqa: RUF001
    failed = Toast("No [/b] model", "\x1b[31mrefused", ToastKind.ERROR)
    assert toast_content(failed, 43).plain == "No [/b] model\n␛[31mrefused   click dismisses"


TOASTS = st.builds(
    Toast,
    st.text(),
    st.text(),
    st.sampled_from(ToastKind),
    st.none() | st.just("x"),
    st.just("u"),
    st.just("undo"),
)


@given(TOASTS, st.integers(1, 60), st.integers(1, 9))
def test_no_line_is_wider_than_the_toast(toast: Toast, width: int, count: int) -> None:
    content = toast_content(toast, width, count=count)
    lines = content.split("\n", allow_blank=True)
    assert len(lines) <= toast_height(toast)
    assert all(line.cell_length <= width for line in lines)


async def test_they_stand_at_the_right_above_the_composer() -> None:
    rack = ToastStack()
    app = stage(rack)
    async with app.run_test(size=(80, 12)) as pilot:
        rack.place = axis(80, 24)
        rack.show(TRASHED)
        rack.show(Toast("Copied", kind=ToastKind.INFO))
        await pilot.pause()
        await pilot.pause()
        lines = [line.strip() for line in screen_lines(app)]
        assert lines[4:9] == ["▌ Moved to trash", "▌ Release notes   u undo", "", "▌ Copied", ""]
        assert app.query(ToastView).first().region.right == 78
        assert screen_lines(app)[4].index("▌") == 32


async def test_equal_ones_merge_and_only_three_are_shown() -> None:
    rack = ToastStack()
    app = stage(rack)
    async with app.run_test(size=(80, 24)) as pilot:
        error = Toast("Lost", kind=ToastKind.ERROR)
        rack.show(error)
        for title in ("one", "two", "two", "three"):
            rack.show(Toast(title))
        await pilot.pause()
        assert rack.toasts == [error, Toast("two"), Toast("three")]
        await pilot.pause()
        assert any("two ×2" in line for line in screen_lines(app))  # noqa: RUF001


async def test_they_leave_in_time_and_errors_stay() -> None:
    error = Toast("Lost", kind=ToastKind.ERROR)
    rack = ToastStack(seconds=0.01, undo_seconds=3600)
    app = stage(rack)
    async with app.run_test(size=(80, 24)):
        for toast in (error, TRASHED, Toast("Copied")):
            rack.show(toast)
        await until(lambda: rack.toasts == [error, TRASHED])
    rack = ToastStack(seconds=3600, undo_seconds=0.01)
    app = stage(rack)
    async with app.run_test(size=(80, 24)):
        for toast in (error, TRASHED):
            rack.show(toast)
        await until(lambda: rack.toasts == [error])
        assert rack.dismiss_newest()
        assert not rack.dismiss_newest()


async def test_undo_by_key_and_by_mouse() -> None:
    rack = ToastStack()
    app = stage(rack)
    async with app.run_test(size=(80, 24)) as pilot:
        rack.place = axis(80, 24)
        rack.show(TRASHED)
        rack.show(Toast("Copied"))
        assert rack.undo_newest()
        assert not rack.undo_newest()
        rack.show(Toast("Archived", "b", undo="unarchive:b"))
        await press(pilot)
        await pilot.click("ToastView.success:last-of-type", offset=(5, 1))
        await press(pilot)
        assert app.heard == [ToastUndone("restore:a"), ToastUndone("unarchive:b")]
        assert rack.toasts == [Toast("Copied")]
        rack.clear()
        assert rack.toasts == []
