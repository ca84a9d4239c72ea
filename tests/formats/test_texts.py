from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import Entry, MessageEntry
from shipchat.core.messages import AssistantMessage
from shipchat.formats.cached import BadCache, decode_row, decode_rows, decode_state, encode_row, encode_state
from shipchat.formats.document import encode_session
from shipchat.formats.summary import RowReading, read_row
from shipchat.formats.texts import IndexedText, text_at, texts_of, words_of
from shipchat.testing.samples import header, prompt, reply
from tests.formats.strategies import entries


def expected(listed: list[Entry]) -> list[tuple[str, str | None, str, str]]:
    return [
        (
            one.message.id,
            one.message.parent,
            "assistant" if isinstance(one.message, AssistantMessage) else "user",
            words_of(one.message),
        )
        for one in listed
        if isinstance(one, MessageEntry)
    ]


def told(found: list[IndexedText]) -> list[tuple[str, str | None, str, str]]:
    return [(one.id, one.parent, one.role, one.text) for one in found]


@given(st.lists(entries, max_size=8))
def test_the_words_are_those_of_the_messages_and_stand_where_it_says(listed: list[Entry]) -> None:
    data = encode_session(header("k"), listed)
    found = list(texts_of(data, "k"))
    assert told(found) == expected(listed)
    for one in found:
        assert text_at(data[one.place : one.place + one.length]) == (one.id, one.text)


def test_reading_goes_on_after_an_entry() -> None:
    data = encode_session(header("k"), [prompt("a"), reply("b", "a"), prompt("c", "b", "More?")])
    first, *rest = texts_of(data, "k")
    after = first.place + first.length
    assert list(texts_of(data[after:], "k", after)) == rest
    assert list(texts_of(data.replace(b"Because", b"Becouse"), "k")) == [first]  # up to the damage
    assert list(texts_of(bytes(413), "k")) == []
    assert text_at(b"{}") is None


def test_a_cached_row_that_was_touched_is_refused() -> None:
    reading = read_row(encode_session(header("k"), [prompt("a")]), "k", "p")
    assert isinstance(reading, RowReading)
    data, checksum = encode_row(reading.row)
    assert decode_row(data, checksum) == reading.row
    assert decode_rows([data, data], [checksum, checksum]) == [reading.row, reading.row]
    assert decode_state(encode_state(reading.state)) == reading.state
    assert (decode_state(None), decode_state(b"\xff")) == (None, None)
    for bad in (data[:-1], b"", data.replace(b"Why", b"Who")):
        for call in (
            lambda bad=bad: decode_row(bad, checksum),
            lambda bad=bad: decode_rows([bad], [checksum]),
        ):
            try:
                call()
            except BadCache:
                continue
            raise AssertionError(bad)
