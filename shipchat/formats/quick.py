"""Making core's messages without their constructors: ten thousand of them are made while somebody waits.

A frozen dataclass sets each field through a checked call, which is half the time of opening a large session. Here the
slots are set directly. A field that core adds must be added here: the tests compare every field of every kind.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from shipchat.core.entries import ForkOrigin, MessageEntry
from shipchat.core.messages import (
    AssistantMessage,
    Failure,
    Json,
    Message,
    Part,
    ReplyStatus,
    TextPart,
    Usage,
    UserMessage,
)
from shipchat.core.summaries import Damage, SessionSummary

_new: Final = object.__new__
_text: Final[Any] = cast("Any", TextPart).text.__set__
_message: Final[Any] = cast("Any", MessageEntry).message.__set__
_user: Final[Any] = UserMessage
_u_id, _u_parent, _u_at = _user.id.__set__, _user.parent.__set__, _user.at.__set__
_u_parts, _u_tokens, _u_extra = _user.parts.__set__, _user.tokens.__set__, _user.extra.__set__
_reply: Final[Any] = AssistantMessage
_a_id, _a_parent, _a_at = _reply.id.__set__, _reply.parent.__set__, _reply.at.__set__
_a_parts, _a_model, _a_status = _reply.parts.__set__, _reply.model.__set__, _reply.status.__set__
_a_stop, _a_usage, _a_failure = _reply.stop_reason.__set__, _reply.usage.__set__, _reply.failure.__set__
_a_tokens, _a_extra = _reply.tokens.__set__, _reply.extra.__set__

_row: Final[Any] = SessionSummary
_s_key, _s_title, _s_created, _s_updated = (
    _row.key.__set__,
    _row.title.__set__,
    _row.created.__set__,
    _row.updated.__set__,
)
_s_tags, _s_archived, _s_messages = _row.tags.__set__, _row.archived.__set__, _row.messages.__set__
_s_model, _s_forked, _s_old = _row.model.__set__, _row.forked_from.__set__, _row.old_titles.__set__
_s_size, _s_holder, _s_damage = _row.size.__set__, _row.holder.__set__, _row.damage.__set__


def text_part(text: str) -> TextPart:
    """Return `TextPart(text)`."""
    made = _new(TextPart)
    _text(made, text)
    return made


def message_entry(message: Message) -> MessageEntry:
    """Return `MessageEntry(message=message)`."""
    made = _new(MessageEntry)
    _message(made, message)
    return made


def user_message(
    id: str,  # noqa: A002 -- the field's name
    parent: str | None,
    at: datetime,
    parts: tuple[Part, ...],
    *,
    tokens: int | None,
    extra: Mapping[str, Json],
) -> UserMessage:
    """Return a UserMessage of these fields."""
    made = _new(UserMessage)
    _u_id(made, id)
    _u_parent(made, parent)
    _u_at(made, at)
    _u_parts(made, parts)
    _u_tokens(made, tokens)
    _u_extra(made, extra)
    return made


def assistant_message(
    id: str,  # noqa: A002 -- the field's name
    parent: str | None,
    at: datetime,
    parts: tuple[Part, ...],
    model: str,
    *,
    status: ReplyStatus,
    stop_reason: str | None,
    usage: Usage | None,
    failure: Failure | None,
    tokens: int | None,
    extra: Mapping[str, Json],
) -> AssistantMessage:
    """Return an AssistantMessage of these fields."""
    made = _new(AssistantMessage)
    _a_id(made, id)
    _a_parent(made, parent)
    _a_at(made, at)
    _a_parts(made, parts)
    _a_model(made, model)
    _a_status(made, status)
    _a_stop(made, stop_reason)
    _a_usage(made, usage)
    _a_failure(made, failure)
    _a_tokens(made, tokens)
    _a_extra(made, extra)
    return made


def session_summary(
    key: str,
    title: str,
    created: datetime,
    updated: datetime,
    *,
    tags: tuple[str, ...],
    archived: bool,
    messages: int,
    model: str | None,
    forked_from: ForkOrigin | None,
    old_titles: tuple[str, ...],
    size: int,
    damage: Damage | None,
) -> SessionSummary:
    """Return a SessionSummary of these fields, without a holder."""
    made = _new(SessionSummary)
    _s_key(made, key)
    _s_title(made, title)
    _s_created(made, created)
    _s_updated(made, updated)
    _s_tags(made, tags)
    _s_archived(made, archived)
    _s_messages(made, messages)
    _s_model(made, model)
    _s_forked(made, forked_from)
    _s_old(made, old_titles)
    _s_size(made, size)
    _s_holder(made, None)
    _s_damage(made, damage)
    return made
