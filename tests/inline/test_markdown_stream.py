from hypothesis import given
from hypothesis import strategies as st

from shipchat.inline.markdown_stream import MarkdownStream
from shipchat.inline.rows import row_cells, wrapped

TEXT = """# Title
Some **bold** and `code` with a [link](https://x.org/a_b), snake_case and 2 * 3.
Next line

- one
  - nested *em*
- [x] a thing that is done and so long that it has to be wrapped
10. tenth

    in the item

```python
def f():
    return "**x**"  # c

```
after
> quoted
> more

| a | b |
|---|--:|
| x **y** | 12 |
| longer | 3 |
---
an **open mark"""

ROWS = """\
  Title
  Some bold and code with a link
  (https://x.org/a_b), snake_case and 2 * 3.
  Next line

  • one
    · nested em
  [x] a thing that is done and so long that
      it has to be wrapped
  10. tenth

      in the item

    python
    def f():
        return "**x**"  # c


  after
  │ quoted
  │ more

  a         b
  ───────────
  x y      12
  longer    3

  ────────────────────────

  an **open mark"""

PIECES = st.sampled_from(
    ["*", "**", "_", "`", "```", "\n", "\n\n", " ", "- ", "1. ", "> ", "# ", "|", "|-|\n", "[", "](x)", "a", "word ",
     "日本", "\\", "<", "!", "~~", "---", "    ", "👩‍👩‍👧", "e\u0301"]
)  # fmt: skip


def told(chunks: list[str], width: int = 44) -> list[str]:
    stream = MarkdownStream(lambda: width, margin="  ")
    rows = [row for chunk in chunks for row in stream.feed(chunk)]
    rows += stream.end()
    assert stream.tail() == []
    return ["".join(text for _, text in row).rstrip() for row in rows]


def test_markdown_becomes_rows() -> None:
    assert "\n".join(told([TEXT])) == ROWS


def test_streamed_by_the_letter_it_is_the_same() -> None:
    assert told(list(TEXT)) == told([TEXT])


@given(st.lists(PIECES, max_size=40), st.integers(min_value=0, max_value=30))
def test_where_it_is_cut_changes_nothing(pieces: list[str], at: int) -> None:
    whole = "".join(pieces)
    assert told([whole[:at], whole[at:]]) == told([whole]) == told(list(whole))


@given(st.text(alphabet="ab 日é👍-", max_size=200), st.integers(min_value=8, max_value=40))
def test_wrapping_keeps_every_word_and_the_width(text: str, width: int) -> None:
    rows = wrapped([("", text)], width, [("", "> ")], [("", "  ")])
    assert all(row_cells(row) <= width for row in rows)
    joined = "".join("".join(part for _, part in row[1:]) for row in rows)
    assert joined.replace(" ", "") == text.replace(" ", "")


def test_styles() -> None:
    stream = MarkdownStream(lambda: 60)
    rows = [*stream.feed("a **b** `c` *d* ***e*** ~~f~~\n# g\n"), *stream.end()]
    styles = {text: style.strip() for row in rows for style, text in row if text.strip()}
    assert styles == {
        "a": "",
        "b": "class:strong",
        "c": "class:code",
        "d": "class:emphasis",
        "e": "class:strong class:emphasis",
        "f": "class:struck",
        "g": "class:title",
    }


def test_a_long_line_costs_what_its_text_costs() -> None:
    stream = MarkdownStream(lambda: 80)
    rows = sum(len(stream.feed("word **b ")) for _ in range(3_000))
    assert rows > 250
    assert len(stream.end()) >= 1
