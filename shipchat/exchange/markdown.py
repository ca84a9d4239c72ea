"""A session as Markdown: the messages of the current path, each under a heading, as they were written."""

import re
from collections.abc import Iterator

from shipchat.core.messages import Message
from shipchat.core.safe_text import safe_line
from shipchat.core.session import Session
from shipchat.exchange.wording import Piece, clean, ending, facts_of, pieces_of, speaker, time_of


def markdown_of(session: Session) -> str:
    """Return the whole document."""
    blocks = [f"# {safe_line(session.title)}", f"*{' · '.join(facts_of(session))}*"]
    for position, message in enumerate(session.messages(), 1):
        blocks += _message(position, message)
    return "\n\n".join(blocks) + "\n"


def _message(position: int, message: Message) -> Iterator[str]:
    yield f"## {position}. {speaker(message)} · {time_of(message.at)}"
    for piece in pieces_of(message):
        yield _piece(piece)
    if ending(message):
        yield f"*{ending(message)}*"


def _piece(piece: Piece) -> str:
    text = clean(piece.text).strip("\n")
    match piece.kind:
        case "text":
            return text
        case "reasoning":
            return "\n".join(f"> {line}".rstrip() for line in ["*Reasoning*", "", *text.splitlines()])
        case "call":
            return f"**Tool call** `{safe_line(piece.name)}`\n\n{_fenced(text, 'json')}"
        case "result":
            return f"**Result** of `{safe_line(piece.name)}`\n\n{_fenced(text)}"
        case "error":
            return f"**Error** of `{safe_line(piece.name)}`\n\n{_fenced(text)}"
        case "attachment":
            return f"**Attached** {safe_line(piece.name)} ({safe_line(text)})"
        case _:
            return f"*[{text}]*"


def _fenced(text: str, language: str = "") -> str:
    """Return text in a fence that is longer than any inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
