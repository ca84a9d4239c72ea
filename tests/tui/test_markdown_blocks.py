"""The splitter gives out the same blocks however the text was cut, and never takes one back."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shipchat.tui.markdown.block import Block, OpenLines
from shipchat.tui.markdown.blocks import TAIL_LIMIT, BlockSplitter, split

FENCE = "```python\ndef f():\n    return 1\n\n```\n"
PIECES = [
    "# Head\n", "Title\n", "===\n", "---\n", "-", "para\n", "more **bold** text\n", "\n", "\n\n", "- item\n", "- [x] done\n",
    "  nested text\n", "  - inner\n", "    - deep\n", "1. one\n", "7) seven\n", "2. two\n", "* star\n", "+ plus\n", FENCE,
    "~~~\ntilde\n", "~~~\n", "```\n", "````\n", "  ```js\n", "    code\n", "> quote\n", ">> deeper\n", "> - list\n",
    "| a | b |\n|---|--:|\n", "| 1 | 2 |\n", "a | b\n", "--|--\n", "- a | b\n", "[ref]: https://example.org\n", "[ref]\n",
    "[ref]:\n", "  'title'\n", "<div>\n", "</div>\n", "<!-- note\n", "-->\n", "***\n", "  hard break  \n", "\\\n", "日本語", "x",
    " ", "   - three\n", "-    wide\n", "\t", "https://example.org/x",
]  # fmt: skip
documents = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def cut(text: str, seed: int) -> list[str]:
    rng = random.Random(seed)
    pieces = []
    while text:
        size = rng.choice((1, 1, 2, 5, 30))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def stream(pieces: list[str]) -> list[Block]:
    splitter = BlockSplitter()
    blocks: list[Block] = []
    for piece in pieces:
        blocks += splitter.feed(piece)
        splitter.tail()
    return blocks + splitter.finish()


@given(documents, st.integers(0, 1000))
@settings(max_examples=150, deadline=None)
@example("- a\n   - three\n-    wide\n   - three\n", 0)
@example("- item\n- a | b\n--|--\n", 1)
@example("para\n-", 2)
@example("[ref]: https://example.org\n[ref]\n", 2)
def test_blocks_do_not_depend_on_how_the_text_was_cut(text: str, seed: int) -> None:
    assert stream(cut(text, seed)) == split(text)


@given(documents, st.integers(0, 1000), st.sampled_from([1, 20, 60]))
@settings(max_examples=150, deadline=None)
def test_nor_on_where_a_tail_becomes_too_long_to_be_parsed(text: str, seed: int, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shipchat.tui.markdown.blocks.TAIL_LIMIT", limit)
        assert stream(cut(text, seed)) == split(text)


@given(documents)
@settings(max_examples=100, deadline=None)
def test_no_line_is_lost(text: str) -> None:
    shown = "".join(block.source for block in split(text))
    missing = [line for line in text.split("\n") if line.strip() and line.strip() not in shown]
    # Only definitions of link references stand in no block.
    assert [
        line
        for line in missing
        if not line.lstrip("> -").startswith(("[ref]:", "'title'", "https:", "[ref]"))
    ] == [] or ("[ref]:" in text)


def test_items_come_out_one_by_one_and_keep_their_numbers() -> None:
    splitter = BlockSplitter()
    blocks = splitter.feed("3. three\n4. four\n\n5. five\n")
    assert [(b.item.number, b.gap, b.item.first) for b in blocks if b.item] == [
        (3, False, True),
        (4, False, False),
    ]
    blocks = splitter.feed("6. six\n") + splitter.finish()
    assert [(b.item.number, b.gap, b.item.first) for b in blocks if b.item] == [
        (5, True, False),
        (6, False, False),
    ]


def test_a_closed_fence_and_a_heading_are_final_at_once() -> None:
    splitter = BlockSplitter()
    assert splitter.feed("```py\nx = 1\n") == []
    assert splitter.tail() == [OpenLines(0, "py", ["x = 1"], "", gap=False)]
    assert [block.kind for block in splitter.feed("```\n")] == ["fence"]
    assert [block.kind for block in splitter.feed("# head\n")] == ["heading"]
    assert splitter.tail() == []


def test_an_open_table_is_plain_lines_until_a_blank_line() -> None:
    splitter = BlockSplitter()
    splitter.feed("| a |\n|---|\n| 1 |\n| 2")
    assert splitter.tail() == [OpenLines(0, None, ["| a |", "|---|", "| 1 |"], "| 2", gap=False)]
    assert [block.kind for block in splitter.feed(" |\n\n")] == ["table"]


def test_references_count_for_the_blocks_after_them() -> None:
    before, after = split("[ref] early\n\n[ref]: https://example.org\n\n[ref] late\n")
    assert dict(before.references) == {}
    assert [dict(value)["href"] for value in after.references.values()] == ["https://example.org"]


@pytest.mark.parametrize(
    "line", ["word " * 12 + "\n", "word ", "> quote quote quote\n", "  - nested item of a list\n"]
)
def test_a_huge_tail_is_parsed_only_as_it_grows(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = 0
    original = BlockSplitter._parse

    def counting(self: BlockSplitter, lines: list[str]) -> object:
        nonlocal parsed
        parsed += sum(map(len, lines))
        return original(self, lines)

    monkeypatch.setattr(BlockSplitter, "_parse", counting)
    splitter = BlockSplitter()
    splitter.feed("- begin\n" if line.startswith("  ") else "begin\n" if not line.startswith(">") else "")
    text = line * (100_000 // len(line))
    for start in range(0, len(text), 400):
        splitter.feed(text[start : start + 400])
        splitter.tail()
    # Below the limit each flush parses the tail anew; beyond it every character about 16 times.
    assert parsed < TAIL_LIMIT * (TAIL_LIMIT // 400 + 1) * 2 + 20 * len(text)
    shown = splitter.tail()
    assert isinstance(shown[-1], OpenLines)
    assert len(splitter.finish()) >= 1
