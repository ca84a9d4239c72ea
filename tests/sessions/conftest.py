"""Chats on real stores with a scripted model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shipchat.core.models import ModelRef
from shipchat.core.protocols import FullStore, Provider, TokenCounter
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file.store import FileSessionStore
from shipchat.stores.memory import InMemorySessionStore
from shipchat.testing.scripted import ScriptedProvider


class WordCounter:
    """Counts words: enough to see what is counted."""

    def count(self, text: str) -> int:
        return len(text.split())


@dataclass
class ScriptedModels:
    """Every model is answered by one scripted provider."""

    scripted: Provider
    counter: TokenCounter = field(default_factory=WordCounter)
    asked: list[ModelRef] = field(default_factory=list)

    def provider(self, ref: ModelRef) -> Provider:
        self.asked.append(ref)
        return self.scripted


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FullStore:
    return FileSessionStore(tmp_path / "sessions") if request.param == "file" else InMemorySessionStore()


@pytest.fixture
def file_store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


@pytest.fixture
def manager(store: FullStore) -> SessionManager:
    return SessionManager(store)


OpenChat = Callable[..., ChatSession]


@pytest.fixture
def open_chat(store: FullStore) -> OpenChat:
    """Return a way to open a window on a session: `open_chat("ticket-812", provider)`."""

    def open_chat(
        key: str, provider: ScriptedProvider, *, on: FullStore | None = None, **options: Any
    ) -> ChatSession:
        return ChatSession(
            on or store,
            key,
            models=ScriptedModels(provider),
            options=ChatOptions(default_model="scripted/one", **options),
        )

    return open_chat
