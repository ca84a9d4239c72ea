"""Up and Down walk through earlier prompts and always come back to the draft."""

from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.widgets.prompt_history import CAPACITY, PromptHistory


def walk(history: PromptHistory, shown: str, keys: str) -> str:
    for key in keys:
        step = history.older(shown) if key == "u" else history.newer()
        if step is not None:
            history, shown = step
    return shown


def test_walking() -> None:
    history = PromptHistory.of(["one", "two"])
    assert [walk(history, "draft", keys) for keys in ("", "u", "uu", "uuu", "uud", "uudd", "uuddd", "d")] == [
        "draft",
        "two",
        "one",
        "one",
        "two",
        "draft",
        "draft",
        "draft",
    ]


def test_an_edit_of_an_old_prompt_does_not_replace_the_draft() -> None:
    history, shown = PromptHistory.of(["one", "two"]).older("draft") or (None, "")
    assert (history, shown) == (PromptHistory(("one", "two"), 1, "draft"), "two")
    assert history is not None
    again = history.older("two, changed")
    assert again == (PromptHistory(("one", "two"), 0, "draft"), "one")


def test_what_is_sent_or_cleared_comes_back_with_up() -> None:
    assert PromptHistory.of(["one"]).remember("two") == PromptHistory.of(["one", "two"])
    assert PromptHistory.of(["one"]).remember("one") == PromptHistory.of(["one"])
    assert PromptHistory.of(["one"]).remember("  \n") == PromptHistory.of(["one"])


def test_a_draft_set_aside_by_a_walk_is_not_lost_when_an_old_prompt_is_sent() -> None:
    history, shown = PromptHistory.of(["one"]).older("half a thought") or (None, "")
    assert history is not None
    assert history.remember(shown) == PromptHistory.of(["one", "half a thought", "one"])


def test_there_is_an_end_to_it() -> None:
    assert PromptHistory.of(map(str, range(CAPACITY + 5))).entries == tuple(map(str, range(5, CAPACITY + 5)))


@given(st.lists(st.text(max_size=5), max_size=6), st.text(max_size=5), st.text("ud", max_size=20))
def test_enough_downs_always_bring_the_draft_back(entries: list[str], draft: str, keys: str) -> None:
    assert walk(PromptHistory.of(entries), draft, keys + "d" * len(entries)) == draft
