"""Each state of the composer has its words, and none is wider than there is room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.glyphs import ASCII
from shipchat.tui.widgets.composer_state import (
    Attachment,
    Bar,
    ComposerState,
    Elsewhere,
    attachment_pieces,
    attachments_content,
    hint_content,
    notice_content,
    placeholder_text,
    tokens_content,
)
from shipchat.tui.widgets.queue_rows import queue_lines

HELD = ComposerState(elsewhere=Elsewhere(4312, "", "14:55"))


def notice(state: ComposerState, width: int = 80, *, asking: bool = False) -> str | None:
    content = notice_content(state, width, asking=asking)
    return None if content is None else content.plain


def test_notices() -> None:
    assert notice(ComposerState()) is None
    assert notice(HELD) == "Replying in another window (pid 4312, since 14:55)."
    assert notice(HELD, 50) == "Replying in another window (pid 4312)."
    remote = ComposerState(elsewhere=Elsewhere(1, "box\x1b", "14:55"))
    assert notice(remote) == "Replying in another window (pid 1, on box␛, since 14:55)."
    assert notice(HELD, asking=True) == "w wait for it   f fork here   n new session"
    assert notice(HELD, 30, asking=True) == "w wait for it   f fork here"
    full = "NOT SAVED: the disk is full. Your text stays here; sending waits."
    assert notice(ComposerState(not_saved="the disk is full")) == full
    assert notice(ComposerState(not_saved="the disk is full."), 30) == "NOT SAVED: the disk is full."
    assert notice(ComposerState(not_saved="x", elsewhere=HELD.elsewhere)) == (
        "NOT SAVED: x. Your text stays here; sending waits."
    )


def test_bars() -> None:
    states = (ComposerState(), HELD, ComposerState(not_saved="x", elsewhere=HELD.elsewhere))
    assert [state.bar for state in states] == [Bar.ACTIVE, Bar.WARNING, Bar.ERROR]


def test_placeholders() -> None:
    assert placeholder_text(ComposerState()) == "Write a message…"
    assert placeholder_text(ComposerState(private=True), ASCII) == "Write a message~ nothing here is stored"
    assert placeholder_text(ComposerState(no_model=True)) == "Choose a model above to begin"


@pytest.mark.parametrize(
    ("state", "empty", "wide", "hint"),
    [
        (ComposerState(), True, True, "Enter sends · Ctrl+J new line · / commands"),
        (ComposerState(), True, False, "/ commands"),
        (ComposerState(), False, True, ""),
        (ComposerState(streaming=True), True, True, "Enter queues"),
        (ComposerState(streaming=True), False, False, "Enter queues"),
        (ComposerState(no_model=True), True, True, ""),
        (ComposerState(not_saved="x"), True, True, ""),
    ],
)
def test_hints(state: ComposerState, empty: bool, wide: bool, hint: str) -> None:
    assert hint_content(state, empty=empty, wide=wide).plain == hint


def test_the_size_of_a_draft_is_told_once_it_matters() -> None:
    assert tokens_content(ComposerState(tokens=499)).plain == ""
    assert tokens_content(ComposerState(tokens=1_240)).plain == "1,240 tokens"


FILES = (Attachment("nightly.py", "4 kB"), Attachment("log\n.txt", "12 kB"))


def test_attachments() -> None:
    assert attachments_content(FILES, 60).plain == "nightly.py 4 kB ×   log .txt 12 kB ×"  # noqa: RUF001
    assert attachments_content(FILES, 30).plain == "nightly.py 4 kB ×   +1 more"  # noqa: RUF001
    assert [(start, cross) for start, cross, _ in attachment_pieces(FILES, 60)] == [(0, 16), (20, 35)]


def test_queued_prompts() -> None:
    assert [line.plain for line in queue_lines(["Then add a test\nfor it"], 60)] == [
        "queued 1  Then add a test for it   ↑ edit"
    ]
    assert [line.plain for line in queue_lines(["a", "b", "c", "d", "e"], 60)] == [
        "queued 3  c   +2 more",
        "queued 4  d",
        "queued 5  e   ↑ edit",
    ]
    assert [line.plain for line in queue_lines(["a long prompt that is cut"], 20)] == ["queued 1  a long pr…"]


@given(
    st.builds(ComposerState, elsewhere=st.none() | st.builds(Elsewhere, st.integers(1, 10**6), st.text(), st.text()),
              not_saved=st.none() | st.text()),
    st.lists(st.builds(Attachment, st.text(), st.text(max_size=8)), max_size=5),
    st.lists(st.text(), max_size=6),
    st.integers(0, 100),
    st.booleans(),
)  # fmt: skip
def test_no_line_is_wider_than_the_composer(
    state: ComposerState, files: list[Attachment], queue: list[str], width: int, asking: bool
) -> None:
    content = notice_content(state, width, asking=asking)
    lines = [attachments_content(files, width), *queue_lines(queue, width), *([content] if content else [])]
    assert all(line.cell_length <= width and "\n" not in line.plain for line in lines)
