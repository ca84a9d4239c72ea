"""Ages and heads of days say what people would say."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.ages import age_text, day_head, message_time, next_change

NOW = datetime(2026, 11, 29, 15, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (timedelta(seconds=-90), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(seconds=60), "1m"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=1), "1d"),
        (timedelta(days=6, hours=23), "6d"),
        (timedelta(days=7), "1w"),
        (timedelta(days=364), "52w"),
        (timedelta(days=365), "1y"),
        (timedelta(days=365 * 150), "99y"),
    ],
)
def test_ages(ago: timedelta, text: str) -> None:
    assert age_text(NOW - ago, NOW) == text


@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_no_age_is_wider_than_three_cells(then: datetime) -> None:
    assert 2 <= len(age_text(then, NOW)) <= 3


def test_the_same_instant_in_two_zones_is_now() -> None:
    assert age_text(datetime(2026, 11, 29, 17, 14, tzinfo=timezone(timedelta(hours=2))), NOW) == "now"


@pytest.mark.parametrize(
    ("day", "head"),
    [
        (date(2026, 11, 30), "Today"),
        (date(2026, 11, 29), "Today"),
        (date(2026, 11, 28), "Yesterday"),
        (date(2026, 11, 27), "Friday"),
        (date(2026, 11, 23), "Monday"),
        (date(2026, 11, 22), "November"),
        (date(2026, 1, 1), "January"),
        (date(2025, 12, 31), "December 2025"),
    ],
)
def test_heads_of_days(day: date, head: str) -> None:
    assert day_head(day, NOW.date()) == head


@pytest.mark.parametrize(
    ("then", "text"),
    [
        (datetime(2026, 11, 29, 15, 9, tzinfo=UTC), "15:09"),
        (datetime(2026, 11, 28, 23, 59, tzinfo=UTC), "Sat 23:59"),
        (datetime(2026, 11, 3, 4, 5, tzinfo=UTC), "3 Nov"),
        (datetime(2024, 11, 24, 4, 5, tzinfo=UTC), "24 Nov 2024"),
        (datetime(2026, 11, 29, 1, 30, tzinfo=timezone(timedelta(hours=2))), "Sat 23:30"),
    ],
)
def test_times_of_messages(then: datetime, text: str) -> None:
    assert message_time(then, NOW) == text


def test_an_age_can_change_at_the_next_full_minute() -> None:
    assert NOW + next_change(NOW) == datetime(2026, 11, 29, 15, 15, tzinfo=UTC)
