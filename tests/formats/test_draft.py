import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.formats.draft import decode_turn_draft, decode_unsent, encode_turn_draft, encode_unsent
from shipchat.formats.lines import BadJson
from shipchat.testing.samples import START
from tests.formats.strategies import ids, part_tuples, texts, times

replies = st.builds(ReplyDraft, ids, st.none() | ids, texts, times, part_tuples)
prompts = st.lists(st.builds(QueuedPrompt, ids, times, texts), max_size=3).map(tuple)


@given(st.builds(TurnDraft, st.none() | replies, prompts), st.integers(0, 2**62))
def test_a_turn_draft_comes_back_as_it_was(draft: TurnDraft, number: int) -> None:
    assert decode_turn_draft(encode_turn_draft(draft, number)) == (number, draft)


@given(texts)
def test_unsent_text_comes_back_as_it_was(text: str) -> None:
    assert decode_unsent(encode_unsent(text, START)) == (START, text)


def test_half_a_draft_is_none() -> None:
    data = encode_turn_draft(TurnDraft(None, (QueuedPrompt("q", START, "And?"),)), 3)
    for size in range(len(data) - 1):
        with pytest.raises(BadJson):
            decode_turn_draft(data[:size])
        with pytest.raises(BadJson):
            decode_unsent(data[:size])
    with pytest.raises(BadJson, match=r"not shipchat\.unsent"):
        decode_unsent(data)
