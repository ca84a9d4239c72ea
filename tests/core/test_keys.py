import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.errors import SessionKeyInvalid
from shipchat.core.keys import check_key, new_key, why_invalid

HOSTILE = [
    "", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", "a\0b", "a b", " a", "a ", "a\n", "é", "日本", "-rf",
    ".hidden", "_x", "a.", "x.json", "X.JSON", "CON", "con.txt", "nul", "COM1", "lpt9.log", "a" * 129, "a:b",
    "a*b", "$(touch pwned)", "`x`", '"; touch pwned; "', "~", "~root", "%2e%2e", "a?b", "a|b", "<a>", "\u202ea", "\x1b[2J",
]  # fmt: skip


@pytest.mark.parametrize("key", HOSTILE)
def test_a_key_that_can_not_be_a_file_name_everywhere_is_refused_with_the_reason(key: str) -> None:
    with pytest.raises(SessionKeyInvalid) as caught:
        check_key(key)
    assert str(why_invalid(key)) in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("key", ["a", "ticket-812", "A.b_c-9", "9", "a" * 128, "CONsole", "x.json5"])
def test_ordinary_keys_are_fine(key: str) -> None:
    assert check_key(key) == key


@given(st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 2), max_value=datetime(9990, 1, 1)))  # noqa: DTZ001 -- hypothesis adds the zone
def test_new_keys_are_valid_and_sort_by_day(now: datetime) -> None:
    key = new_key(now)
    assert why_invalid(key) is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-[a-z0-9]{5}", key)
    assert key.startswith(f"{now.astimezone():%Y-%m-%d}")
