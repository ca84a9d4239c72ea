"""Makes a row of messages that every provider accepts; how each writes it as JSON is left to its own module.

Providers refuse an empty text, a message of white space and two neighbours of the same role, and once one of these
is in a conversation they refuse it for ever. So what is sent is mended here; what is stored is never changed.
The result depends on the messages alone and grows at its end only, so that prefix caches keep working.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
)
from shipchat.core.safe_text import without_surrogates

Role: TypeAlias = Literal["user", "assistant"]

CUT_SHORT: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "pause_turn"}
)
"""Stop reasons of a reply that ended at a limit, in the words of the providers: what follows goes on in mid-sentence."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """What is sent of one message, or of several neighbours of the same role. Never empty."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


def text_only(part: Part) -> bool:
    """Say whether `part` is text: the `keep` of a model that understands nothing else."""
    return isinstance(part, TextPart)


def for_provider(
    messages: Iterable[Message], provider: str, *, reasoning: bool = True
) -> tuple[SentMessage, ...]:
    """Return `messages` as `normalised` does, for a provider that knows tools, attachments and its own reasoning.

    Reasoning goes back to the provider that sealed it, whole, and with what it led to: providers refuse it without.
    With `reasoning` of False none is sent.
    """

    def keep(part: Part) -> bool:
        if isinstance(part, ReasoningPart):
            return reasoning and part.provider == provider and part.sealed is not None
        return True

    return normalised((_with_whole_reasoning(message) for message in messages), keep)


def _with_whole_reasoning(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    parts = [
        part for part in message.parts if message.status == "complete" or not isinstance(part, ReasoningPart)
    ]
    while parts and (isinstance(parts[-1], ReasoningPart) or _is_blank(parts[-1])):
        parts.pop()
    parts = [part for part in parts if not isinstance(part, AttachmentPart)]
    return message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts))


def _is_blank(part: Part) -> bool:
    return isinstance(part, UnknownPart) or (isinstance(part, TextPart) and not part.text.strip())


def normalised(
    messages: Iterable[Message], keep: Callable[[Part], bool] = text_only
) -> tuple[SentMessage, ...]:
    """Return `messages` as user and assistant in turn, none empty, made of the parts that `keep` accepts.

    Only after calls of tools an assistant may follow an assistant: the results stand in between, and calls made one
    after the other must not look like calls made at once.

    Texts that meet are joined: by an empty line, or by nothing where an assistant's reply had been broken off
    and the next one continues it. A lone surrogate becomes U+FFFD. Parts of unknown kinds are never sent. The
    first may be an assistant's (a summary, a greeting): a provider that minds has to see to it.
    """
    sent: list[SentMessage] = []
    continues = False
    for message in messages:
        parts = _cleaned(part for part in message.parts if keep(part) and not isinstance(part, UnknownPart))
        if not parts:
            continue
        role: Role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if sent and sent[-1].role == role and not isinstance(sent[-1].parts[-1], ToolCallPart):
            glue = "" if continues else "\n\n"
            sent[-1] = SentMessage(role, _joined(sent[-1].parts, parts, glue))
        else:
            sent.append(SentMessage(role, parts))
        continues = _broken_off(message)
    return tuple(sent)


def _broken_off(message: Message) -> bool:
    return isinstance(message, AssistantMessage) and (
        message.status != "complete" or message.stop_reason in CUT_SHORT
    )


def _cleaned(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Join texts that meet and drop those without a visible character."""
    result: tuple[Part, ...] = ()
    for part in parts:
        clean = TextPart(without_surrogates(part.text)) if isinstance(part, TextPart) else part
        result = _joined(result, (clean,), "")
    return tuple(part for part in result if not (isinstance(part, TextPart) and not part.text.strip()))


def _joined(before: tuple[Part, ...], after: tuple[Part, ...], glue: str) -> tuple[Part, ...]:
    match before, after:
        case (*head, TextPart(text=left)), (TextPart(text=right), *tail):
            return (*head, TextPart(left + glue + right), *tail)
    return (*before, *after)
