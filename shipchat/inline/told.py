"""Short sentences about what is not text, the same in every way of telling: tools, files, endings."""

from shipchat.core.messages import AssistantMessage, AttachmentPart, ToolCallPart


def tool_line(call: ToolCallPart) -> str:
    """Return which tool ran with what, and whether it failed."""
    failed = call.result is not None and call.result.is_error
    return f"{'failed' if failed else 'ran'} {call.name} {call.arguments}"


def file_line(part: AttachmentPart) -> str:
    """Return name and size of an attached file."""
    return f"[{part.name}, {part.size:,} bytes]"


def ending_of(message: AssistantMessage) -> str:
    """Return how a reply ended short, empty when it is complete."""
    if message.status == "complete":
        return ""
    if message.failure is not None:
        return f"cut off: {message.failure.message} ({message.failure.code})"
    return f"{message.status}: the reply is not complete"
