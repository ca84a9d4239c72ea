"""A session as Markdown, for reading elsewhere; the lossless forms are the exchange package's."""

from collections.abc import Iterator

from shipchat.core.messages import AssistantMessage, AttachmentPart, Message
from shipchat.core.session import Session


def markdown_of(session: Session) -> str:
    """Return the messages on the current path, each under a heading, as they were written."""
    blocks = [f"# {' '.join(session.title.split())}"]
    for position, message in enumerate(session.messages(), 1):
        blocks += _message(position, message)
    return "\n\n".join(blocks) + "\n"


def _message(position: int, message: Message) -> Iterator[str]:
    when = f"{message.at.astimezone():%Y-%m-%d %H:%M}"
    if isinstance(message, AssistantMessage):
        state = "" if message.status == "complete" else f" ({message.status})"
        yield f"## {position}. Assistant{state} · {message.model} · {when}"
    else:
        yield f"## {position}. You · {when}"
    yield message.text.strip("\n")
    names = [part.name for part in message.parts if isinstance(part, AttachmentPart)]
    if names:
        yield "Attached: " + ", ".join(names)
