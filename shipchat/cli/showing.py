"""`show`: a session's messages as text, Markdown or JSON."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from shipchat.cli.arguments import Session, position_range, session_key
from shipchat.cli.in_flight import open_with_reply
from shipchat.cli.printing import block, note, print_json
from shipchat.cli.startup import open_services
from shipchat.cli.style import bold, dim
from shipchat.core.errors import MessageNotFound, UsageError
from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
)
from shipchat.core.safe_text import safe_line, safe_text
from shipchat.core.session import Session as SessionValue


def show(
    session: Session,
    messages: Annotated[
        str | None,
        typer.Option(
            "--messages", metavar="A..B", help="Only these positions: 3..7, 3.., ..7, 5, -2 (the last two)."
        ),
    ] = None,
    output: Annotated[
        Literal["text", "markdown", "json"], typer.Option("--format", "-f", help="How to print.")
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    *,
    what_the_model_sees: Annotated[
        bool,
        typer.Option(
            "--what-the-model-sees", help="Print what would be sent: system prompt, summary, messages."
        ),
    ] = False,
) -> None:
    """Print the messages of a session.

    Those of the current path: what was rewound or replaced is kept, but not shown. A reply that another window is
    receiving right now is shown as far as it has come.

    Examples:
      shipchat show work                          all of it
      shipchat show - --messages -2               the last two messages of the newest session
      shipchat show work -f markdown > work.md
      shipchat show work -f json | jq -r '.messages[-1].text'
      shipchat show work --what-the-model-sees    what a request is made of, after a compaction
    """
    services = open_services("show")
    if what_the_model_sees:
        if messages is not None or output == "markdown":
            raise UsageError("--what-the-model-sees prints a whole request, as text or JSON")
        from shipchat.cli.compacting import show_what_the_model_sees

        show_what_the_model_sees(
            services, session_key(services, session), as_json=as_json or output == "json"
        )
        return
    value, holder = open_with_reply(services, session_key(services, session))
    first, last = _chosen(value, messages)
    if as_json or output == "json":
        from shipchat.cli.json_values import holder_value, session_value

        print_json(session_value(value, first, last) | {"running": holder_value(holder)})
    elif output == "markdown":
        block("\n".join(markdown_lines(value, first, last)).rstrip("\n"))
    else:
        for text in text_lines(value, first, last):
            print(text)
        if holder is not None:
            note(f"A turn is running: {holder.sentence()}")


def _chosen(session: SessionValue, wanted: str | None) -> tuple[int, int | None]:
    if wanted is None:
        return 1, None
    first, last = position_range(wanted)
    total = len(session.path)
    if first < 0:
        return max(total + first + 1, 1), None
    if first > total:
        raise MessageNotFound(
            f"session {session.key} has no message {first}",
            advice=(f"Valid: positions 1 to {total}." if total else "It has no messages yet.",),
            details={"key": session.key, "message": str(first), "first": 1 if total else 0, "last": total},
        )
    return first, last


def heading_lines(session: SessionValue) -> Iterator[str]:
    """Yield the lines over a session shown as text: title, key, tags, what it is a fork of."""
    facts = [session.key, f"{len(session.path):,} messages" if len(session.path) != 1 else "1 message"]
    if session.model:
        facts.append(session.model)
    facts += [f"#{tag}" for tag in session.tags]
    if session.archived:
        facts.append("archived")
    if session.forked_from:
        facts.append(f"fork of {session.forked_from.key} after message {session.forked_from.position}")
    yield bold(safe_line(session.title))
    yield dim(safe_line(" · ".join(facts)))
    for oddity in session.oddities:
        yield dim(safe_line(f"note: {oddity}"))


def text_lines(session: SessionValue, first: int = 1, last: int | None = None) -> Iterator[str]:
    """Yield a session as lines for a terminal, safe and with its headings styled where that is wanted."""
    from shipchat.tui.ages import message_time

    now = datetime.now(UTC).astimezone()
    yield from heading_lines(session)
    for position, message in enumerate(session.messages(first, last), max(first, 1)):
        yield ""
        yield f"{bold(safe_line(speaker(message)))} {dim(f'{position} · {message_time(message.at, now)}')}"
        yield safe_text(_text(message))
        ending = _ending(message)
        if ending:
            yield dim(safe_line(f"[{ending}]"))


def speaker(message: Message) -> str:
    """Return who says it: `you`, or the model."""
    return message.model if isinstance(message, AssistantMessage) else "you"


def _ending(message: Message) -> str:
    if not isinstance(message, AssistantMessage) or message.status == "complete":
        return ""
    if message.failure is not None:
        return f"failed: {message.failure.message} ({message.failure.code})"
    return f"{message.status}: the reply is not complete"


def _text(message: Message) -> str:
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                pieces.append(text)
            case ToolCallPart(name=name, arguments=arguments, result=result):
                pieces.append(f"\n[{name} {arguments}]\n{result.output if result else ''}\n")
            case AttachmentPart(name=name, size=size):
                pieces.append(f"\n[{name}, {size:,} bytes]\n")
            case ReasoningPart():
                pass
            case _:
                pieces.append("\n[something a newer shipchat can show]\n")
    return "".join(pieces).strip("\n")


def markdown_lines(session: SessionValue, first: int = 1, last: int | None = None) -> Iterator[str]:
    """Yield a session as Markdown: its title, then a heading and the text of each message."""
    yield f"# {session.title}"
    for position, message in enumerate(session.messages(first, last), max(first, 1)):
        yield ""
        yield f"## {position}. {'You' if speaker(message) == 'you' else speaker(message)}"
        yield ""
        yield _text(message)
        ending = _ending(message)
        if ending:
            yield ""
            yield f"*{ending}*"
