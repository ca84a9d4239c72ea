"""How long ago something was, in the few cells a list can spare; the present moment is always handed in."""

from datetime import date, datetime, timedelta
from typing import Final

# English, whatever the locale: the rest of the interface is English too.
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def age_text(then: datetime, now: datetime) -> str:
    """Return the age of `then` in at most three cells: `now`, `2m`, `3h`, `1d`, `9w`, `1y`.

    Both must be aware. A moment that lies ahead (clocks differ) is `now`; ages stop at `99y`.

    >>> from datetime import UTC
    >>> age_text(datetime(2026, 11, 3, tzinfo=UTC), datetime(2026, 11, 29, tzinfo=UTC))
    '3w'
    """
    seconds = (now - then).total_seconds()
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)}m"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)}h"
    days = int(seconds // _DAY)
    if days < 7:
        return f"{days}d"
    if days < 365:
        return f"{days // 7}w"
    return f"{min(days // 365, 99)}y"


def day_head(day: date, today: date) -> str:
    """Return the head of the group that `day` belongs to: Today, Yesterday, a weekday, a month.

    The weekday stands for the five days before yesterday; a month of another year carries that year. A day that lies
    ahead counts as today.

    >>> day_head(date(2025, 11, 3), date(2026, 11, 29))
    'November 2025'
    """
    ago = (today - day).days
    if ago <= 0:
        return "Today"
    if ago == 1:
        return "Yesterday"
    if ago < 7:
        return _WEEKDAYS[day.weekday()]
    month = _MONTHS[day.month - 1]
    return month if day.year == today.year else f"{month} {day.year}"


def message_time(then: datetime, now: datetime) -> str:
    """Return the time beside a message: `15:09` today, `Mon 15:09` within a week, then `24 Nov`, `24 Nov 2025`.

    Both must be aware; the result is in the zone of `now`.
    """
    local = then.astimezone(now.tzinfo)
    ago = (now.date() - local.date()).days
    if ago <= 0:
        return f"{local:%H:%M}"
    if ago < 7:
        return f"{_WEEKDAYS[local.weekday()][:3]} {local:%H:%M}"
    text = f"{local.day} {_MONTHS[local.month - 1][:3]}"
    return text if local.year == now.year else f"{text} {local.year}"


def next_change(now: datetime) -> timedelta:
    """Return how long until a shown age can change: to the next full minute. A list need not be repainted before."""
    return timedelta(seconds=_MINUTE - now.second, microseconds=-now.microsecond)
