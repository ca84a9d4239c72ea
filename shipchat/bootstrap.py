"""The composition root: settings become a frozen bundle of small objects, which front ends are handed.

Cheap on purpose: no SDK, no event loop, no token table is loaded before something needs it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipchat.config.paths import Directories, directories
from shipchat.config.settings import Settings, load_settings
from shipchat.core.context import DEFAULT_SYSTEM
from shipchat.core.entries import SessionHeader
from shipchat.core.errors import ConfigInvalid
from shipchat.core.keys import check_key, new_key
from shipchat.core.models import ModelRef
from shipchat.core.protocols import FullStore, Provider, Search, TokenCounter
from shipchat.sessions.session_manager import SessionManager

if TYPE_CHECKING:
    from shipchat.config.credentials import Credentials
    from shipchat.exchange.exchange import Exchange
    from shipchat.index.catalogue import IndexedCatalogue
    from shipchat.index.search import SessionSearch
    from shipchat.providers.local_models import LocalModels
    from shipchat.providers.offered import OfferedModel
    from shipchat.providers.registry import Registry
    from shipchat.sessions.chat_session import ChatSession
    from shipchat.sessions.options import ChatOptions, CompactionOptions
    from shipchat.stores.file.store import FileSessionStore

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
            from shipchat.providers.servers import known_servers

            self._registry = Registry(
                ProviderSettings(
                    models_directory=self.directories.models,
                    context=self.settings.local.context,
                    servers=known_servers(
                        self.settings.providers,
                        self._key,
                        stall=self.settings.stall_timeout,
                        effort=self.settings.effort,
                    ),
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

    @property
    def credentials(self) -> "Credentials":
        """The keys of providers."""
        from shipchat.config.credentials import Credentials

        return Credentials(self.directories.config)

    def provider(self, ref: ModelRef) -> Provider:
        """Return who answers for `ref`. Raises ModelMissing for an unknown provider."""
        return self.registry.provider_for(ref)

    def offered(self) -> "list[OfferedModel]":
        """Return the models of servers that can be chosen now, without asking a vendor.

        Those of the config, of vendors that there is a key for, and of servers found running on this machine.
        Blocks, for at most a third of a second. Raises ConfigInvalid when the file of keys can't be read.
        """
        from shipchat.providers.discovery import find_servers
        from shipchat.providers.offered import offered_models

        return offered_models(self.registry.servers(), find_servers() if self.settings.discover else ())

    async def list_models(self, provider: str) -> "list[OfferedModel]":
        """Return the models that `provider` itself lists. Raises ModelMissing, ProviderError."""
        from shipchat.providers.offered import listed_models

        return await listed_models(self.registry, provider)

    def _key(self, provider: str, variable: str | None) -> str | None:
        found = self.credentials.find(provider, variable)
        return None if found is None else found.key

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
        mentions: bool = True,
    ) -> "ChatSession":
        """Return the session `key` (None: a new one) to talk in; nothing is read or made before it is used.

        With `mentions` files that a prompt names as `@path` go with it: for prompts that people type.

        Raises SessionKeyInvalid.
        """
        from shipchat.sessions.chat_session import ChatSession
        from shipchat.stores.blobs import FileBlobs

        now = self.clock()
        name = new_key(now) if key is None else check_key(key)
        return ChatSession(
            self.store,
            name,
            models=self.models,
            options=self._options(model, system, max_tokens, mentions=mentions),
            header=SessionHeader(key=name, created=now),
            blobs=FileBlobs(self.models.directories.blobs),
        )

    def private(
        self,
        *,
        copy_of: str | None = None,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
        mentions: bool = True,
    ) -> "ChatSession":
        """Return a session that is never written anywhere; with `copy_of` it begins as a copy of that one.

        Raises SessionNotFound, SessionDamaged.
        """
        from shipchat.sessions.chat_session import ChatSession
        from shipchat.stores.blobs import FileBlobs, MemoryBlobs
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
            options=self._options(model, system, max_tokens, mentions=mentions),
            header=SessionHeader(key=key, created=now),
            blobs=MemoryBlobs(behind=FileBlobs(self.models.directories.blobs)),
        )

    def _options(
        self, model: str | None, system: str | None, max_tokens: int | None, *, mentions: bool
    ) -> "ChatOptions":
        from shipchat.sessions.options import ChatOptions

        return ChatOptions(
            model=model,
            system=system,
            max_tokens=max_tokens if max_tokens is not None else self.settings.max_tokens,
            default_model=self.settings.default_model,
            default_system=DEFAULT_SYSTEM if self.settings.system is None else self.settings.system,
            program=self.program,
            compaction=self._compaction(),
            overflow=self.settings.overflow,
            mentions=mentions,
        )

    def _compaction(self) -> "CompactionOptions":
        from shipchat.sessions.options import CompactionOptions

        table = self.settings.compaction
        return CompactionOptions(
            mode=table.mode,
            share=table.share,
            keep=table.keep,
            model=table.model,
            instructions=table.instructions,
            prompt=None if table.prompt_file is None else self._prompt(table.prompt_file),
            timeout=table.timeout,
            shares={name: one.share for name, one in table.models.items() if one.share is not None},
            keeps={name: one.keep for name, one in table.models.items() if one.keep is not None},
        )

    def _prompt(self, name: str) -> str:
        """Return the text of the user's own prompt for summaries, in a file beside the config when not absolute."""
        config = self.models.directories.config
        path = Path(name).expanduser() if config is None else config / Path(name).expanduser()
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigInvalid(
                f"compaction.prompt_file: {path} can't be read",
                advice=(
                    "It is the text that asks for a summary; {words} and {headings} in it are filled in.",
                ),
                details={"path": str(path), "reason": str(error)},
            ) from None


@dataclass(slots=True)
class Index:
    """The catalogue and the full text of the sessions, loaded when they are first needed."""

    store: "FileSessionStore"
    directories: Directories
    _catalogue: "IndexedCatalogue | None" = None
    _search: "SessionSearch | None" = None

    @property
    def catalogue(self) -> "IndexedCatalogue":
        """The sessions at the speed of an index."""
        if self._catalogue is None:
            from shipchat.index.catalogue import IndexedCatalogue

            root = self.directories.sessions
            self._catalogue = IndexedCatalogue(self.store, root, self.directories.cache / "index.sqlite3")
        return self._catalogue

    @property
    def search(self) -> "SessionSearch":
        """Finds words in all sessions."""
        if self._search is None:
            from shipchat.index.search import SessionSearch

            self._search = SessionSearch(self.catalogue, self.directories.sessions)
        return self._search


@dataclass(frozen=True, slots=True)
class Services:
    """What front ends are handed."""

    settings: Settings
    directories: Directories
    sessions: SessionManager
    chats: Chats
    models: Models
    index: Index

    @property
    def search(self) -> Search:
        """Finds words in all sessions."""
        return self.index.search

    @property
    def exchange(self) -> "Exchange":
        """Takes sessions out as files of other kinds, and in again."""
        from shipchat.exchange.exchange import Exchange

        return Exchange(self.sessions.store, self.directories.blobs)


def services(program: str, settings: Settings | None = None, where: Directories | None = None) -> Services:
    """Return the services for `program`, which is what others are told of who holds a session.

    Raises ConfigInvalid, and StoreUnavailable when the data directory can't be used.
    """
    from shipchat.stores.file.store import FileSessionStore

    where = directories() if where is None else where
    settings = load_settings(where=where) if settings is None else settings
    store = FileSessionStore(where.sessions)
    models = Models(settings, where)
    index = Index(store, where)
    return Services(
        settings=settings,
        directories=where,
        sessions=SessionManager(store, catalogue=index.catalogue),
        chats=Chats(store, models, settings, program),
        models=models,
        index=index,
    )
