"""Compaction and counting with the real local model: a real tokenizer, a real window, summaries of a toy."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shipchat.core.events import CompactionFinished, TurnCompleted
from shipchat.core.messages import AssistantMessage
from shipchat.providers.local import LocalProvider
from shipchat.providers.local_models import LocalModels
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.file.store import FileSessionStore
from shipchat.tokens.o200k import O200kCounter
from tests.model_fixture import local_model_dir
from tests.sessions.conftest import ScriptedModels
from tests.sessions.events import all_of

__all__ = ["local_model_dir"]

pytestmark = pytest.mark.model

TEXTS = {
    "English": "The nightly export of the warehouse fails with a timeout at two in the morning, and nobody knows why. ",
    "code": "def total(rows: list[dict[str, int]]) -> int:\n    return sum(row['price'] * row['count'] for row in rows)\n\n",
    "CJK": "昨晚的数据导出失败了，请帮我找出原因。夜間のエクスポートがタイムアウトで失敗しました。",
    "emoji": "🚀🎉 shipped! 👩‍💻👍🏽 tests are green ✅ and 🐛 is gone 🇯🇵 ",
}


@pytest.fixture
async def provider(local_model_dir: Path) -> AsyncIterator[LocalProvider]:
    made = LocalProvider(LocalModels(local_model_dir), context=2048)
    yield made
    await made.close()


def open_chat(provider: LocalProvider, place: Path, key: str, max_tokens: int) -> ChatSession:
    return ChatSession(
        FileSessionStore(place / "sessions"),
        key,
        models=ScriptedModels(provider, O200kCounter()),
        options=ChatOptions(model="local/smollm2", max_tokens=max_tokens),
    )


@pytest.mark.parametrize("kind", TEXTS)
async def test_the_estimate_is_within_a_tenth_of_the_servers_own_count(
    provider: LocalProvider, tmp_path: Path, kind: str
) -> None:
    chat = open_chat(provider, tmp_path, kind, 8)
    await all_of(chat.send(TEXTS[kind] * 3))
    await all_of(chat.send(TEXTS[kind] * 2))
    request, _ = await chat.compaction.sent()
    exact = await provider.count_tokens(request)
    use = await chat.context()
    assert abs(use.used - exact) <= 0.1 * exact, (use.used, exact)
    again = open_chat(provider, tmp_path, kind, 8)  # and so it is in the next program
    await again.refresh()
    assert (await again.context()).used == use.used
    reported = [
        m.usage.input_tokens for m in chat.session.messages() if isinstance(m, AssistantMessage) and m.usage
    ]
    assert len(reported) == 2


async def test_turns_go_on_in_a_small_window_and_across_restarts(
    provider: LocalProvider, tmp_path: Path
) -> None:
    done: list[CompactionFinished] = []
    for n in range(5):
        chat = open_chat(provider, tmp_path, "k", 16)
        events = await all_of(chat.send(f"Note number {n}: " + TEXTS["English"] * 20))
        assert isinstance(events[-1], TurnCompleted)
        done += [event for event in events if isinstance(event, CompactionFinished)]
    assert [one.failure for one in done if one.failure is None]
    assert len(chat.session.path) == 10
    proposal = await chat.compaction.propose()
    assert proposal.exact
