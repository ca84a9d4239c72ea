"""The composition root: settings become a frozen bundle of small objects, which front ends are handed.

Cheap on purpose: no SDK, no event loop, no token table is loaded before something needs it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from shipchat.config.paths import Directories, directories
from shipchat.config.settings import Settings, load_settings
from shipchat.core.context import DEFAULT_SYSTEM
from shipchat.core.entries import SessionHeader
from shipchat.core.keys import check_key, new_key
from shipchat.core.models import ModelRef
from shipchat.core.protocols import FullStore, Provider, TokenCounter
from shipchat.sessions.session_manager import SessionManager

if TYPE_CHECKING:
    from shipchat.providers.local_models import LocalModels
    from shipchat.providers.registry import Registry
    from shipchat.sessions.chat_session import ChatSession
    from shipchat.sessions.options import ChatOptions

PROVIDERS_VARIABLE: Final = "SHIPCHAT_EXTRA_PROVIDERS"
"""More providers, `name=module:factory` separated by commas: for one's own, and for tests."""


@dataclass(slots=True)
class Models:
    """Where models come from; implements `sessions.options.ModelAccess`."""

    settings: Settings
    directories: Directories
    _registry: "Registry | None" = None
    _counter: TokenCounter | None = None

    @property
    def local(self) -> "LocalModels":
        """The models on this machine: listing, pulling, removing."""
        from shipchat.providers.local_models import LocalModels

        return LocalModels(self.directories.models)

    @property
    def registry(self) -> "Registry":
        """The providers by name."""
        if self._registry is None:
            from shipchat.providers.registry import ProviderSettings, Registry, factories_from

            self._registry = Registry(
                ProviderSettings(
                    models_directory=self.directories.models,
                    context=self.settings.local.context,
                    extra=factories_from(os.environ.get(PROVIDERS_VARIABLE, "")),
                )
            )
        return self._registry

    @property
    def counter(self) -> TokenCounter:
        """Counts tokens; its table is loaded by the first count."""
        if self._counter is None:
            from shipchat.tokens.o200k import O200kCounter

            self._counter = O200kCounter()
        return self._counter

    def provider(self, ref: ModelRef) -> Provider:
        """Return who answers for `ref`. Raises ModelMissing for an unknown provider."""
        return self.registry.provider_for(ref)

    async def close(self) -> None:
        """Stop what providers run."""
        if self._registry is not None:
            await self._registry.close_all()


@dataclass(frozen=True, slots=True)
class Chats:
    """Opens sessions to talk in."""

    store: FullStore
    models: Models
    settings: Settings
    program: str
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def open(
        self,
        key: str | None,
        *,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
    ) -> "ChatSession":
        """Return the session `key` (None: a new one) to talk in; nothing is read or made before it is used.

        Raises SessionKeyInvalid.
        """
        from shipchat.sessions.chat_session import ChatSession

        now = self.clock()
        name = new_key(now) if key is None else check_key(key)
        return ChatSession(
            self.store,
            name,
            models=self.models,
            options=self._options(model, system, max_tokens),
            header=SessionHeader(key=name, created=now),
        )

    def private(
        self,
        *,
        copy_of: str | None = None,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
    ) -> "ChatSession":
        """Return a session that is never written anywhere; with `copy_of` it begins as a copy of that one.

        Raises SessionNotFound, SessionDamaged.
        """
        from shipchat.sessions.chat_session import ChatSession
        from shipchat.stores.memory import InMemorySessionStore

        memory = InMemorySessionStore()
        now = self.clock()
        key = new_key(now) if copy_of is None else copy_of
        if copy_of is not None:
            record, _ = self.store.open(copy_of)
            memory.save(record)
        return ChatSession(
            memory,
            key,
            models=self.models,
            options=self._options(model, system, max_tokens),
            header=SessionHeader(key=key, created=now),
        )

    def _options(self, model: str | None, system: str | None, max_tokens: int | None) -> "ChatOptions":
        from shipchat.sessions.options import ChatOptions

        return ChatOptions(
            model=model,
            system=system,
            max_tokens=max_tokens if max_tokens is not None else self.settings.max_tokens,
            default_model=self.settings.default_model,
            default_system=DEFAULT_SYSTEM if self.settings.system is None else self.settings.system,
            program=self.program,
        )


@dataclass(frozen=True, slots=True)
class Services:
    """What front ends are handed."""

    settings: Settings
    directories: Directories
    sessions: SessionManager
    chats: Chats
    models: Models


def services(program: str, settings: Settings | None = None, where: Directories | None = None) -> Services:
    """Return the services for `program`, which is what others are told of who holds a session.

    Raises ConfigInvalid, and StoreUnavailable when the data directory can't be used.
    """
    from shipchat.stores.file.store import FileSessionStore

    where = directories() if where is None else where
    settings = load_settings(where=where) if settings is None else settings
    store = FileSessionStore(where.sessions)
    models = Models(settings, where)
    return Services(
        settings=settings,
        directories=where,
        sessions=SessionManager(store),
        chats=Chats(store, models, settings, program),
        models=models,
    )
