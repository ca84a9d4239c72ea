"""Sixty turns with the real local model in a window of 2,048 tokens, each turn another program's."""

import asyncio
import os
from pathlib import Path

from shipchat.core.events import CompactionFinished, TurnCompleted
from shipchat.providers.local import LocalProvider
from shipchat.providers.local_models import LocalModels
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.file.store import FileSessionStore
from shipchat.tokens.o200k import O200kCounter
from tests.sessions.conftest import ScriptedModels

TURNS = 60
WINDOW = 2048
PROMPTS = (
    "Tell me three things about export number {n}.",
    "Write a short Python function that adds {n} to each item of a list.",
    "Fasse das in zwei Sätzen zusammen, bitte. Nummer {n}.",
    "Here is a log of run {n}:\n" + "02:00:01 worker[12] WARN export is slow, retrying in 5 s\n" * 8,
    "请用一句话回答 第 {n} 次导出为什么失败",
)


def sixty_turns(place: Path) -> str:
    """Run 60 turns, a new ChatSession for each; return the figures. Raises AssertionError."""
    return asyncio.run(_run(place))


async def _run(place: Path) -> str:
    default = Path.home() / ".cache" / "shipchat-test-models"
    models = LocalModels(Path(os.environ.get("SHIPCHAT_TEST_MODELS") or default))
    models.pull("smollm2", progress=lambda _: None)
    provider = LocalProvider(models, context=WINDOW)
    access = ScriptedModels(provider, O200kCounter())
    done: list[CompactionFinished] = []
    fullest = 0.0
    try:
        for n in range(TURNS):
            chat = ChatSession(
                FileSessionStore(place / "sessions"),
                "k",
                models=access,
                options=ChatOptions(model="local/smollm2", max_tokens=80),
            )
            last = None
            async for event in chat.send(PROMPTS[n % len(PROMPTS)].format(n=n)):
                last = event
                if isinstance(event, CompactionFinished):
                    done.append(event)
            assert isinstance(last, TurnCompleted), (n, last)
            request, _ = await chat.compaction.sent()
            exact = await provider.count_tokens(request)
            fullest = max(fullest, exact / WINDOW)
            assert exact <= WINDOW, (n, exact)
            assert len(chat.session.path) == 2 * n + 2
    finally:
        await provider.close()
    worked = [one for one in done if one.failure is None]
    assert worked
    return f"{TURNS} turns, {len(worked)} compactions, {len(done) - len(worked)} that failed, window at most {fullest:.0%} full"
