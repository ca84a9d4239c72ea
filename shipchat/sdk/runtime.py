"""What agents of one process share: the background loop, the usual services, and closing both at the end."""

import contextlib
import os
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shipchat.core.models import ModelRef
from shipchat.core.protocols import Blobs, FullStore, Provider, SessionStore, TokenCounter
from shipchat.sdk.background import BackgroundLoop
from shipchat.sessions.options import ModelAccess
from shipchat.sessions.tools import Equipped, Toolbox

if TYPE_CHECKING:
    from shipchat.bootstrap import Services
    from shipchat.config.paths import Directories

PROGRAM: Final = "a Python program"
"""What others are told of who holds a session."""

BACKGROUND: Final = BackgroundLoop()
"""The one loop of this process; starts when it is first used."""

_services: Final[dict["Directories", "Services"]] = {}
_guard: Final = threading.Lock()
_handed_in: Final[dict[int, "weakref.ref[Provider]"]] = {}

if hasattr(os, "register_at_fork"):
    # What a forked child inherited belongs to its parent: the child makes its own, and closes only that.
    os.register_at_fork(after_in_child=_services.clear)
    os.register_at_fork(after_in_child=_handed_in.clear)


def shared_services() -> "Services":
    """Return the services of the directories that the environment names now, the same ones each time.

    So all agents share one local model; the settings are read once. Raises ConfigInvalid, StoreUnavailable.
    """
    from shipchat.bootstrap import services
    from shipchat.config.paths import directories

    where = directories()
    with _guard:
        made = _services.get(where)
        if made is None:
            made = _services[where] = services(PROGRAM, where=where)
            BACKGROUND.at_exit(made.models.close)
        return made


def full_store(store: SessionStore | None) -> FullStore:
    """Return `store` with every capability; None means the one in the platform's data directory."""
    from shipchat.stores.complete import complete

    return shared_services().sessions.store if store is None else complete(store)


def same_store(one: SessionStore | None, other: SessionStore | None) -> bool:
    """Return whether both are one store: one object, or the same directory."""
    if one is other:
        return True
    roots = [getattr(full_store(store), "root", None) for store in (one, other)]
    return roots[0] is not None and roots[0] == roots[1]


def blobs_beside(store: FullStore) -> Blobs:
    """Return where the attachments of sessions in `store` are kept: with the sessions, as durable as they are.

    Of a directory called `sessions` it is `blobs` beside it, as in the platform's data directory; of another one
    `.blobs` in it. Sessions in memory have theirs in memory, those of a store of another kind in the data directory.
    """
    from shipchat.stores.blobs import FileBlobs, MemoryBlobs
    from shipchat.stores.memory import InMemorySessionStore

    root = getattr(store, "root", None)
    if isinstance(root, Path):
        return FileBlobs(root.parent / "blobs" if root.name == "sessions" else root / ".blobs")
    return MemoryBlobs() if isinstance(store, InMemorySessionStore) else _PlatformBlobs()


class _PlatformBlobs:
    """Blobs in the platform's data directory, which is not looked for before there is an attachment."""

    def put(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256. Raises ConfigInvalid, StoreUnavailable."""
        return self._blobs.put(data)

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes, None when they are not there."""
        return self._blobs.read(sha256)

    @property
    def _blobs(self) -> Blobs:
        from shipchat.config.paths import directories
        from shipchat.stores.blobs import FileBlobs

        return FileBlobs(directories().blobs)


class SharedModels:
    """The models of the shared services, with an agent's tools; implements `sessions.options.ModelAccess`."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._models: ModelAccess = shared_services().models
        self._toolbox = toolbox

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        return self._models.counter

    def provider(self, ref: ModelRef) -> Provider:
        """Return who answers for `ref`. Raises ModelMissing for an unknown provider."""
        return Equipped(self._models.provider(ref), self._toolbox)


class OwnModels:
    """A provider that the user handed in, which answers for every model; with an agent's tools."""

    def __init__(self, provider: Provider, toolbox: Toolbox) -> None:
        self._provider = Equipped(provider, toolbox)
        self._counter: TokenCounter | None = None
        _close_at_exit(provider)

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        if self._counter is None:
            from shipchat.tokens.o200k import O200kCounter

            self._counter = O200kCounter()
        return self._counter

    def provider(self, ref: ModelRef) -> Provider:
        """Return the one provider."""
        del ref
        return self._provider


def _close_at_exit(provider: Provider) -> None:
    """Have a provider that was handed in closed on the loop it worked on, unless it is gone before."""
    with _guard, contextlib.suppress(TypeError):  # a class that leaves no place for weak references
        BACKGROUND.at_exit(_close_handed_in)
        name = id(provider)
        _handed_in[name] = weakref.ref(provider, lambda _: _handed_in.pop(name, None))


async def _close_handed_in() -> None:
    for reference in list(_handed_in.values()):
        provider = reference()
        if provider is not None:
            with contextlib.suppress(Exception):  # one that fails must not keep the others open
                await provider.close()
