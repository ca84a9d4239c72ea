"""An item laid out piece by piece has the rows of the item laid out whole; the pile knows which row is whose."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shipchat.tui.palette import Look, Palette
from shipchat.tui.widgets.transcript_item import FoldedDetails, TranscriptItem
from shipchat.tui.widgets.transcript_layout import ItemLayout
from shipchat.tui.widgets.transcript_pile import Pile

LOOK = Look(Palette.from_variables({}))
LIGHT = Look(Palette.from_variables({"background": "#ffffff"}))
PIECES = [
    "# Head\n", "para ", "words and more words than fit in a row ", "\n", "\n\n", "- item\n", "  - inner\n", "1. one\n", "> quote\n",
    "```py\n", "x = 1\n", "```\n", "| a | b |\n|---|--:|\n", "| 1 | 2 |\n", "[l](https://a.b)", "日本語", "***\n", "[r]: /u\n", "[r]\n",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def rows(layout: ItemLayout) -> list[str]:
    layout.draw_down(0, 100_000)
    found = []
    for row in range(layout.height - 1):
        strip = layout.strip(row)
        found.append("" if strip is None else strip.text.rstrip())
        if strip is not None:
            assert strip.cell_length == 30
            assert sum(segment.cell_length for segment in strip) == 30
    return found


def styles(layout: ItemLayout) -> list[object]:
    layout.draw_down(0, 100_000)
    return [list(strip) if (strip := layout.strip(row)) else None for row in range(layout.height)]


@given(documents, st.integers(0, 1000), st.booleans(), st.sampled_from([30, 6_000]))
@settings(max_examples=120, deadline=None)
def test_streamed_and_whole_are_the_same(text: str, seed: int, folded: bool, limit: int) -> None:
    whole = TranscriptItem("m", text, position=1, model="m", fold=FoldedDetails("why", 2) if folded else None)
    rng = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shipchat.tui.markdown.blocks.TAIL_LIMIT", limit)
        layout = ItemLayout(replace(whole, text="", status="streaming"), 30, LOOK)
        at = 0
        while at < len(text):
            size = rng.choice((1, 3, 20))
            first = layout.feed(text[at : at + size])
            at += size
            assert 0 <= first <= layout.height
            if rng.random() < 0.5:
                rows(layout)
            caret = layout.caret_row()
            assert caret is not None
            assert 0 < caret < layout.height
        layout.set_item(whole)
    assert styles(layout) == styles(ItemLayout(whole, 30, LOOK))


@given(documents, st.integers(8, 60))
@settings(max_examples=60, deadline=None)
def test_width_and_colours_can_change_at_any_time(text: str, width: int) -> None:
    item = TranscriptItem("m", text, position=1)
    layout = ItemLayout(item, width, LIGHT)
    layout.draw_up(len(layout.sections), 3)
    layout.redraw(30, LOOK)
    assert styles(layout) == styles(ItemLayout(item, 30, LOOK))
    streaming = ItemLayout(replace(item, text="", status="streaming"), width, LIGHT)
    streaming.feed(text)
    streaming.redraw(30, LOOK)
    rows(streaming)
    streaming.set_item(item)
    assert styles(streaming) == styles(ItemLayout(item, 30, LOOK))


def test_the_rows_of_a_huge_item_are_let_go_and_come_back_the_same() -> None:
    item = TranscriptItem("m", "".join(f"{n}. item\n" for n in range(1, 2_001)))
    layout = ItemLayout(item, 30, LOOK)
    layout.draw_up(len(layout.sections), 10)
    assert sum(section.strips is not None for section in layout.sections) < 20
    for section in range(0, 2_000, 50):
        layout.draw_down(section, 60)
    assert sum(section.strips is not None for section in layout.sections) < 900
    assert rows(layout)[1:4] == [" 1. item", " 2. item", " 3. item"]


def test_another_final_text_replaces_what_was_streamed() -> None:
    layout = ItemLayout(TranscriptItem("m", "", status="streaming"), 30, LOOK)
    layout.feed("what came")
    assert layout.text() == "what came"
    layout.set_item(TranscriptItem("m", "what it is"))
    assert rows(layout)[1:] == ["what it is"]
    assert layout.text() == "what it is"


@given(st.lists(documents, min_size=1, max_size=8), st.data())
@settings(max_examples=60, deadline=None)
def test_the_anchor_stays_through_drawing_and_changes_of_width(texts: list[str], data: st.DataObject) -> None:
    pile = Pile(30, LOOK)
    pile.set_items(
        TranscriptItem(str(n), text, role="user" if n % 2 else "assistant") for n, text in enumerate(texts)
    )
    row = data.draw(st.integers(0, pile.total - 1))
    anchor = pile.anchor(row)
    assert anchor is not None
    pile.draw_around(anchor, 20, 20)
    drawn = pile.row_of(anchor)
    assert drawn is not None
    again = pile.anchor(drawn)
    assert again is not None
    assert pile.row_of(again) == drawn
    pile.redraw(17, LOOK)
    pile.draw_around(anchor, 20, 20)
    assert pile.row_of(anchor) is not None
    assert pile.total == sum(pile.height(index) for index in range(len(texts)))
    laid_out = [pile.layout(index).height for index in range(len(texts))]
    assert [pile.height(index) for index in range(len(texts))] == laid_out
