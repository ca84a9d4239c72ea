"""Makes a row of messages that every provider accepts; how each writes it as JSON is left to its own module.

Providers refuse an empty text, a message of white space and two neighbours of the same role, and once one of these
is in a conversation they refuse it for ever. So what is sent is mended here; what is stored is never changed.
The result depends on the messages alone and grows at its end only, so that prefix caches keep working.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from shipchat.core.messages import AssistantMessage, Message, Part, TextPart, UnknownPart
from shipchat.core.safe_text import without_surrogates

Role: TypeAlias = Literal["user", "assistant"]

CUT_SHORT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
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


def normalised(
    messages: Iterable[Message], keep: Callable[[Part], bool] = text_only
) -> tuple[SentMessage, ...]:
    """Return `messages` as user and assistant in turn, none empty, made of the parts that `keep` accepts.

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
        if sent and sent[-1].role == role:
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
