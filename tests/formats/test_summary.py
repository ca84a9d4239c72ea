from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import Entry, SessionRecord
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.formats.document import encode_session
from shipchat.formats.summary import read_summary
from shipchat.stores.rows import summary_of
from shipchat.testing.samples import every_kind, header, prompt, reply
from tests.formats.strategies import entries


@given(st.lists(entries, max_size=12))
def test_the_quick_row_is_the_row_of_the_whole_session(listed: list[Entry]) -> None:
    data = encode_session(header("k"), listed)
    slow = summary_of(SessionRecord(header("k"), tuple(listed)))
    assert read_summary(data, "k", "p") == replace(slow, size=len(data))


def test_an_append_in_progress_is_no_damage() -> None:
    data = encode_session(header("k"), every_kind())
    row = read_summary(data[:-40], "k", "p")
    assert isinstance(row, SessionSummary)
    assert row.damage is None


def test_damage_is_told_with_the_line_and_what_could_be_read() -> None:
    data = encode_session(header("k"), [prompt("a"), reply("b", "a"), prompt("c", "b", "Really?")])
    row = read_summary(data.replace(b"Really", b"Ideally"), "k", "p")
    assert isinstance(row, SessionSummary)
    assert (row.title, row.messages) == ("Why?", 2)
    assert row.damage == Damage("p", 4, "the checksum does not match: the line was changed")


def test_without_a_header_there_is_only_the_damage() -> None:
    assert read_summary(bytes(413), "k", "p") == Damage("p", 1, "not JSON: 413 NUL bytes")
    newer = encode_session(header("k"), ()).replace(b'"version":1', b'"version":2')
    assert read_summary(newer, "k", "p") == Damage("p", 1, "the header's checksum does not match")
