"""What commands and interactive front ends are handed, as ports; `bootstrap` makes what implements them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shipchat.config.paths import Directories
from shipchat.config.settings import Settings
from shipchat.core.models import ModelRef
from shipchat.core.protocols import Provider, Search, TokenCounter
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.session_manager import SessionManager

if TYPE_CHECKING:
    from shipchat.config.credentials import Credentials
    from shipchat.providers.offered import OfferedModel
    from shipchat.providers.registry import Registry


class Chats(Protocol):
    """Opens sessions to talk in."""

    def open(
        self,
        key: str | None,
        *,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
    ) -> ChatSession:
        """Return the session `key` (None: a new one); nothing is read or made before it is used."""
        ...

    def private(
        self,
        *,
        copy_of: str | None = None,
        model: str | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
    ) -> ChatSession:
        """Return a session that is never written anywhere. With `copy_of` this blocks: it reads that one."""
        ...


class KnownModel(Protocol):
    """A model that can be fetched; sizes in bytes, the context in tokens."""

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    @property
    def download_size(self) -> int:
        """How much is fetched."""
        ...

    @property
    def trained_context(self) -> int:
        """The longest context it can use."""
        ...


class InstalledModel(Protocol):
    """A model that is here."""

    @property
    def name(self) -> str:
        """What follows `local/`."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...


class LocalModels(Protocol):
    """The models on this machine. Every method blocks."""

    @property
    def catalogue(self) -> Mapping[str, KnownModel]:
        """Those that can be fetched, by the name after `local/`."""
        ...

    def installed(self) -> Sequence[InstalledModel]:
        """Return those that are here."""
        ...

    def pull(self, name: str, *, progress: Callable[[Any], None]) -> Path:
        """Fetch one; `progress` is told `stage`, `done` and `total` (bytes), and ends the pull by raising."""
        ...


class Models(Protocol):
    """Where models come from."""

    @property
    def local(self) -> LocalModels:
        """The models on this machine."""
        ...

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        ...

    @property
    def credentials(self) -> "Credentials":
        """The keys of providers."""
        ...

    @property
    def registry(self) -> "Registry":
        """The providers by name, and the servers they ask."""
        ...

    def provider(self, ref: ModelRef) -> Provider:
        """Return who answers for `ref`. Blocks. Raises ModelMissing."""
        ...

    def offered(self) -> "Sequence[OfferedModel]":
        """Return the models of servers that can be chosen now. Blocks for up to 0.3 s. Raises ConfigInvalid."""
        ...

    async def close(self) -> None:
        """Stop what providers run."""
        ...


class Services(Protocol):
    """The bundle that `bootstrap.services` makes."""

    @property
    def settings(self) -> Settings:
        """As they were at the start."""
        ...

    @property
    def directories(self) -> Directories:
        """Where things are."""
        ...

    @property
    def sessions(self) -> SessionManager:
        """Acts on sessions as wholes; blocks."""
        ...

    @property
    def chats(self) -> Chats:
        """Opens sessions."""
        ...

    @property
    def models(self) -> Models:
        """Where models come from."""
        ...

    @property
    def search(self) -> Search:
        """Finds words in all sessions; blocks."""
        ...
