"""Splitting Markdown that is still being written into blocks that can't change any more and a tail that can.

What a block looks like is left to `render`. The outcome never depends on how the text was cut into pieces: a block
is given out only when no further text can change it, by the rule that Markdown's block structure is decided line
by line. So everything but the last block of the complete lines is final, and so is a closed fence, a heading, and
a paragraph or table followed by a blank line.

Lists are given out item by item, or a list of a thousand items would be drawn anew for each word. Link references
count for the blocks after their definition.

Cost is linear: an open fence takes a line at a time, and a tail longer than `TAIL_LIMIT` (or 100 lines) is shown as plain lines
beyond that limit and parsed again only as it grows.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markdown_it.token import Token

from shipchat.tui.markdown.block import Block, Kind, ListItem, OpenLines
from shipchat.tui.markdown.open_blocks import OpenFence, Overflow, closing_of
from shipchat.tui.markdown.parser import References, block_tokens

TAIL_LIMIT: Final = 6_000  # characters; parsing and drawing as many takes 5 to 20 ms
_TAIL_LINES: Final = 100
_GROWTH: Final = 16  # a huge tail is parsed again when it has grown by one part in so many
_GROWTH_WITHIN: Final = 1  # ... and of so many when it doesn't look as if its last block had ended
_GOING_ON: Final = ("", " ", ">", "|")

_KINDS: Final[Mapping[str, Kind]] = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list_item",
    "ordered_list_open": "list_item",
    "fence": "fence",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "hr": "rule",
    "html_block": "html",
}
# The beginning of a line that might still become anything: shown at once it would flash up as a heading or a rule.
_HELD_BACK: Final = re.compile(r" *(?:[-=+*#>`~_|:]+|\d{1,9}[.)])? *\Z")


@dataclass(frozen=True, slots=True)
class _Found:
    """A block found in the pending lines `start` to `end`."""

    block: Block
    start: int
    end: int
    markup: str


@dataclass(frozen=True, slots=True)
class _Definition:
    """A link reference defined in the pending line `line`."""

    line: int
    label: str
    target: Mapping[str, Any]


class BlockSplitter:
    """Takes text in any pieces and gives out blocks. The text must have passed `safe_text`."""

    def __init__(self) -> None:
        self._pending: list[str] = []  # complete lines since the last block given out
        self._partial = ""  # the line that has no end yet
        self._line = 0  # number of the first pending line in the whole text; 0 until a block was given out
        self._item: ListItem | None = None  # the pending lines go on a list: its item given out last
        self._blank = False  # a blank line stands right before the pending lines
        self._references: References = {}
        self._fence: OpenFence | None = None
        self._overflow: Overflow | None = None
        self._size = 0  # characters pending
        self._parsed_size = 0  # ... when they were last parsed in vain
        self._may_have_ended = False  # since then a line came that may begin another block

    def feed(self, text: str) -> list[Block]:
        """Take more text; return the blocks that have become final."""
        first, *rest = text.split("\n")
        self._size += len(text)
        if self._overflow is not None:
            self._overflow.feed(first, rest)
        if not rest:
            self._partial += first
            return []
        blocks: list[Block] = []
        for line in (self._partial + first, *rest[:-1]):
            if self._fence is None:
                self._pending.append(line)
                self._may_have_ended = self._may_have_ended or line[:1] not in _GOING_ON
                continue
            self._line += 1
            if self._fence.closing.match(line):
                blocks.append(self._close_fence(line))
            else:
                self._fence.add(line)
        self._partial = rest[-1]
        if blocks:
            self._size = self._pending_size()
        if self._pending and self._is_worth_parsing():
            blocks += self._advance()
        return blocks

    def _is_huge(self) -> bool:
        return self._size > TAIL_LIMIT or len(self._pending) > _TAIL_LINES

    def _is_worth_parsing(self) -> bool:
        """Tell whether to look for final blocks: always in a small tail, in a huge one only as it grows.

        A line that begins without indent, quote mark or table bar may well begin another block; others hardly.
        """
        if not self._is_huge() or not self._parsed_size:
            return True
        grown = self._size - self._parsed_size
        return grown * (_GROWTH if self._may_have_ended else _GROWTH_WITHIN) >= self._parsed_size

    def finish(self) -> list[Block]:
        """Return the blocks of all that is left: the text is complete. Nothing may be fed afterwards."""
        if self._fence is not None:
            fence, self._fence = self._fence, None
            lines = [fence.opening, *fence.lines]
            if self._partial:
                # A closing mark at the very end of the text has no line end, and closes all the same.
                lines.append(
                    self._partial if fence.closing.match(self._partial) else fence.shown(self._partial)
                )
            self._partial = ""
            return [self._fence_block(fence, lines)]
        if self._partial:
            self._pending.append(self._partial)
            self._partial = ""
        found, definitions = self._parse(self._pending)
        self._drop(len(self._pending), definitions)
        return [one.block for one in found]

    def tail(self) -> list[Block | OpenLines]:
        """Return what to show below the final blocks, as far as it can be told already."""
        if (fence := self._fence) is not None:
            partial = "" if _HELD_BACK.match(self._partial) else fence.shown(self._partial)
            return [OpenLines(fence.start, fence.info, fence.shown_lines, partial, fence.gap)]
        if (overflow := self._overflow) is not None:
            return [
                *overflow.shown,
                OpenLines(overflow.start, None, overflow.lines, overflow.partial, gap=False),
            ]
        held = not self._is_huge() and _HELD_BACK.match(self._partial) is not None
        found, _ = self._parse(
            self._pending if held or not self._partial else [*self._pending, self._partial]
        )
        blocks = [one.block for one in found]
        if found and blocks[-1].kind == "table":
            table = found[-1]
            rows = self._pending[table.start :]
            self._overflow = Overflow(
                blocks[:-1], self._line + table.start, table.block.gap, rows, self._partial
            )
            return self.tail()
        if self._is_huge():
            self._overflow = Overflow(blocks, self._line + len(self._pending), gap=False)
        return list(blocks)

    def _advance(self) -> list[Block]:
        """Parse the pending lines; give out what is final."""
        found, definitions = self._parse(self._pending)
        self._parsed_size = self._size
        self._may_have_ended = False
        if not found:
            return []
        last = found[-1]
        if last.block.kind == "fence" and not _closed(self._pending[last.start : last.end], last.markup):
            self._open_fence(last)
            final, end, goes_on = found[:-1], len(self._pending), False
        elif self._is_final(last):
            final, end, goes_on = found, last.end, False
        else:
            final, end = found[:-1], last.start
            goes_on = last.block.item is not None and not last.block.item.first
            if not final:
                return []
        self._item = final[-1].block.item if goes_on else None
        self._blank = end > 0 and not self._pending[end - 1].strip()
        self._drop(end, definitions)
        return [one.block for one in final]

    def _is_final(self, found: _Found) -> bool:
        match found.block.kind:
            case "fence" | "rule":
                return True
            case "heading" if found.markup.startswith("#"):
                return True
            case "heading" | "paragraph" | "table":
                return found.end < len(self._pending) and not self._pending[found.end].strip()
            case _:
                return False

    def _drop(self, count: int, definitions: Sequence[_Definition]) -> None:
        """Let go of the first `count` pending lines; keep what they define."""
        new = [one for one in definitions if one.line < count and one.label not in self._references]
        if new:
            self._references = {**self._references, **{one.label: one.target for one in new}}
        del self._pending[:count]
        self._line += count
        self._size = self._pending_size()
        self._parsed_size = 0
        self._overflow = None

    def _pending_size(self) -> int:
        return sum(map(len, self._pending)) + len(self._pending) + len(self._partial)

    def _parse(self, lines: Sequence[str]) -> tuple[list[_Found], list[_Definition]]:
        """Return the blocks of `lines`, and the references defined in them in the order of their lines."""
        preface = self._item.preface if self._item is not None else ""
        shift = 1 if preface else 0
        tokens, defined = block_tokens(preface + "\n".join(lines) + "\n")
        definitions = [
            _Definition(value["map"][0] - shift, label, {"href": value["href"], "title": value["title"]})
            for label, value in defined.items()
        ]
        definitions.sort(key=lambda definition: definition.line)
        waiting = iter([one for one in definitions if one.label not in self._references])
        following = next(waiting, None)
        references = self._references
        found: list[_Found] = []
        for first, after, kind, item, markup in _top_level(tokens, self._item):
            start, end = first - shift, after - shift
            while following is not None and following.line < start:
                references = {**references, following.label: following.target}
                following = next(waiting, None)
            if item is None or item.first:
                gap = bool(found) or self._line > 0
            else:
                gap = not lines[start - 1].strip() if start else self._blank
            source = "\n".join(lines[start:end]) + "\n"
            found.append(_Found(Block(kind, source, gap, item, references), start, end, markup))
        return found, definitions

    def _open_fence(self, found: _Found) -> None:
        start = self._line + found.start
        fence = OpenFence.opened(self._pending[found.start], found.markup, start, gap=found.block.gap)
        for line in self._pending[found.start + 1 :]:
            fence.add(line)
        self._fence = fence

    def _close_fence(self, closing: str) -> Block:
        assert self._fence is not None  # noqa: S101 - the caller has looked
        fence, self._fence = self._fence, None
        return self._fence_block(fence, [fence.opening, *fence.lines, closing])

    def _fence_block(self, fence: OpenFence, lines: Sequence[str]) -> Block:
        return Block("fence", "\n".join(lines) + "\n", fence.gap, None, self._references)


def _top_level(
    tokens: Sequence[Token], context: ListItem | None
) -> list[tuple[int, int, Kind, ListItem | None, str]]:
    """Return (first line, end line, kind, item, markup) of each block; a list counts as its items.

    With a `context` the first item of all is the preface's: it is left out, and its list is the context's.
    """
    blocks: list[tuple[int, int, Kind, ListItem | None, str]] = []
    number: int | None = None
    first = True
    for position, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map is not None:
            if token.type in ("bullet_list_open", "ordered_list_open"):
                number, first = None, True
                if token.type == "ordered_list_open":
                    number = int(token.attrs.get("start", 1))
                if context is not None and position == 0:
                    number = context.number  # the preface counts as the item given out last
            else:
                blocks.append((*_span(token), _KINDS[token.type], None, token.markup))
        elif token.level == 1 and token.type == "list_item_open":
            if context is None or position != 1:
                blocks.append(
                    (*_span(token), "list_item", ListItem(token.markup, number, first), token.markup)
                )
            number = None if number is None else number + 1
            first = False
    return blocks


def _span(token: Token) -> tuple[int, int]:
    assert token.map is not None  # noqa: S101 - block tokens that open something have lines
    return token.map[0], token.map[1]


def _closed(lines: Sequence[str], markup: str) -> bool:
    return len(lines) > 1 and closing_of(markup).match(lines[-1]) is not None


def split(text: str) -> list[Block]:
    """Return the blocks of a complete text."""
    splitter = BlockSplitter()
    return [*splitter.feed(text), *splitter.finish()]
