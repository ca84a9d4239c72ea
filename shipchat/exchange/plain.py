"""A session as plain text: the messages of the current path, nothing added but who says what, and when."""

from collections.abc import Iterator

from shipchat.core.messages import Message
from shipchat.core.safe_text import safe_line
from shipchat.core.session import Session
from shipchat.exchange.wording import Piece, clean, ending, facts_of, pieces_of, speaker, time_of


def text_of(session: Session) -> str:
    """Return the whole document."""
    lines = [safe_line(session.title), " · ".join(facts_of(session))]
    for position, message in enumerate(session.messages(), 1):
        lines += ["", *_message(position, message)]
    return "\n".join(lines) + "\n"


def _message(position: int, message: Message) -> Iterator[str]:
    yield f"--- {position} · {speaker(message)} · {time_of(message.at)}"
    for piece in pieces_of(message):
        yield _piece(piece)
    if ending(message):
        yield f"[{ending(message)}]"


def _piece(piece: Piece) -> str:
    text = clean(piece.text).strip("\n")
    name = safe_line(piece.name)
    match piece.kind:
        case "text":
            return text
        case "call":
            return f"[{name} {text}]"
        case "result":
            return f"[result of {name}]\n{text}"
        case "error":
            return f"[error of {name}]\n{text}"
        case "attachment":
            return f"[attached: {name}, {safe_line(text)}]"
        case _:
            return f"[{piece.kind}]\n{text}"
