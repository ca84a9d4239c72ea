"""Events come out whole, however the bytes are cut, and never before their end has come."""

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.providers.sse import MAX_EVENT_BYTES, SseSplitter, SseTooLarge


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_data_comments_and_other_fields(end: bytes) -> None:
    lines = [
        b": ping",
        b"",
        b"event: x",
        b"id: 1",
        b"data: one",
        b"",
        b"data:two",
        b"data:  three",
        b"",
        b"data",
        b"",
        b"",
    ]
    assert SseSplitter().feed(end.join(lines) + end) == [b"one", b"two\n three"]


def test_an_event_without_its_empty_line_is_not_given_out() -> None:
    splitter = SseSplitter()
    assert splitter.feed(b"data: [DONE]\n") == []
    assert splitter.feed(b"\n") == [b"[DONE]"]


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data:" + b"x" * 65_536 + b"\n"])
def test_a_line_or_an_event_without_end_is_refused_in_bounded_memory(piece: bytes) -> None:
    splitter = SseSplitter()

    def feed_for_ever() -> None:
        for _ in range(MAX_EVENT_BYTES // 65_536 + 2):
            splitter.feed(piece)

    with pytest.raises(SseTooLarge):
        feed_for_ever()


texts = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n")), max_size=6)


@given(texts, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, 12), min_size=1, max_size=8))
def test_cuts_change_nothing(items: list[str], end: bytes, steps: list[int]) -> None:
    expected = [item.encode() for item in items]
    stream = b"".join(b"data: " + item + end + b": c" + end + end for item in expected)
    splitter = SseSplitter()
    got = []
    position = 0
    for step in cycle([*steps, 1]):
        got += splitter.feed(stream[position : position + step])
        position += step
        if position >= len(stream):
            break
    assert got == expected
