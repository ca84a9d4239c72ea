"""Compaction and counting with the real local model: a real tokenizer, a real window, summaries of a toy."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shipchat.core.events import CompactionFinished, TurnCompleted
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
    "CJK": "昨晚的数据导出失败了、请帮我找出原因。夜間のエクスポートがタイムアウトで失敗しました。",
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


async def test_the_estimate_is_within_a_tenth_of_the_servers_own_count(
    provider: LocalProvider, tmp_path: Path
) -> None:
    apart: dict[str, float] = {}
    for kind, text in TEXTS.items():
        chat = open_chat(provider, tmp_path, kind, 2)
        await all_of(chat.send(text * 3))
        await all_of(chat.send(text * 2))
        request, _ = await chat.compaction.sent()
        exact = await provider.count_tokens(request)
        use = await chat.context()
        apart[kind] = abs(use.used / exact - 1)
        again = open_chat(provider, tmp_path, kind, 2)  # and so it is in the next program
        await again.refresh()
        assert await again.context() == use
    assert max(apart.values()) <= 0.1, apart


async def test_turns_go_on_in_a_small_window_and_across_restarts(
    local_model_dir: Path,
    tmp_path: Path,
) -> None:
    provider = LocalProvider(LocalModels(local_model_dir), context=1024)
    done: list[CompactionFinished] = []
    try:
        for n in range(3):
            chat = open_chat(provider, tmp_path, "k", 8)
            events = await all_of(chat.send(f"Note number {n}: " + TEXTS["English"] * 12))
            assert isinstance(events[-1], TurnCompleted)
            done += [event for event in events if isinstance(event, CompactionFinished)]
            assert len(chat.session.path) == 2 * n + 2
    finally:
        await provider.close()
    assert [one.failure for one in done if one.failure is None]
