"""How to talk in a session, and which entries write down a choice that differs from what the session has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from shipchat.core.compaction import Mode
from shipchat.core.context import DEFAULT_SYSTEM, Overflow
from shipchat.core.entries import Entry, NoticeEntry, SetEntry
from shipchat.core.events import Notice, SessionEvent
from shipchat.core.ids import new_id
from shipchat.core.models import DEFAULT_MODEL, ModelRef, parse_model
from shipchat.core.protocols import Provider, TokenCounter
from shipchat.core.session import Session
from shipchat.core.shares import DEFAULT_KEEP, DEFAULT_SHARE
from shipchat.sessions.clock import Clock


class ModelAccess(Protocol):
    """Where models come from."""

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        ...

    def provider(self, ref: ModelRef) -> Provider:
        """Return who answers for `ref`. Raises ModelMissing for an unknown provider."""
        ...


SUMMARY_TIMEOUT: Final = 300.0
"""Seconds that one call of a summariser may take: a small local model reads 8,000 tokens in about 65."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """When and how older turns are summarised.

    Beyond `share` of the real input budget it is time; newest turns up to `keep` of it stay as they are. `model` is who
    summarises (None: the session's model), `instructions` what a summary should heed, `prompt` replaces our own way of
    asking for it (None: ours). `shares` and `keeps` give other shares by model (`provider/model`). `timeout` in seconds.
    """

    mode: Mode = "auto"
    share: float = DEFAULT_SHARE
    keep: float = DEFAULT_KEEP
    model: str | None = None
    instructions: str | None = None
    prompt: str | None = None
    timeout: float = SUMMARY_TIMEOUT
    shares: Mapping[str, float] = field(default_factory=dict)
    keeps: Mapping[str, float] = field(default_factory=dict)

    def of_model(self, ref: ModelRef) -> "CompactionOptions":
        """Return the options for a session that `ref` answers in."""
        share = self.shares.get(str(ref), self.share)
        keep = self.keeps.get(str(ref), self.keep)
        return replace(self, share=share, keep=min(keep, share))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How to talk. `model` and `system` of None keep the session's own, else the defaults.

    `max_tokens` limits a reply; `program` is what others are told of who holds the session. `overflow` is what happens
    when not all fits and nothing is compacted by itself: an error before the call, or oldest turns are left out. With
    `mentions` a file that a prompt names as `@path` goes with it.
    """

    model: str | None = None
    system: str | None = None
    title: str | None = None
    max_tokens: int | None = None
    default_model: str = DEFAULT_MODEL
    default_system: str = DEFAULT_SYSTEM
    program: str = "shipchat"
    compaction: CompactionOptions = field(default_factory=CompactionOptions)
    overflow: Overflow = "error"
    mentions: bool = False

    def model_for(self, session: Session) -> ModelRef:
        """Return which model the next turn asks. Raises UsageError when the name is none."""
        return parse_model(self.model or session.model or self.default_model)

    def system_for(self, session: Session) -> str:
        """Return the system prompt the next turn is sent with."""
        for choice in (self.system, session.system):
            if choice is not None:
                return choice
        return self.default_system


def entries_for(
    options: ChatOptions,
    session: Session,
    *,
    new: bool,
    clock: Clock,
    emit: Callable[[SessionEvent], None],
) -> list[Entry]:
    """Return the entries that make `session` what `options` ask for; tell what a user should know of them.

    A title is set only in a `new` session. Sending to an archived session takes it out of the archive.
    """
    entries: list[Entry] = []
    model = options.model if options.model != session.model else None
    system = options.system if options.system != session.system else None
    title = options.title if new else None
    if model is not None or system is not None or title is not None:
        by: Literal["user"] | None = "user" if title is not None else None
        entries.append(SetEntry(id=new_id(), at=clock(), model=model, system=system, title=title, by=by))
    if model is not None and session.head is not None:
        text = f"The model is {model} from here on."
        entries.append(NoticeEntry(id=new_id(), at=clock(), about="model", text=text))
        emit(Notice("model", text))
    if session.archived:
        entries.append(SetEntry(id=new_id(), at=clock(), archived=False))
        emit(Notice("unarchived", f"session {session.key} was archived; it is back in the list"))
    return entries
