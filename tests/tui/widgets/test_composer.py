"""The composer, driven by keys: what is sent, what is asked, and that nothing typed is ever lost."""

import time
from collections.abc import Sequence

import pytest
from textual import events
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Selection

from shipchat.tui.axis import axis
from shipchat.tui.messages import (
    AttachmentDropRequested,
    CtrlC,
    DraftChanged,
    DraftCleared,
    ExternalEditorRequested,
    HeldChoice,
    HeldChosen,
    InterruptRequested,
    OwnMessage,
    QueueEditRequested,
    SaveRetryRequested,
    Submitted,
    TextCopied,
)
from shipchat.tui.widgets.completion import Candidate, CompletionQuery
from shipchat.tui.widgets.composer import Attachment, Composer, ComposerState, Elsewhere
from tests.tui.stage import Stage, press, screen_lines

COMMANDS = ("/help", "/new", "/resume", "/rename", "/retry", "/fork")
HELD = ComposerState(elsewhere=Elsewhere(4312, "", "14:55"))


def complete(query: CompletionQuery) -> Sequence[Candidate]:
    names = COMMANDS if query.sign == "/" else ("@nightly.py", "@src/")
    return [Candidate(name, f"about {name[1:]}") for name in names if name[1:].startswith(query.text)]


def stage(state: ComposerState | None = None) -> tuple[Stage, Composer]:
    composer = Composer(source=complete)
    if state is not None:
        composer.state = state
    # As in the real column: the transcript takes what the composer leaves.
    return Stage(lambda: [Vertical(Static(id="rest"), composer)], css="#rest { height: 1fr; }"), composer


async def begin(pilot: Pilot[None], composer: Composer) -> None:
    size = pilot.app.size
    composer.place = axis(size.width, size.height)
    composer.focus_input()
    await pilot.pause()


def asked(app: Stage) -> list[OwnMessage]:
    return [message for message in app.heard if not isinstance(message, DraftChanged)]


async def test_enter_sends_and_empties() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"hi", "ctrl+j", *"you", "enter")
        assert asked(app) == [Submitted("hi\nyou")]
        assert composer.text == ""
        assert len([message for message in app.heard if isinstance(message, DraftChanged)]) >= 6


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0", "\u200b"])
async def test_nothing_is_not_sent_and_stays(blank: str) -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.load(blank)
        await press(pilot, "enter")
        assert (asked(app), composer.text) == ([], blank)


async def test_up_and_down_walk_through_the_history() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.set_history(["one", "two\nlines"])
        await press(pilot, *"draft", "up")
        assert composer.text == "two\nlines"
        await press(pilot, "up")  # within the text first
        assert composer.text == "two\nlines"
        await press(pilot, "up")
        assert composer.text == "one"
        await press(pilot, "up")
        assert composer.text == "one"
        await press(pilot, "down", "down")
        assert composer.text == "draft"
        await press(pilot, "down", "!", "enter", "up")
        assert asked(app) == [Submitted("draft!")]
        assert composer.text == "draft!"


async def test_a_recalled_command_does_not_catch_the_arrows() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.set_history(["one", "/re"])
        await press(pilot, "up", "up")
        assert composer.text == "one"


async def test_escape_interrupts_and_keeps_the_draft() -> None:
    app, composer = stage(ComposerState(streaming=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"kept", "escape")
        assert (asked(app), composer.text) == ([InterruptRequested()], "kept")


async def test_control_c_copies_then_clears_then_leaves_it_to_the_screen() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"word", "shift+home", "ctrl+c")
        assert (asked(app), app.clipboard, composer.text) == ([TextCopied(4)], "word", "word")
        await press(pilot, "right", "ctrl+c")
        assert (asked(app)[1:], composer.text) == ([DraftCleared()], "")
        await press(pilot, "ctrl+c")
        assert asked(app)[2:] == [CtrlC()]
        await press(pilot, "up")
        assert composer.text == "word"


async def test_an_external_editor_is_asked_for() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, "ctrl+g")
        assert asked(app) == [ExternalEditorRequested()]


async def test_up_edits_the_last_queued_prompt_when_nothing_is_typed() -> None:
    app, composer = stage(ComposerState(streaming=True))
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.set_history(["older"])
        composer.queue = ("first", "second")
        await pilot.pause()
        assert screen_lines(app)[-5:-3] == ["  ▌ queued 1  first", "  ▌ queued 2  second   ↑ edit"]
        await press(pilot, "up")
        assert asked(app) == [QueueEditRequested(1)]
        await press(pilot, "x", "up")
        assert composer.text == "older"
        await pilot.click("#queue", offset=(6, 0))
        assert asked(app)[1:] == [QueueEditRequested(0)]


async def test_a_turn_elsewhere_asks_and_keeps_the_text() -> None:
    app, composer = stage(HELD)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"mine")
        assert "  ▌ Replying in another window (pid 4312, since 14:55)." in screen_lines(app)
        await press(pilot, "enter")
        assert "  ▌ w wait for it   f fork here   n new session" in screen_lines(app)
        await press(pilot, "f")
        assert (asked(app), composer.text, composer.asking) == (
            [HeldChosen(HeldChoice.FORK, "mine")],
            "mine",
            False,
        )
        await press(pilot, "enter", "escape")
        assert (asked(app)[1:], composer.asking) == ([], False)
        await press(pilot, "enter", "x")  # any other key goes on typing
        assert (composer.text, composer.asking) == ("minex", False)
        await press(pilot, "enter")
        composer.state = ComposerState()  # the other turn ended meanwhile
        await press(pilot, "enter")
        assert asked(app)[1:] == [Submitted("minex")]


@pytest.mark.parametrize(
    ("key", "choice"), [("w", HeldChoice.WAIT), ("f", HeldChoice.FORK), ("n", HeldChoice.NEW)]
)
async def test_the_three_answers(key: str, choice: HeldChoice) -> None:
    app, composer = stage(HELD)
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, "a", "enter", key)
        assert asked(app) == [HeldChosen(choice, "a")]


async def test_what_can_not_be_saved_is_not_sent() -> None:
    app, composer = stage(ComposerState(not_saved="the disk is full"))
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"mine", "enter")
        assert (asked(app), composer.text) == ([SaveRetryRequested()], "mine")
        assert "  ▌ NOT SAVED: the disk is full. Your text stays here; sending waits." in screen_lines(app)
        composer.load("/help me")
        await press(pilot, "enter")
        assert asked(app)[1:] == [Submitted("/help me")]  # commands still work


async def test_completing_a_command() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        bottom = screen_lines(app)[-3:]
        await press(pilot, "/", "r", "e")
        assert screen_lines(app)[-6:-3] == [
            "  ▌ /resume       about resume",
            "    /rename       about rename",
            "    /retry        about retry",
        ]
        assert len(screen_lines(app)[-3:]) == len(bottom)  # the composer is where it was
        await press(pilot, "down", "tab")
        assert composer.text == "/rename "
        await press(pilot, *"x", "enter")
        assert asked(app) == [Submitted("/rename x")]


async def test_enter_takes_the_candidate_or_sends_what_is_typed_in_full() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"/hel", "enter")
        assert (composer.text, asked(app)) == ("/help ", [])
        composer.clear()
        await press(pilot, *"/help", "enter")
        assert asked(app) == [Submitted("/help")]


async def test_escape_closes_the_list_before_it_interrupts() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, "/", "escape")
        assert (asked(app), composer.text) == ([], "/")
        await press(pilot, "escape")
        assert asked(app) == [InterruptRequested()]
        await press(pilot, "h")  # typing on opens it again
        assert any("/help" in line and "about" in line for line in screen_lines(app))


async def test_completing_a_file_in_the_middle_of_a_line() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.load("see  please")
        await press(pilot, "home", *("right",) * 4, "@", "n", "tab")
        assert composer.text == "see @nightly.py  please"
        await press(pilot, "@", "s", "enter")
        assert composer.text == "see @nightly.py @src/ please"
        await pilot.click("#composer-input", offset=(0, 0))
        assert asked(app) == []


async def test_a_candidate_can_be_clicked() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, "/", "r", "e")
        await pilot.click("#completion", offset=(5, 2))
        await pilot.pause()
        assert composer.text == "/retry "


async def test_a_paste_is_one_insert_whatever_is_in_it() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"ab", "left")
        app.post_message(events.Paste("1\r\n2\r3\n\x1b[201~ rm -rf\t\u202eא"))
        await pilot.pause()
        assert composer.text == "a1\n2\n3\n␛[201~ rm -rf\t\u202eאb"
        assert asked(app) == []
        assert not set("".join(screen_lines(app))) & set("\x1b\u202e\t")
        await press(pilot, "ctrl+z")
        assert composer.text == "ab"


@pytest.mark.parametrize(
    "text",
    ["word " * 200_000, "line of text, forty cells or so, no more\n" * 25_000, "日本語" * 100_000],
    ids=["line", "lines", "wide"],
)
async def test_a_paste_of_a_megabyte_does_not_freeze(text: str) -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        begun = time.process_time()
        app.post_message(events.Paste(text))
        await pilot.pause()
        assert composer.text == text
        assert time.process_time() - begun < 2
        await press(pilot, "enter")
        assert asked(app) == [Submitted(text)]


@pytest.mark.parametrize("letters", ["word ", "日本語", "x"])
async def test_a_very_long_line_is_drawn_as_textual_draws_it(letters: str) -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        composer.load(letters * 3_000)
        editor = composer.input
        end = len(editor.text)
        for selection in (
            ((0, 0), (0, 0)),
            ((0, end), (0, end)),
            ((0, 10), (0, 400)),
            ((0, end), (0, end - 333)),
        ):
            editor.selection = Selection(*selection)
            await pilot.pause()
            for y in range(editor.size.height + 1):
                ours, theirs = editor._render_line(y), TextArea._render_line(editor, y)
                assert (ours.text, ours.cell_length) == (theirs.text, theirs.cell_length)
                assert list(ours.simplify()) == list(theirs.simplify())


async def test_it_grows_to_ten_lines_and_two_fifths_of_the_height() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        heights = []
        for lines in (1, 4, 9, 30):
            composer.load("\n".join("x" * lines))
            await pilot.pause()
            heights.append(composer.input.size.height)
            assert composer.region.bottom == 24
        assert heights == [1, 4, 9, 9]
        await pilot.resize_terminal(80, 50)
        composer.place = axis(80, 50)  # as the screen does at every resize
        await pilot.pause()
        assert composer.input.size.height == 10


async def test_hints_leave_when_one_types() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        assert (
            screen_lines(app)[-2]
            == "  ▌ Write a message…              Enter sends · Ctrl+J new line · / commands"
        )
        await press(pilot, "a")
        assert screen_lines(app)[-2] == "  ▌ a"
        composer.state = ComposerState(streaming=True, tokens=1_240)
        await pilot.pause()
        assert [line.split("  ")[-1].strip() for line in screen_lines(app)[-2:]] == [
            "Enter queues",
            "1,240 tokens",
        ]
        composer.load("a line as long as the composer is wide, " + "x" * 30)
        await pilot.pause()
        assert screen_lines(app)[-2] == "  ▌ a line as long as the composer is wide, " + "x" * 30


async def test_the_bar_tells_the_state() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        variables = app.theme_variables

        def bar() -> str:
            return composer.query_one("#composer-block").styles.border_left[1].hex

        assert bar() == variables["accent"]
        composer.state = HELD
        await pilot.pause()
        assert bar() == variables["warning"]
        composer.state = ComposerState(not_saved="x", elsewhere=HELD.elsewhere)
        await pilot.pause()
        assert bar() == variables["error"]
        composer.state = ComposerState()
        app.screen.set_focus(None)
        await pilot.pause()
        assert bar() == variables["mark"]


async def test_attachments_are_dropped_by_their_sign() -> None:
    app, composer = stage(
        ComposerState(attachments=(Attachment("a.py", "4 kB"), Attachment("[/b]\x1b.txt", "12 kB")))
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        assert "  ▌ a.py 4 kB ×   [/b]␛.txt 12 kB ×" in screen_lines(app)  # noqa: RUF001
        await pilot.click("#composer-attachments", offset=(31, 0))
        assert asked(app) == [AttachmentDropRequested(1)]


async def test_a_prompt_that_was_refused_comes_back_before_what_is_typed() -> None:
    app, composer = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        await press(pilot, *"one", "enter", *"two")
        composer.restore("one")
        assert composer.text == "one\ntwo"
        composer.clear()
        composer.restore("one")
        assert composer.text == "one"


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (20, 5), (60, 16), (200, 60)])
async def test_it_survives_any_size(size: tuple[int, int]) -> None:
    app, composer = stage(HELD)
    async with app.run_test(size=size) as pilot:
        await begin(pilot, composer)
        composer.queue = ("a", "b")
        await press(pilot, "/", "r", "tab", "日", "本", "enter", "ctrl+c")
        assert asked(app) == [Submitted("/resume 日本"), CtrlC()]


@pytest.mark.parametrize("classes", ["plain", "ascii", "plain ascii"])
async def test_without_tone_lines_stand_for_it(classes: str) -> None:
    app, composer = stage()
    app.add_class(*classes.split())
    async with app.run_test(size=(80, 24)) as pilot:
        await begin(pilot, composer)
        top = screen_lines(app)[-3:][0].strip()
        assert set(top) == {"plain": {"─"}, "ascii": {"|"}, "plain ascii": {"-"}}[classes]
