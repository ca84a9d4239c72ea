"""Entries of every kind, as hypothesis makes them up."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from shipchat.core.entries import (
    CheckpointEntry,
    CheckpointUndoneEntry,
    Entry,
    HeadEntry,
    MessageEntry,
    NoticeEntry,
    SetEntry,
    UnknownEntry,
)
from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Failure,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
    Usage,
    UserMessage,
)

texts = st.text(st.characters(codec="utf-8"), max_size=30)
ids = st.sampled_from(["a", "b", "c", "d", "e", "0123456789abcdef"])
zones = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours, minutes=30)))
times = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.one_of(st.just(UTC), zones))  # noqa: DTZ001
names = texts.map(lambda text: f"new_{text}")
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**25), 10**25),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
objects = st.dictionaries(names, json_values, max_size=2)
counts = st.integers(0, 10**7)

parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ReasoningPart, texts, st.none() | texts, json_values),
    st.builds(ToolCallPart, texts, texts, texts, st.none() | st.builds(ToolResult, texts, st.booleans())),
    st.builds(AttachmentPart, texts, texts, texts, counts),
    st.builds(lambda kind, more: UnknownPart({"type": kind, **more}), names, objects),
)
part_tuples = st.lists(parts, max_size=4).map(tuple)
messages = st.one_of(
    st.builds(
        UserMessage,
        id=ids,
        parent=st.none() | ids,
        at=times,
        parts=part_tuples,
        tokens=st.none() | counts,
        extra=objects,
    ),
    st.builds(
        AssistantMessage,
        id=ids,
        parent=st.none() | ids,
        at=times,
        parts=part_tuples,
        model=texts,
        status=st.sampled_from(["complete", "interrupted", "failed"]),
        stop_reason=st.none() | texts,
        usage=st.none() | st.builds(Usage, counts, counts, counts, counts, counts),
        failure=st.none() | st.builds(Failure, texts, texts),
        tokens=st.none() | counts,
        extra=objects,
    ),
)
tags = st.lists(texts, max_size=2).map(tuple)
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(MessageEntry, message=messages),
    st.builds(HeadEntry, id=ids, at=times, target=st.none() | ids, extra=objects),
    st.builds(
        SetEntry,
        id=ids,
        at=times,
        title=st.none() | texts,
        by=st.sampled_from([None, "user", "auto"]),
        archived=st.none() | st.booleans(),
        system=st.none() | texts,
        model=st.none() | texts,
        add_tags=tags,
        remove_tags=tags,
        add_pins=tags,
        remove_pins=tags,
        custom=st.dictionaries(texts.map(lambda text: f"x-{text}"), json_values, max_size=2),
        extra=objects,
    ),
    st.builds(
        CheckpointEntry,
        id=ids,
        at=times,
        summary=texts,
        covers=ids,
        kept_from=st.none() | ids,
        tokens_before=counts,
        tokens_after=counts,
        model=texts,
        instructions=st.none() | texts,
        extra=objects,
    ),
    st.builds(CheckpointUndoneEntry, id=ids, at=times, checkpoint=ids, extra=objects),
    st.builds(NoticeEntry, id=ids, at=times, about=texts, text=texts, extra=objects),
    st.builds(UnknownEntry, id=ids, at=times, type=names, data=objects),
)
