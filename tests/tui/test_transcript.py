"""The transcript in a running application: what is painted, where the view stands, what keys and clicks ask for."""

import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.message import Message
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Static

from shipchat.tui.axis import axis
from shipchat.tui.glyphs import ASCII
from shipchat.tui.messages import OwnMessage
from shipchat.tui.widgets.transcript import Transcript
from shipchat.tui.widgets.transcript_item import FoldedDetails, Sibling, ToolRow, TranscriptItem
from shipchat.tui.widgets.transcript_messages import (
    CopyCode,
    FoldToggled,
    LinkActivated,
    LoadMore,
    MessageAction,
    MessageFocused,
    SiblingFlip,
    TranscriptLeft,
    ViewMoved,
)

REPLY = "The **job**:\n\n```python\nx = 1\n```\n\nSee [docs](https://example.org/pool).\n"


def user(number: int, text: str = "A question.") -> TranscriptItem:
    return TranscriptItem(f"m{number}", text, role="user", position=number, time_text="15:09")


def assistant(number: int, text: str = "An answer.") -> TranscriptItem:
    return TranscriptItem(f"m{number}", text, position=number, model="smollm2", time_text="15:10")


def session(count: int) -> list[TranscriptItem]:
    texts = ("A question.", "One line.\n\n- a\n- b\n\n```python\nx = 1\n```", "Word " * 60)
    return [(user if n % 2 else assistant)(n, f"message {n}\n\n{texts[n % 3]}") for n in range(1, count + 1)]


class Shell(App[None]):
    """A transcript, and a list of what it said."""

    CSS = "#foot { height: 1; }"
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[OwnMessage] = []

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield Static(id="foot")

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)


@asynccontextmanager
async def running(
    width: int = 60, height: int = 24
) -> AsyncIterator[tuple[Pilot[None], Transcript, list[OwnMessage]]]:
    app = Shell()

    def hear(message: Message) -> None:
        if isinstance(message, OwnMessage):
            app.said.append(message)

    async with app.run_test(size=(width, height), message_hook=hear) as pilot:
        await pilot.pause()
        yield pilot, app.transcript, app.said


def painted(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def shown(transcript: Transcript) -> str:
    return "\n".join(painted(transcript))


def heard(said: list[OwnMessage], kind: type[OwnMessage]) -> list[OwnMessage]:
    unique: list[OwnMessage] = []
    for message in said:
        if isinstance(message, kind) and not any(message is one for one in unique):
            unique.append(message)
    return unique


async def click(pilot: Pilot[None], transcript: Transcript, word: str, *, times: int = 1) -> None:
    await pilot.pause()
    for y, line in enumerate(painted(transcript)):
        if word in line:
            await pilot.click(transcript, offset=(line.index(word), y), times=times)
            await pilot.pause()
            return
    raise AssertionError(f"{word!r} is not shown:\n{shown(transcript)}")


@contextmanager
def steady(transcript: Transcript) -> Iterator[None]:
    """Whatever happens inside, the first line in view that has text stays where it is."""
    before = painted(transcript)
    yield
    assert painted(transcript)[: transcript.size.height] == before


async def test_messages_as_in_the_mock_up() -> None:
    async with running(80, 24) as (_, transcript, _said):
        item = replace(
            assistant(2, REPLY),
            sibling=Sibling(2, 3),
            fold=FoldedDetails("why", 8, (ToolRow("read nightly.py"),)),
        )
        transcript.set_items([user(1, "Find out\n why."), item])
        assert painted(transcript)[:14] == [
            "  ▌ you  1" + " " * 61 + "15:09",
            "  ▌ Find out",
            "  ▌  why.",
            "",
            "    assistant  2  smollm2" + " " * 36 + "‹ 2/3 ›   15:10",  # noqa: RUF001
            "    ► thought for 8 s · read nightly.py",
            "",
            "    The job:",
            "",
            "      python" + " " * 58 + "copy",
            "      x = 1",
            "",
            "",
            "    See docs (example.org/pool).",
        ]


@pytest.mark.parametrize(
    ("width", "height"), [(120, 36), (60, 16), (20, 5), (8, 3), (1, 1), (3, 2), (200, 50)]
)
async def test_every_line_is_exactly_as_wide_as_the_widget(width: int, height: int) -> None:
    async with running(width, height) as (pilot, transcript, _):
        items = [
            *session(12),
            replace(assistant(13, "日本語 👍 e\u0301 " * 9), status="failed", error_text="日本 no " * 9),
        ]
        items.append(TranscriptItem("d", "the model sees from here", kind="divider"))
        items.append(replace(user(14, "x\n" * 3), pinned=True, is_hit=True, attachments=("a.py 4 kB",)))
        transcript.set_items(items)
        transcript.focus()
        for _step in range(5):
            await pilot.press("up")
            for y in range(transcript.size.height):
                assert transcript.render_line(y).cell_length == transcript.size.width


async def test_a_long_session_opens_at_its_end_and_lays_out_only_that() -> None:
    async with running() as (_pilot, transcript, said):
        transcript.set_items(session(10_000))
        assert "message 10000" in shown(transcript)
        assert len(transcript.pile._layouts) < 40
        assert transcript.following
        transcript.scroll_to_position(5_000)
        assert "message 5000" in "\n".join(painted(transcript)[:3])
        assert len(transcript.pile._layouts) < 100
        transcript.follow()
        assert "message 10000" in shown(transcript)
        await _pilot.pause()
        assert heard(said, ViewMoved)[-1] == ViewMoved(10_000, at_end=True)


async def test_scrolling_up_never_jumps_though_heights_were_guesses() -> None:
    async with running() as (_pilot, transcript, _said):
        transcript.set_items(session(300))
        lines = painted(transcript)
        for _ in range(200):
            before = painted(transcript)
            transcript.scroll_rows(-3)
            after = painted(transcript)
            assert after[3:] == before[:-3]
            lines = after[:3] + lines
        text = "\n".join(lines)
        seen = [n for n in range(1, 301) if f"message {n}\n" in text]
        assert len(seen) > 60
        assert seen == list(range(seen[0], 301))


async def test_following_stops_when_scrolled_up_and_begins_again_at_the_end() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.set_items(session(30))
        transcript.begin_stream(TranscriptItem("r", position=31, status="streaming"), seconds=12)
        transcript.append_delta("r", "first\n\n")
        transcript.flush(now=True)
        assert "writing · 12 s" in shown(transcript)
        transcript.scroll_rows(-10)
        with steady(transcript):
            transcript.append_delta("r", "second\n\n" * 50)
            transcript.flush(now=True)
        transcript.focus()
        await pilot.press("end")
        assert "second" in shown(transcript)
        transcript.append_delta("r", "the last")
        transcript.flush(now=True)
        assert "the last▌" in shown(transcript)
        transcript.scroll_rows(-1)
        transcript.scroll_rows(1)
        transcript.append_delta("r", " but one")
        transcript.flush(now=True)
        assert "the last but one▌" in shown(transcript)


async def test_a_streamed_reply_ends_as_it_would_have_been_opened() -> None:
    text = REPLY + "\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n1. one\n2. two\n\n   ```\n   inner\n   ```\n"
    async with running(60, 40) as (_, transcript, _said):
        transcript.set_items([user(1), assistant(2, text)])
        expected = painted(transcript)
        transcript.set_items([user(1)])
        transcript.begin_stream(replace(assistant(2, ""), status="streaming"))
        for start in range(0, len(text), 3):
            transcript.append_delta("m2", text[start : start + 3])
            transcript.flush(now=True)
            painted(transcript)
        assert transcript.markdown_of("m2") == text
        transcript.end_stream(assistant(2, text))
        assert painted(transcript) == expected
        assert transcript.markdown_of("m2") == text


async def test_deltas_are_painted_by_the_clock() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.begin_stream(TranscriptItem("r", status="streaming"))
        transcript.append_delta("r", "by itself")
        assert "by itself" not in shown(transcript)
        for _ in range(200):
            if "by itself" in shown(transcript):
                break
            await pilot.pause(0.01)
        assert "by itself▌" in shown(transcript)
        transcript.append_delta("unknown", "nowhere")
        transcript.end_stream(TranscriptItem("r", "by itself"))
        assert "▌" not in shown(transcript)
        assert "writing" not in shown(transcript)


async def test_long_code_gets_its_colours_a_little_later() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.set_items([assistant(1, "```python\n" + "value = 1  # note\n" * 1_000 + "```\n")])
        before = painted(transcript)

        def coloured() -> bool:
            segments = [segment for y in range(5) for segment in transcript.render_line(y)]
            return any(s.style is not None and s.style.italic for s in segments)

        assert not coloured()
        for _ in range(500):
            if coloured():
                break
            await pilot.pause(0.01)
        assert coloured()
        assert painted(transcript) == before


async def test_a_fence_does_not_move_when_it_closes() -> None:
    async with running() as (_, transcript, _said):
        transcript.begin_stream(TranscriptItem("r", status="streaming"))
        transcript.append_delta("r", "```python\nx = 1\n")
        transcript.flush(now=True)
        before = [line.replace("▌", " ").rstrip() for line in painted(transcript)]
        transcript.append_delta("r", "```\n")
        transcript.flush(now=True)
        assert [line.replace("▌", " ").rstrip() for line in painted(transcript)] == before


async def test_resizing_keeps_the_line_at_the_top() -> None:
    async with running(100, 24) as (pilot, transcript, _said):
        transcript.set_items(session(200))
        transcript.scroll_to_position(90)
        for width in (40, 130, 61, 100):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert painted(transcript)[0].split()[1] == "90"
        assert len(transcript.pile._layouts) < 100


async def test_keys_on_messages() -> None:
    async with running(90, 24) as (pilot, transcript, said):
        failed = replace(assistant(4, "Half"), status="failed", error_text="The provider closed the stream.")
        transcript.set_items([user(1), replace(assistant(2), sibling=Sibling(1, 2)), user(3), failed])
        transcript.focus()
        await pilot.pause()
        assert "y copy  e edit  f fork" in shown(transcript)
        assert "c continue   r retry   m another model" in shown(transcript)
        await pilot.press("c", "r", "m", "y", "up", "up")
        assert "c copy  e edit  r retry  f fork  m more" in shown(transcript)
        await pilot.press("left", "right", "c", "e", "f", "m", "down", "down", "down", "escape")
        assert [(m.item_id, m.action) for m in heard(said, MessageAction) if isinstance(m, MessageAction)] == [
            ("m4", "continue"), ("m4", "retry"), ("m4", "model"), ("m4", "copy"),
            ("m2", "copy"), ("m2", "edit"), ("m2", "fork"), ("m2", "more"),
        ]  # fmt: skip
        assert heard(said, SiblingFlip) == [SiblingFlip("m2", 1)]
        assert [m.item_id for m in heard(said, MessageFocused) if isinstance(m, MessageFocused)] == [
            "m4", "m3", "m2", "m3", "m4",
        ]  # fmt: skip
        assert len(heard(said, TranscriptLeft)) == 2


async def test_only_the_focused_message_has_the_accent_bar() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.set_items([user(1), assistant(2)])
        accent = transcript.look.palette.accent.lower()

        def bars() -> list[str]:
            lines = []
            for y in range(transcript.size.height):
                bar = next((s for s in transcript.render_line(y) if s.text == "▌"), None)
                if bar is not None and bar.style is not None and bar.style.color is not None:
                    lines.append("accent" if bar.style.color.name == accent else "mark")
            return lines

        assert bars() == ["mark", "mark"]
        transcript.focus()
        await pilot.pause()
        assert bars() == ["mark", "mark", "accent", "accent"]
        await pilot.press("up")
        assert bars() == ["accent", "accent"]


async def test_clicks() -> None:
    async with running(80, 30) as (pilot, transcript, said):
        item = replace(assistant(2, REPLY), sibling=Sibling(2, 3), fold=FoldedDetails("reasons", 8))
        transcript.set_items([user(1), item])
        transcript.blur()
        await click(pilot, transcript, "docs")
        transcript.blur()
        await click(pilot, transcript, "copy")
        assert "copied" in shown(transcript)
        transcript.blur()
        await click(pilot, transcript, "‹")  # noqa: RUF001
        transcript.blur()
        await pilot.pause()
        await click(pilot, transcript, "thought for")
        assert "▼ thought for 8 s\n  ▌   reasons" in shown(transcript)
        await click(pilot, transcript, "f fork")
        assert heard(said, LinkActivated) == [LinkActivated("https://example.org/pool")]
        assert heard(said, CopyCode) == [CopyCode("m2", "x = 1\n")]
        assert heard(said, SiblingFlip) == [SiblingFlip("m2", -1)]
        assert heard(said, FoldToggled) == [FoldToggled("m2", opened=True)]
        assert heard(said, MessageAction) == [MessageAction("m2", "fork")]


async def test_code_of_a_list_is_copied_and_moved_sideways() -> None:
    async with running(40, 30) as (pilot, transcript, said):
        text = "1. one\n   ```\n   a\n   ```\n   ```\n   " + "0123456789" * 5 + "\n   ```\n"
        transcript.set_items([assistant(1, text)])
        transcript.focus()
        await pilot.press("greater_than_sign")
        assert "8901234567" in shown(transcript)
        await pilot.press("k")
        second = [y for y, line in enumerate(painted(transcript)) if line.endswith("copy")][1]
        await pilot.click(transcript, offset=(painted(transcript)[second].index("copy"), second))
        await pilot.pause()
        assert heard(said, CopyCode) == [CopyCode("m1", "a\n"), CopyCode("m1", "0123456789" * 5 + "\n")]


async def test_selection_gives_the_text_as_shown_and_stays_while_heights_change_above() -> None:
    async with running(60, 24) as (pilot, transcript, _said):
        transcript.set_items(session(60))
        await pilot.pause()
        y = next(y for y, line in enumerate(painted(transcript)) if "message" in line)
        word = painted(transcript)[y].strip(" ▌")
        await pilot.mouse_down(transcript, offset=(0, y))
        await pilot.hover(transcript, offset=(50, y + 1))
        await pilot.mouse_up(transcript, offset=(50, y + 1))
        await pilot.pause()
        chosen = pilot.app.screen.get_selected_text()
        assert chosen is not None
        assert chosen.startswith(word)
        transcript.scroll_rows(-100)
        transcript.scroll_rows(-100)
        assert pilot.app.screen.get_selected_text() == chosen


async def test_the_wheel_scrolls_and_shift_moves_code() -> None:
    async with running(40, 24) as (pilot, transcript, _said):
        transcript.set_items([*session(30), assistant(31, "```\n" + "0123456789" * 6 + "\n```")])
        top = transcript.scroll_y
        await pilot._post_mouse_events([events.MouseScrollUp], transcript, offset=(5, 5))
        await pilot.pause()
        assert transcript.scroll_y < top
        assert not transcript.following
        await pilot.press("end")
        transcript.follow()
        row = next(y for y, line in enumerate(painted(transcript)) if "0123456789" in line)
        await pilot._post_mouse_events([events.MouseScrollDown], transcript, offset=(8, row), shift=True)
        await pilot.pause()
        assert painted(transcript)[row].strip().startswith("8901234567")
        assert transcript.following


async def test_selecting_from_before_the_first_row_and_wide_text() -> None:
    async with running(60, 24) as (pilot, transcript, _said):
        transcript.set_items([assistant(1, "日本語 text")])
        transcript.screen.selections = {transcript: Selection(Offset(3, 1), Offset(5, 1))}
        await pilot.pause()
        assert transcript.get_selection(Selection(Offset(3, 1), Offset(5, 1))) == ("本語", "\n")
        whole = transcript.get_selection(Selection(None, None))
        assert whole is not None
        assert whole[0].split("\n")[1:] == ["日本語 text"]
        await click(pilot, transcript, "text", times=2)
        assert pilot.app.screen.get_selected_text() in ("text", "日本語 text")


async def test_more_is_asked_for_once_and_arrives_without_moving_anything() -> None:
    async with running() as (pilot, transcript, said):
        items = session(100)
        transcript.set_items(items[80:], has_more=True)
        await pilot.pause()
        transcript.focus()
        await pilot.press("home")
        transcript.scroll_rows(4)
        await pilot.pause()
        assert len(heard(said, LoadMore)) == 1
        with steady(transcript):
            transcript.prepend_items(items[:80])
        for _ in range(5):
            transcript.scroll_rows(-4)
        assert "message 80" in shown(transcript)
        await pilot.press("home")
        assert "message 1" in shown(transcript)
        await pilot.pause()
        assert len(heard(said, LoadMore)) == 1


async def test_changing_and_removing_items() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.set_items(session(40))
        transcript.scroll_to_position(20)
        with steady(transcript):
            transcript.update_item(assistant(6, "short"))
            transcript.append_item(user(41, "new"))
        assert not transcript.update_item(user(99))
        transcript.remove_items_after("m19")
        await pilot.pause()
        assert [item.id for item in transcript.pile.items][-1] == "m19"
        assert "message 19" in shown(transcript)
        transcript.remove_items_after(None)
        assert shown(transcript).strip() == ""
        transcript.append_item(user(1, "again"))
        assert "again" in shown(transcript)
        assert transcript.markdown_of("m1") == "again"
        assert transcript.markdown_of("m2") == ""


async def test_narrow_headers_lose_the_model_then_the_time() -> None:
    item = replace(assistant(1234), sibling=Sibling(2, 3), pinned=True)
    seen = []
    for width in (80, 46, 36, 30):
        async with running(width, 24) as (_, transcript, _said):
            transcript.set_items([item])
            seen.append(painted(transcript)[0].split())
    assert seen == [
        ["assistant", "1,234", "smollm2", "pinned", "‹", "2/3", "›", "15:10"],  # noqa: RUF001
        ["assistant", "1,234", "pinned", "‹", "2/3", "›", "15:10"],  # noqa: RUF001
        ["assistant", "1,234", "‹", "2/3", "›"],  # noqa: RUF001
        ["assistant", "1,234", "‹", "2/3", "›"],  # noqa: RUF001
    ]


HOSTILE = [
    "\x1b]52;c;aGk=\x07", "\x9b2J", "\x9d0;t\x9c", "[/foo]", "[@click=app.exit()]x[/]", "\u202eabc\u2066", "\x1b[2J",
    "[TODO] plan", "[00] foo", "\x1b]8;;http://x\x07", "\ud800", "a\nb\rc",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_in_every_field_is_shown_and_never_obeyed(text: str) -> None:
    async with running(90, 40) as (pilot, transcript, said):
        item = TranscriptItem(
            text, text, position=1, model=text, time_text=text, sibling=Sibling(1, 2), status="failed", activity=text,
            fold=FoldedDetails(text, 3, (ToolRow(text, text, failed=True),)), error_text=text, pinned=True, is_hit=True,
        )  # fmt: skip
        transcript.set_items(
            [item, replace(item, id="u", role="user", status="complete", attachments=(text,)),
             replace(item, id="d", kind="divider"), replace(item, id="n", kind="notice"),
             replace(item, id="s", status="streaming")]
        )  # fmt: skip
        transcript.focus()
        await pilot.press("up", "up", "o")
        transcript.append_delta("s", text)
        transcript.flush(now=True)
        for y in range(transcript.size.height):
            line = transcript.render_line(y)
            assert line.cell_length == transcript.size.width
            for segment in line:
                assert segment.control is None
                assert not [
                    c for c in segment.text if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066"
                ]
                assert "@click" not in (segment.style.meta if segment.style else {})
        for y in (0, 4):
            await pilot.click(transcript, offset=(6, y))
        assert pilot.app.is_running
        assert not heard(said, LinkActivated)
        assert transcript.markdown_of("u") == text


async def test_plain_and_ascii() -> None:
    async with running(60, 24) as (pilot, transcript, _said):
        pilot.app.screen.add_class("plain")
        transcript.refresh_look(ASCII)
        transcript.set_items([user(1), replace(assistant(2, "- a\n\n```\nx\n```"), sibling=Sibling(1, 2))])
        text = shown(transcript)
        assert text.isascii()
        assert "| x" in text
        grounds = {
            s.style.bgcolor.name
            for y in range(24 - 1)
            for s in transcript.render_line(y)
            if s.style and s.style.bgcolor
        }
        assert len(grounds) == 1


async def test_the_theme_can_change_while_messages_are_shown() -> None:
    async with running() as (pilot, transcript, _said):
        transcript.set_items(session(5))
        before = painted(transcript)
        background = transcript.look.palette.background
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert transcript.look.palette.background != background
        assert painted(transcript) == before


def test_axis_of_the_mock_ups() -> None:
    assert (axis(120, 36, 90).bar, axis(120, 36, 90).left, axis(120, 36, 90).right) == (2, 4, 86)
    assert (axis(160, 44, 128).bar, axis(160, 44, 128).left, axis(160, 44, 128).right) == (14, 16, 112)
    tiny = axis(60, 16)
    assert (tiny.bar, tiny.left, tiny.right, tiny.outer_right, tiny.tiny) == (0, 2, 58, 60, True)
    assert [axis(w, h).compact for w, h in ((80, 24), (80, 30), (60, 24))] == [True, False, False]
    for width in range(1, 200):
        for height in (1, 24, 50):
            one = axis(width, height)
            assert 0 <= one.bar <= one.left < one.right <= one.outer_right
            assert one.text_width >= 1
