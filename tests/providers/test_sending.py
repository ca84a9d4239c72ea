"""What is sent is accepted by every provider, whatever is stored."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.messages import (
    AssistantMessage,
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    ReplyStatus,
    TextPart,
    ToolCallPart,
    ToolResult,
    UnknownPart,
    UserMessage,
)
from shipchat.providers.sending import SentMessage, normalised

AT = datetime(2026, 11, 29, tzinfo=UTC)


def user(*parts: Part | str) -> UserMessage:
    return UserMessage(id="u", parent=None, at=AT, parts=_parts(parts))


def assistant(
    *parts: Part | str, status: ReplyStatus = "complete", stop_reason: str | None = "stop"
) -> AssistantMessage:
    return AssistantMessage(
        id="a", parent=None, at=AT, parts=_parts(parts), model="m/m", status=status, stop_reason=stop_reason
    )


def _parts(parts: tuple[Part | str, ...]) -> tuple[Part, ...]:
    return tuple(TextPart(part) if isinstance(part, str) else part for part in parts)


def sent(role: str, text: str) -> SentMessage:
    return SentMessage("user" if role == "user" else "assistant", (TextPart(text),))


def test_an_ordinary_conversation_is_sent_as_it_is() -> None:
    assert normalised([user("Hi"), assistant("Hello."), user("Bye")]) == (
        sent("user", "Hi"),
        sent("assistant", "Hello."),
        sent("user", "Bye"),
    )


def test_neighbours_of_one_role_are_joined_by_an_empty_line() -> None:
    assert normalised([user("one"), user("two"), assistant("x")]) == (
        sent("user", "one\n\ntwo"),
        sent("assistant", "x"),
    )


def test_a_reply_that_was_broken_off_is_joined_to_its_continuation_without_a_seam() -> None:
    for cut in (
        assistant("The ans", status="interrupted", stop_reason=None),
        assistant("The ans", status="failed", stop_reason=None),
        assistant("The ans", stop_reason="length"),
    ):
        assert normalised([user("?"), cut, assistant("wer is 4.")])[1] == sent(
            "assistant", "The answer is 4."
        )


def test_what_holds_no_text_is_left_out_and_its_neighbours_meet() -> None:
    tool = ToolCallPart("1", "f", "{}", ToolResult("out"))
    unknown = UnknownPart({"type": "hologram"})
    picture = AttachmentPart("00", "a.png", "image/png", 1)
    messages: list[Message] = [
        user("a"),
        assistant(tool, ReasoningPart("hm"), unknown),
        user(" \n"),
        user(picture, "b"),
    ]
    assert normalised(messages) == (sent("user", "a\n\nb"),)


def test_parts_that_a_provider_keeps_stay_in_order_and_unknown_ones_never() -> None:
    tool = ToolCallPart("1", "f", "{}", ToolResult("out"))
    message = assistant("a", "b", UnknownPart({}), tool, "  ", tool, "c")
    assert normalised([message], keep=lambda _: True) == (
        SentMessage("assistant", (TextPart("ab"), tool, tool, TextPart("c"))),
    )


def test_a_lone_surrogate_can_be_sent() -> None:
    assert normalised([user("cut \ud83d here")]) == (sent("user", "cut \N{REPLACEMENT CHARACTER} here"),)


part_lists = st.lists(
    st.one_of(
        st.sampled_from(["", " ", "\n", "a", "b c"]).map(TextPart),
        st.just(ReasoningPart("r")),
        st.just(UnknownPart({})),
    ),
    max_size=3,
).map(tuple)
messages_strategy: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        st.builds(lambda parts: user(*parts), part_lists),
        st.builds(
            lambda parts, status: assistant(*parts, status=status),
            part_lists,
            st.sampled_from(["complete", "interrupted", "failed"]),
        ),
    ),
    max_size=8,
)


@given(messages_strategy)
def test_whatever_is_stored_roles_alternate_and_no_text_is_blank_or_lost(messages: list[Message]) -> None:
    result = normalised(messages)
    assert all(left.role != right.role for left, right in pairwise(result))
    assert all(message.text.strip() for message in result)
    visible = "".join("".join(message.text for message in messages).split())
    assert "".join("".join(message.text for message in result).split()) == visible


@given(messages_strategy, messages_strategy)
def test_what_was_sent_is_a_prefix_of_what_is_sent_later(before: list[Message], more: list[Message]) -> None:
    earlier, later = normalised(before), normalised(before + more)
    assert later[: max(0, len(earlier) - 1)] == earlier[:-1]
    if earlier:
        assert later[len(earlier) - 1].text.startswith(earlier[-1].text)
