from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.context import MESSAGE_OVERHEAD, project
from shipchat.core.entries import MessageEntry, SessionHeader
from shipchat.core.errors import ContextOverflow
from shipchat.core.messages import AssistantMessage, Message, TextPart, UserMessage
from shipchat.core.session import Session, fold, new_session

AT = datetime(2026, 11, 29, tzinfo=UTC)


def turns(n: int) -> Session:
    log: list[MessageEntry] = []
    parent: str | None = None
    for i in range(1, 2 * n + 1):
        parts = (TextPart(f"text {i}"),)
        message: Message = (
            UserMessage(id=f"m{i}", parent=parent, at=AT, parts=parts)
            if i % 2
            else AssistantMessage(id=f"m{i}", parent=parent, at=AT, parts=parts, model="m/m")
        )
        log.append(MessageEntry(message=message))
        parent = f"m{i}"
    return fold(new_session(SessionHeader(key="k", created=AT)), log)


def ten(_: Message) -> int:
    return 10


TURN = 2 * (10 + MESSAGE_OVERHEAD)


def test_all_of_it_when_it_fits() -> None:
    projection = project(turns(3), system="s", budget=3 * TURN, count=ten)
    assert ([m.id for m in projection.messages], projection.starts_at) == (
        ["m1", "m2", "m3", "m4", "m5", "m6"],
        1,
    )
    assert (projection.tokens, projection.left_out) == (3 * TURN, 0)


@given(st.integers(1, 8), st.integers(TURN, 9 * TURN))
def test_whole_oldest_turns_are_left_out(n: int, budget: int) -> None:
    projection = project(turns(n), system="s", budget=budget, count=ten)
    kept = min(n, budget // TURN)
    assert [m.id for m in projection.messages] == [f"m{i}" for i in range(2 * (n - kept) + 1, 2 * n + 1)]
    assert projection.starts_at == 2 * (n - kept) + 1


def test_a_last_turn_that_can_not_fit_fails_before_the_call_by_how_much() -> None:
    with pytest.raises(ContextOverflow) as caught:
        project(turns(3), system="s", budget=TURN - 1, count=ten)
    assert caught.value.details == {"key": "k", "needed": TURN, "budget": TURN - 1}
    assert caught.value.exit_code == 9


def test_until_ends_the_path_early() -> None:
    projection = project(turns(3), system="s", budget=1000, count=ten, until="m3")
    assert [m.id for m in projection.messages] == ["m1", "m2", "m3"]


def test_only_what_is_sent_is_counted() -> None:
    counted: list[str] = []

    def count(message: Message) -> int:
        counted.append(message.id)
        return 10

    project(turns(1000), system="s", budget=3 * TURN, count=count)
    assert len(counted) <= 8
