"""Markdown within a line: emphasis, code, links; as much of it as can't change any more when the line goes on."""

import re
from typing import Final

from shipchat.inline.rows import Span

HOLD: Final = 600
"""Characters after which a mark that is not closed is taken for itself: how much may be held back, and searched."""

DEEPEST: Final = 4
"""Marks within marks; deeper ones are shown as they are."""

_PLAIN: Final = re.compile(r"[^\\`*_~\[!<]+")
_LINK: Final = re.compile(
    r"!?\[((?:[^\[\]\\]|\\.)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)"
)
_LINK_BEGUN: Final = re.compile(r"!?(?:\[[^\[\]]*(?:\](?:\([^)]*)?)?)?$")
_ADDRESS: Final = re.compile(r"<(https?://[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>")
_ADDRESS_BEGUN: Final = re.compile(r"<[^\s<>]*$")
_MARKS: Final = {
    "***": "class:strong class:emphasis",
    "**": "class:strong",
    "__": "class:strong",
    "~~": "class:struck",
    "*": "class:emphasis",
    "_": "class:emphasis",
}
_ESCAPABLE: Final = frozenset("\\`*_{}[]()#+-.!~|<>\"'$%&,/:;=?@^")


def parse(
    text: str, *, final: bool, style: str = "", before: str = "", depth: int = 0
) -> tuple[list[Span], str]:
    """Return the spans of `text` and the rest that is not settled yet (empty when `final`).

    `before` is the character that stands before `text`, which decides whether an underscore begins a mark.
    """
    spans: list[Span] = []
    at = 0
    while at < len(text):
        plain = _PLAIN.match(text, at)
        if plain is not None:
            spans.append((style, plain.group()))
            at = plain.end()
            continue
        sure = final or len(text) - at > HOLD
        previous = text[at - 1] if at else before
        found = _mark(text[at : at + HOLD], sure=sure, style=style, before=previous, depth=depth)
        if found is None:
            return spans, text[at:]
        one, length = found
        spans += one
        at += length
    return spans, ""


def _mark(text: str, *, sure: bool, style: str, before: str, depth: int) -> tuple[list[Span], int] | None:
    """Return the spans that begin with the mark at the beginning of `text` and their length; None: more is needed."""
    first = text[0]
    if first == "\\":
        if len(text) == 1:
            return ([(style, "\\")], 1) if sure else None
        return ([(style, text[1])], 2) if text[1] in _ESCAPABLE else ([(style, "\\")], 1)
    if first == "`":
        return _code(text, sure=sure, style=style)
    if first == "<":
        address = _ADDRESS.match(text)
        if address is not None:
            return [(f"{style} class:link", address.group(1))], address.end()
        return None if not sure and _ADDRESS_BEGUN.match(text) else ([(style, "<")], 1)
    if first in "[!":
        return _link(text, sure=sure, style=style, depth=depth)
    return _emphasis(text, sure=sure, style=style, before=before, depth=depth)


def _code(text: str, *, sure: bool, style: str) -> tuple[list[Span], int] | None:
    run = len(text) - len(text.lstrip("`"))
    closing = re.compile(rf"(?<!`)`{{{run}}}(?!`)").search(text, run)
    if closing is None or (not sure and closing.end() == len(text)):
        return ([(style, "`" * run)], run) if sure else None
    inner = text[run : closing.start()]
    if len(inner) > 2 and inner[0] == inner[-1] == " " and inner.strip():
        inner = inner[1:-1]
    return [(f"{style} class:code", inner)], closing.end()


def _link(text: str, *, sure: bool, style: str, depth: int) -> tuple[list[Span], int] | None:
    match = _LINK.match(text)
    if match is None:
        if not sure and _LINK_BEGUN.match(text):
            return None
        return [(style, text[0])], 1
    label, target = match.groups()
    if text[0] == "!":
        return [(f"{style} class:muted", f"[image: {label or target}]")], match.end()
    spans = _inner(label, f"{style} class:link", depth)
    if target and target not in (label, f"mailto:{label}"):
        spans.append((f"{style} class:muted", f" ({target})"))
    return spans, match.end()


def _emphasis(text: str, *, sure: bool, style: str, before: str, depth: int) -> tuple[list[Span], int] | None:
    first = text[0]
    run = len(text) - len(text.lstrip(first))
    literal: tuple[list[Span], int] = ([(style, first * run)], run)
    mark = first * min(run, 3)
    if run == len(text) and not sure:
        return None
    if (
        mark not in _MARKS
        or run > 3
        or text[run : run + 1] in ("", " ")
        or (first == "_" and before.isalnum())
    ):
        return literal
    end = _closing(text, mark, sure=sure)
    if end is None:
        return literal if sure else None
    return _inner(text[run:end], f"{style} {_MARKS[mark]}".strip(), depth), end + run


def _closing(text: str, mark: str, *, sure: bool) -> int | None:
    """Return where the mark that `text` begins with is closed."""
    at = len(mark)
    while True:
        at = text.find(mark, at + 1)
        if at < 0:
            return None
        end = at + len(mark)
        alone = text[end : end + 1] != mark[0] and text[at - 1] != mark[0]
        word_goes_on = mark[0] == "_" and text[end : end + 1].isalnum()
        if end == len(text) and not sure:
            return None
        if text[at - 1] not in " \\" and alone and not word_goes_on and text.count("`", 0, at) % 2 == 0:
            return at


def _inner(text: str, style: str, depth: int) -> list[Span]:
    if depth >= DEEPEST:
        return [(style, text)]
    return parse(text, final=True, style=style, depth=depth + 1)[0]
