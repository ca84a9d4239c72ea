"""What blocks look like, row by row; every row exactly as wide as asked, whatever the text."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.strip import Strip

from shipchat.core.safe_text import safe_text
from shipchat.tui.glyphs import ASCII
from shipchat.tui.markdown.block import OpenLines
from shipchat.tui.markdown.blocks import BlockSplitter, split
from shipchat.tui.markdown.inline import LINK_META
from shipchat.tui.markdown.open_rows import OpenRows
from shipchat.tui.markdown.render import render_block
from shipchat.tui.markdown.wrap import row_starts
from shipchat.tui.palette import Look, Palette

LOOK = Look(Palette.from_variables({}))


def draw(text: str, width: int = 40, look: Look = LOOK) -> list[Strip]:
    strips: list[Strip] = []
    for block in split(safe_text(text)):
        if block.gap:
            strips.append(Strip.blank(width))
        strips += render_block(block, width, look)
    return strips


def rows(text: str, width: int = 40, look: Look = LOOK) -> list[str]:
    return [strip.text.rstrip() for strip in draw(text, width, look)]


def role_of(text: str, word: str) -> tuple[str | None, bool, bool]:
    for strip in draw(text, 60):
        for segment in strip:
            if word in segment.text:
                style = segment.style
                assert style is not None
                return (style.color.name if style.color else None, bool(style.bold), bool(style.underline))
    raise AssertionError(word)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# One\ntext\nmore\n\n## Two", ["One", "", "text more", "", "Two"]),
        ("- a\n- b\n  - c\n\n- d", ["• a", "• b", "  · c", "", "• d"]),
        ("9. a\n10. b\n\n    para", [" 9. a", "10. b", "", "    para"]),
        ("- [ ] to do\n- [x] done", ["• [ ] to do", "• [x] done"]),
        ("> quote\n>\n> - x", ["│ quote", "│", "│ • x"]),
        ("a  \nb\\\nc", ["a", "b", "c"]),
        ("***", ["───"]),
        ("x <b>y</b>\n\n<div>\n z\n</div>", ["x <b>y</b>", "", "<div>", " z", "</div>"]),
        ("![a *cat*](c.png) ~~gone~~", ["[image: a *cat*] gone"]),
        ("[docs](https://example.org/pool?a=1)", ["docs (example.org/pool)"]),
        ("see https://example.org/pool now", ["see https://example.org/pool now"]),
        ("run setup.sh and README.md", ["run setup.sh and README.md"]),
        ("[x](https://good.org@evil.org/)", ["x (https://good.org@evil.org/)"]),
        ("| a | b |\n|---|--:|\n| long | 1 |", ["a      b", "────────", "long   1"]),
        ("a[^1]\n\n[^1]: note", ["a[^1]", "", "[^1]: note"]),
    ],
)
def test_rows(source: str, expected: list[str]) -> None:
    assert rows(source) == expected


def test_code() -> None:
    assert rows("```python\nx = 1\n\ny\n```", 20) == ["  python      copy", "  x = 1", "", "  y", ""]
    assert rows("    indented\n", 20) == ["              copy", "  indented", ""]
    assert rows("```\n" + "0123456789" * 3 + "\n```", 20)[1] == "  0123456789012345›"  # noqa: RUF001


def test_ascii_and_plain() -> None:
    plain = Look(Palette.from_variables({}, plain=True), ASCII)
    assert rows("- a\n\n```\nx\n```\n\n***\n\n> q", 20, plain) == [
        "* a", "", "|             copy", "| x", "", "---", "", "| q",
    ]  # fmt: skip


def test_colours_mean_something() -> None:
    palette = LOOK.palette
    source = "# Head\n\n**bold** `code`\n\n```python\n# note\nreturn f('s')\n```\n\n[a](https://b.org)"
    assert role_of(source, "Head") == (palette.strong.lower(), True, True)
    assert role_of(source, "bold") == (palette.strong.lower(), True, False)
    assert role_of(source, "code") == (palette.string.lower(), False, False)
    assert role_of(source, "return") == (palette.keyword.lower(), False, False)
    assert role_of(source, "note") == (palette.comment.lower(), False, False)
    assert role_of(source, "b.org") == (palette.muted.lower(), False, False)


def test_a_wide_table_wraps_its_widest_cells() -> None:
    drawn = rows("| name | what |\n|--|--|\n| x | " + "word " * 12 + "|", 30)
    assert drawn[0] == "name   what"
    assert drawn[1] == "─" * 30
    assert len(drawn) == 5
    many = draw("|" + "column|" * 9 + "\n|" + "-|" * 9 + "\n|" + "cell|" * 9, 30)
    assert all(strip.text.endswith("›") for strip in (many[0], many[2]))  # noqa: RUF001


def test_only_links_that_can_be_opened_carry_their_address() -> None:
    found = []
    for strip in draw(
        "[a](https://a.org) [b](ssh://b) [c](mailto:c@d.org) [d](javascript:x) <https://e.org>", 200
    ):
        found += [s.style.meta[LINK_META] for s in strip if s.style and LINK_META in s.style.meta]
    assert found == ["https://a.org", "mailto:c@d.org", "https://e.org"]


HOSTILE = [
    "\x1b]52;c;aGk=\x07", "\x9b2J", "\x9d0;t\x9c", "[/foo]", "[@click=app.exit()]x[/]", "\u202eabc\u2066", "\x1b[2J",
    "&#27;[2J", "&#x202e;", "&#10;", "%1b", "\x00", "\ud800", "\x1bPq\x1b\\", "\ufeff",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(
    "frame",
    ["{}", "# {}", "- {}", "```{}\n{}\n```", "`{}`", "[{}](https://x.org/{})", "![{}](x)", "| {} |\n|--|\n| {} |",
     "<div>{}</div>", "<https://x.org/{}>", "    {}", "> {}", "[a]: https://x.org/{}\n\n[a]"],
)  # fmt: skip
def test_hostile_text_is_shown_and_never_obeyed(frame: str, hostile: str) -> None:
    for strip in draw(frame.replace("{}", hostile), 60):
        assert strip.cell_length == 60
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or segment.style.link is None
            assert "@click" not in (segment.style.meta if segment.style else {})
            assert not [
                c
                for c in segment.text
                if unicodedata.category(c) in ("Cc", "Cs") or c in "\u202e\u2066\ufeff"
            ]
    if hostile.startswith("["):
        assert any(hostile[:5] in strip.text for strip in draw(hostile, 60))


wide_text = st.text(st.sampled_from("ab .-\n*_`#|>[]()1日本👍é\u0301\u200d\ufe0fไทยक्षि🇳🇴👩"), max_size=80)


@given(wide_text, st.integers(1, 30))
@settings(max_examples=150, deadline=None)
def test_every_row_is_exactly_as_wide_as_asked(text: str, width: int) -> None:
    for strip in draw(text, width):
        assert strip.cell_length == width
        assert sum(segment.cell_length for segment in strip) == width


@given(wide_text.map(lambda text: text.replace("\n", " ")), st.integers(2, 20), st.integers(0, 80))
@settings(max_examples=200, deadline=None)
def test_wrapping_loses_only_spaces_and_text_added_changes_only_the_last_row(
    text: str, width: int, cut: int
) -> None:
    breaks = row_starts(text, width)
    assert "".join(text[start:end] for start, end in breaks).replace(" ", "") == text.replace(" ", "")
    before = row_starts(text[:cut], width)
    if len(text[:cut]) < len(text) and not cell_len(text[cut]):
        return  # a mark joins the letter before it
    if "\u200d" not in text and "\ufe0f" not in text and "🇳" not in text and "🇴" not in text:
        assert [start for start, _ in before[:-1]] == [start for start, _ in breaks[: len(before) - 1]]


@given(
    st.lists(st.text(st.sampled_from("ab \n"), min_size=1, max_size=30), max_size=12),
    st.sampled_from(["```py\n", ""]),
)
@settings(max_examples=80, deadline=None)
def test_open_lines_grow_into_what_a_fresh_drawing_shows(pieces: list[str], opening: str) -> None:
    splitter = BlockSplitter()
    splitter.feed(opening or "| a |\n|--|\n")
    drawn: OpenRows | None = None
    for piece in pieces:
        splitter.feed(piece if opening else piece.replace("\n", "|\n|"))
        for part in splitter.tail():
            if isinstance(part, OpenLines):
                if drawn is None or not drawn.shows(part, 9, LOOK):
                    drawn = OpenRows(part, 9, LOOK)
                shown = [strip.text for strip in drawn.update(part)]
                assert shown == [strip.text for strip in OpenRows(part, 9, LOOK).update(part)]


def test_an_open_fence_is_as_high_as_the_closed_one() -> None:
    splitter = BlockSplitter()
    splitter.feed("```python\nx\n\n  y\n\n")
    (run,) = splitter.tail()
    assert isinstance(run, OpenLines)
    high = len(OpenRows(run, 30, LOOK).update(run))
    (block,) = splitter.feed("```\n")
    assert high == len(render_block(block, 30, LOOK))


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "日" * 50_000, "[" * 5_000, "*a" * 5_000, ">" * 3_000, "`" * 5_000 + "a"]
)
def test_huge_lines_take_no_time(text: str) -> None:
    begin = time.process_time()
    assert len(draw(text, 80)) >= 1
    assert time.process_time() - begin < 3
