from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import Entry, SessionRecord
from shipchat.core.summaries import Damage, SessionSummary
from shipchat.formats.document import encode_session
from shipchat.formats.summary import RowReading, extend_row, read_row, read_summary
from shipchat.stores.rows import summary_of
from shipchat.testing.samples import every_kind, header, prompt, reply, title
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


@given(st.lists(entries, max_size=8), st.lists(entries, min_size=1, max_size=4))
def test_going_on_where_a_row_was_left_off_gives_the_row_of_the_whole(
    before: list[Entry], after: list[Entry]
) -> None:
    begun = read_row(encode_session(header("k"), before), "k", "p")
    assert isinstance(begun, RowReading)
    whole = encode_session(header("k"), [*before, *after])
    if begun.state is None:
        return
    base = begun.state.end - len(begun.state.seal)
    grown = extend_row(begun.state, whole[base:], base)
    ids = [entry.id for entry in (*before, *after)]
    if grown is not None and len(set(ids)) == len(ids):  # writers never store an id twice
        assert grown.summary("k", len(whole)) == read_summary(whole, "k", "p")


def test_a_row_goes_on_from_what_was_appended_only_when_nothing_else_changed() -> None:
    before: list[Entry] = [prompt("a"), reply("b", "a")]
    after: list[Entry] = [prompt("c", "b", "More?"), title("t", "Named")]
    data = encode_session(header("k"), [*before, *after])
    begun = read_row(encode_session(header("k"), before), "k", "p")
    assert isinstance(begun, RowReading)
    assert begun.state is not None
    base = begun.state.end - len(begun.state.seal)
    grown = extend_row(begun.state, data[base:], base)
    assert grown is not None
    assert grown.summary("k", len(data)) == read_summary(data, "k", "p")
    assert (grown.depth, grown.title, grown.end) == (3, "Named", len(data) - 4)
    for other in (
        data[base:].replace(b"More", b"Less"),  # a checksum that doesn't hold
        data[base:-4],  # an append in progress
        b"x" + data[base + 1 :],  # another file
        encode_session(header("k"), [*before, prompt("c", "a")])[
            base:
        ],  # a sibling: its depth isn't known here
    ):
        assert extend_row(begun.state, other, base) is None
