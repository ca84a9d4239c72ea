"""Drawing one Markdown block as rows of a given width; splitting text into blocks is left to `blocks`.

A pure function of block, width and look. Every row is exactly as wide as asked, so that nothing below it shifts
and nothing beside it shows through.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from shipchat.core.safe_text import safe_text
from shipchat.tui.markdown.block import Block
from shipchat.tui.markdown.code import CodeStrips, language_of
from shipchat.tui.markdown.colours import Colouring, colouring_of
from shipchat.tui.markdown.inline import inline_spans
from shipchat.tui.markdown.parser import all_tokens
from shipchat.tui.markdown.table import Align, Cell, table_rows
from shipchat.tui.markdown.wrap import Row, Span, padded, wrap
from shipchat.tui.palette import Look

_NUMBER_CELLS: Final = 2  # numbers stand right-aligned in so many cells, so that 9. and 10. line up
_ALIGNMENTS: Final[dict[str, Align]] = {"text-align:right": "right", "text-align:center": "center"}


def render_block(
    block: Block, width: int, look: Look, *, coloured: bool = True, shift: int = 0
) -> Sequence[Strip]:
    """Return the rows of `block`, each exactly `width` cells; the blank row before a block is not part of it.

    `coloured=False` leaves code uncoloured (same height), for blocks that are still being written; `shift` moves
    code to the left by so many cells.
    """
    width = max(1, width)
    canvas = _Canvas(look, coloured=coloured, shift=shift, lines=block.source.split("\n"))
    source = block.source
    if (item := block.item) is not None and not item.first:
        source = item.preface + source
        canvas.lines.insert(0, "")
    tree = list(_tree(all_tokens(source, block.references)))
    if block.kind in ("fence", "code") and len(tree) == 1:
        return canvas.code(tree[0].token, width)
    if block.item is not None and tree:
        items = tree[0].children
        at = 0 if block.item.first or len(items) < 2 else 1
        rows = canvas.item(items[at], width, block.item.number, depth=0)
        for extra in items[at + 1 :]:  # never seen: a slice is one item
            rows += canvas.item(extra, width, block.item.number, depth=0)
    else:
        rows = canvas.nodes(tree, width)
    ground = look.palette.style()
    if not rows:  # quotes in quotes around nothing, say: never show less than was written
        rows = wrap([Span(safe_text(block.source).strip("\n"), ground)], width)
    return [Strip(padded(row, width, ground), width) for row in rows]


def colouring_of_block(block: Block) -> Colouring | None:
    """Return what finds the colours of a fence that is drawn without them for now; None if there is nothing to find."""
    if block.kind != "fence":
        return None
    token = next((token for token in all_tokens(block.source, {}) if token.type == "fence"), None)
    return None if token is None else colouring_of(safe_text(token.content), language_of(token.info))


def codes_of(block: Block) -> list[str]:
    """Return the code of each fence and indented block in `block`, in the order they are drawn."""
    return [token.content for token in all_tokens(block.source, {}) if token.type in ("fence", "code_block")]


@dataclass(slots=True)
class _Node:
    """A token with what stands between it and its closing one."""

    token: Token
    children: list["_Node"]


def _tree(tokens: Sequence[Token]) -> Iterator[_Node]:
    stack: list[_Node] = []
    for token in tokens:
        if token.nesting == -1:
            node = stack.pop()
        else:
            node = _Node(token, [])
            if token.nesting == 1:
                stack.append(node)
                continue
        if stack:
            stack[-1].children.append(node)
        else:
            yield node


@dataclass(slots=True)
class _Canvas:
    look: Look
    coloured: bool
    shift: int
    lines: list[str]

    def nodes(
        self, nodes: Sequence[_Node], width: int, *, depth: int = 0, in_item: bool = False
    ) -> list[Row]:
        """Return the rows of blocks one below the other.

        Inside an item of a list a blank row stands between two of them only where the source has one, else always.
        """
        rows: list[Row] = []
        for index, node in enumerate(nodes):
            if index and (not in_item or self._is_blank_before(node)):
                rows.append([])
            rows += self.node(node, width, depth)
        return rows

    def node(self, node: _Node, width: int, depth: int) -> list[Row]:
        """Return the rows of one block."""
        token, look, palette = node.token, self.look, self.look.palette
        match token.type:
            case "paragraph_open":
                return self._text(node, width, palette.style())
            case "heading_open":
                style = palette.style("strong", bold=True)
                return self._text(node, width, style + Style(underline=True) if token.tag == "h1" else style)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(node, width, depth)
            case "blockquote_open":
                edge = Segment(f"{look.glyphs.line} ", palette.style("mark"))
                return [[edge, *row] for row in self.nodes(node.children, max(1, width - 2), depth=depth)]
            case "fence" | "code_block":
                return [list(strip) for strip in self.code(token, width)]
            case "table_open":
                return self._table(node, width)
            case "hr":
                return [[Segment(look.glyphs.rule * 3, palette.style("mark"))]]
            case "html_block":
                return wrap([Span(safe_text(token.content).rstrip("\n"), palette.style())], width)
            case _:
                return wrap([Span(safe_text(token.content), palette.style())], width)

    def code(self, token: Token, width: int) -> CodeStrips:
        """Return the rows of a block of code."""
        return CodeStrips(
            safe_text(token.content), token.info, width, self.look, coloured=self.coloured, shift=self.shift
        )

    def item(self, node: _Node, width: int, number: int | None, depth: int) -> list[Row]:
        """Return the rows of an item of a list: its marker, and its blocks beside it."""
        muted = self.look.palette.style("muted")
        if number is not None:
            marker = f"{number:>{_NUMBER_CELLS}}. "
        else:
            marker = f"{self.look.glyphs.bullet if depth == 0 else self.look.glyphs.middle_dot} "
        indent = Segment(" " * len(marker), muted)
        room = max(1, width - len(marker))
        rows = self.nodes(node.children, room, depth=depth + 1, in_item=True) or [[]]
        return [[Segment(marker, muted), *rows[0]], *([indent, *row] if row else [] for row in rows[1:])]

    def _list(self, node: _Node, width: int, depth: int) -> list[Row]:
        number = int(node.token.attrs.get("start", 1)) if node.token.type == "ordered_list_open" else None
        rows: list[Row] = []
        for index, child in enumerate(node.children):
            if index and self._is_blank_before(child):
                rows.append([])
            rows += self.item(child, width, None if number is None else number + index, depth)
        return rows

    def _text(self, node: _Node, width: int, base: Style) -> list[Row]:
        return wrap(self._spans(node, base), width)

    def _spans(self, node: _Node, base: Style) -> list[Span]:
        inline = node.children[0].token.children if node.children else None
        spans = inline_spans(inline or [], self.look, base)
        if node.token.type == "paragraph_open" and spans and spans[0].text[:4].lower() in ("[ ] ", "[x] "):
            done = spans[0].text[1] != " "
            box = Span(spans[0].text[:3], self.look.palette.style("accent" if done else "muted"))
            spans[0] = Span(spans[0].text[3:], spans[0].style)
            spans.insert(0, box)
        return spans

    def _table(self, node: _Node, width: int) -> list[Row]:
        palette = self.look.palette
        lines: list[list[Cell]] = []
        for part in node.children:
            header = part.token.type == "thead_open"
            base = palette.style("strong", bold=True) if header else palette.style()
            lines.extend([self._cell(cell, base) for cell in line.children] for line in part.children)
        return table_rows(lines[0], lines[1:], width, self.look)

    def _cell(self, node: _Node, base: Style) -> Cell:
        return Cell(self._spans(node, base), _ALIGNMENTS.get(str(node.token.attrs.get("style")), "left"))

    def _is_blank_before(self, node: _Node) -> bool:
        first = node.token.map[0] if node.token.map else 0
        return 0 < first <= len(self.lines) and not self.lines[first - 1].strip(" >")
