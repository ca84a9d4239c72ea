"""The fold: pure, incremental, and every older value stays what it was."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shipchat.core.entries import (
    CheckpointEntry,
    CheckpointUndoneEntry,
    Entry,
    HeadEntry,
    MessageEntry,
    NoticeEntry,
    SessionHeader,
    SetEntry,
    UnknownEntry,
)
from shipchat.core.errors import MessageNotFound
from shipchat.core.messages import AssistantMessage, TextPart, UserMessage
from shipchat.core.session import Session, fold, new_session

START = datetime(2026, 11, 29, 15, 9, tzinfo=UTC)
HEADER = SessionHeader(key="ticket-812", created=START)


def user(message_id: str, parent: str | None, text: str = "hi", minute: int = 0) -> MessageEntry:
    at = START + timedelta(minutes=minute)
    return MessageEntry(message=UserMessage(id=message_id, parent=parent, at=at, parts=(TextPart(text),)))


def reply(message_id: str, parent: str | None, text: str = "hello", minute: int = 0) -> MessageEntry:
    at = START + timedelta(minutes=minute)
    return MessageEntry(
        message=AssistantMessage(
            id=message_id, parent=parent, at=at, parts=(TextPart(text),), model="local/smollm2"
        )
    )


def path(session: Session) -> list[str]:
    return list(session.path)


IDS = st.sampled_from("abcdefgh")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    message_id, other = draw(IDS), draw(st.none() | IDS)
    number = draw(st.integers(0, 10**6))
    minute = draw(st.integers(0, 5))
    at = START + timedelta(minutes=minute)
    choice = draw(st.integers(0, 7))
    if choice == 0:
        return user(message_id, other, minute=minute)
    if choice == 1:
        return reply(message_id, other, minute=minute)
    if choice == 2:
        return HeadEntry(id=f"h{number}", at=at, target=other)
    if choice == 3:
        return SetEntry(
            id=f"s{number}",
            at=at,
            title=draw(st.none() | st.sampled_from(["one", "two"])),
            by=draw(st.sampled_from(["user", "auto", None])),
            archived=draw(st.none() | st.booleans()),
            add_tags=tuple(draw(st.lists(IDS, max_size=2))),
            remove_tags=tuple(draw(st.lists(IDS, max_size=2))),
            add_pins=tuple(draw(st.lists(IDS, max_size=2))),
            custom={"x-a": number},
        )
    if choice == 4:
        return NoticeEntry(id=f"n{number}", at=at, about="test", text="x")
    if choice == 5:
        return CheckpointEntry(
            id=message_id,
            at=at,
            summary="s",
            covers="a",
            kept_from="b",
            tokens_before=2,
            tokens_after=1,
            model="m/m",
        )
    if choice == 6:
        return CheckpointUndoneEntry(id=f"u{number}", at=at, checkpoint=message_id)
    return UnknownEntry(id=f"k{number}", at=at, type="later", data={"a": 1})


def seen(session: Session) -> dict[str, object]:
    return {
        "title": session.title,
        "old": session.old_titles,
        "tags": session.tags,
        "archived": session.archived,
        "pins": session.pins,
        "custom": dict(session.custom),
        "path": path(session),
        "head": session.head,
        "tree": [(message.id, message.parent) for message in session.tree],
        "children": {message.id: session.tree.children(message.id) for message in session.tree},
        "checkpoints": session.checkpoints,
        "notices": session.notices,
        "updated": session.updated,
        "oddities": session.oddities,
    }


@settings(max_examples=300)
@given(st.lists(entries(), max_size=25), st.data())
def test_folding_in_batches_equals_folding_at_once_and_leaves_older_values_alone(
    log: list[Entry], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=4)))
    at_once = seen(fold(new_session(HEADER), log))
    session, snapshots, start = new_session(HEADER), [], 0
    for cut in [*cuts, len(log)]:
        before = seen(session)
        grown = fold(session, log[start:cut])
        snapshots.append((session, before))
        session, start = grown, cut
    assert seen(session) == at_once
    # Branch off every intermediate value: neither side sees the other's messages.
    for old, before in snapshots:
        fold(old, [user("z", None), reply("y", "z")])
        assert seen(old) == before
    assert seen(session) == at_once


@given(st.lists(entries(), max_size=25))
def test_the_path_is_always_the_way_from_a_first_message_to_the_head(log: list[Entry]) -> None:
    session = fold(new_session(HEADER), log)
    assert path(session) == session.tree.path_to(session.head)
    for position, message_id in enumerate(session.path, 1):
        assert session.position_of(message_id) == position
        assert session.find_message(position).id == message_id
        assert message_id in session.tree.siblings(message_id)


def test_a_tree_with_siblings_and_a_rewind() -> None:
    session = fold(
        new_session(HEADER),
        [
            user("1", None),
            reply("2", "1"),
            user("3", "2"),
            reply("4", "3"),
            reply("4b", "3"),
            user("5", "4b"),
        ],
    )
    assert path(session) == ["1", "2", "3", "4b", "5"]
    assert session.tree.siblings("4") == ("4", "4b")
    flipped = fold(session, [HeadEntry(id="h", at=START, target=session.tree.newest_below("4"))])
    assert path(flipped) == ["1", "2", "3", "4"]
    assert path(session) == ["1", "2", "3", "4b", "5"]
    rewound = fold(flipped, [HeadEntry(id="h2", at=START, target=None), user("x", None)])
    assert path(rewound) == ["x"]
    assert rewound.tree.siblings("x") == ("1", "x")


def test_a_users_title_beats_automatic_ones_for_ever() -> None:
    def titled(title: str, by: str) -> SetEntry:
        assert by in ("user", "auto")
        return SetEntry(id=title, at=START, title=title, by="user" if by == "user" else "auto")

    session = new_session(HEADER)
    assert session.title == "ticket-812"
    session = fold(session, [user("1", None, "The nightly export fails.\nWhy?")])
    assert session.title == "The nightly export fails."
    session = fold(session, [titled("Export", "auto"), titled("Mine", "user"), titled("Model's", "auto")])
    assert (session.title, session.titled_by, session.old_titles) == ("Mine", "user", ("Export",))


@pytest.mark.parametrize("bad", [0, -1, 3, 10**9, True, False, 1.0, "0", "3", "nope", "", "-1", "\uff11"])
def test_a_message_that_is_not_there_is_refused_with_the_valid_range(bad: object) -> None:
    session = fold(new_session(HEADER), [user("a", None), reply("b", "a")])
    with pytest.raises(MessageNotFound) as caught:
        session.find_message(bad)  # type: ignore[arg-type]  # what a careless caller passes
    assert caught.value.advice == ("Valid: positions 1 to 2 or a message id.",)


def test_positions_and_ids_find_messages() -> None:
    session = fold(new_session(HEADER), [user("a", None), reply("b", "a"), user("7", "b")])
    assert [session.find_message(ref).id for ref in (1, "2", 3, "a", "7")] == ["a", "b", "7", "a", "7"]


def test_odd_entries_are_told_and_do_no_harm() -> None:
    session = fold(new_session(HEADER), [user("a", None), user("a", None, "again"), reply("b", "gone")])
    assert session.oddities == (
        "message a is stored twice; the first one counts",
        "message b answers to gone, which isn't there",
    )
    assert path(session) == ["b"]


def test_a_message_under_itself_or_under_a_later_one_makes_no_circle() -> None:
    session = fold(new_session(HEADER), [user("a", "a"), user("b", "c"), user("c", "b")])
    assert path(session) == ["b", "c"]
    assert session.tree.siblings("a") == ("a", "b")


def test_times_are_compared_as_instants_and_a_clock_going_back_does_not_reorder() -> None:
    early = datetime.fromisoformat("2026-01-01T00:30:00+02:00")
    late = datetime.fromisoformat("2025-12-31T23:00:00+00:00")
    first = UserMessage(id="a", parent=None, at=late, parts=(TextPart("x"),))
    second = AssistantMessage(id="b", parent="a", at=early, parts=(TextPart("y"),), model="m/m")
    session = fold(new_session(HEADER), [MessageEntry(message=first), MessageEntry(message=second)])
    assert path(session) == ["a", "b"]
    assert session.updated == late
