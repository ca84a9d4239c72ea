"""The ports: what sessions need of a store, a provider and a token counter. Implementations are handed in.

A user's store needs only `SessionStore`'s three methods; `stores.complete` gives it the rest in simple form.
Store methods block (they are called off the event loop); providers are asynchronous.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from shipchat.core.drafts import TurnDraft
from shipchat.core.entries import Entry, SessionHeader, SessionRecord
from shipchat.core.errors import HolderInfo
from shipchat.core.events import StreamEvent
from shipchat.core.messages import Json, Message
from shipchat.core.models import ModelInfo
from shipchat.core.search import HitRole, IndexProgress, IndexState, SearchResult
from shipchat.core.summaries import RepairPlan, SessionSummary, TrashedSession


@runtime_checkable
class SessionStore(Protocol):
    """The least a store can be. `load` returns None for an unknown key and raises SessionDamaged for a bad one.

    `save` adds what is new in `record` and refuses (SessionConflict) one that lacks stored entries.
    """

    def load(self, session_id: str) -> SessionRecord | None: ...  # noqa: D102 -- said above

    def save(self, record: SessionRecord) -> None: ...  # noqa: D102 -- said above

    def list_all(self) -> Iterable[SessionRecord]: ...  # noqa: D102 -- said above


Cursor: TypeAlias = object
"""How far a session was read: opaque, made by a store and handed back to it."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What others appended since a cursor, and the new cursor.

    `reloaded`: the file was replaced or mended in between, and `entries` are all of it. `mended` is the path of
    what was cut off a torn file, when this call mended one.
    """

    entries: tuple[Entry, ...]
    cursor: Cursor
    reloaded: bool = False
    mended: str | None = None


class Hold(Protocol):
    """The right to run a turn in one session; dies with its process."""

    def release(self) -> None:
        """Give it up; twice is once."""
        ...


class WindowDraft(Protocol):
    """The unsent text of one open window, locked by it; text of a window that is gone is adopted on opening."""

    @property
    def text(self) -> str:
        """What was adopted or last written."""
        ...

    def write(self, text: str) -> None:
        """Keep `text` on disk; the empty string removes it."""
        ...

    def close(self) -> None:
        """Unlock it; text that is not empty stays for the next window."""
        ...


class Journal(Protocol):
    """Reading and appending one session at a cost that does not grow with it."""

    def open(self, key: str) -> tuple[SessionRecord, Cursor]:
        """Read all of it. Raises SessionNotFound, SessionDamaged, SessionNewer."""
        ...

    def create(self, record: SessionRecord) -> Cursor:
        """Make the session with these entries. Raises SessionExists (also for a key that differs in case)."""
        ...

    def append(self, key: str, entries: Sequence[Entry], cursor: Cursor, *, exclusive: bool) -> Tail:
        """Make `entries` durable and return what others had appended since `cursor` (own entries not among them).

        With `exclusive` (the entries were decided on knowing all up to `cursor`) a structural entry of others in
        between raises SessionConflict and nothing is written. An id that is there already is acknowledged, not
        written twice. Raises StoreUnavailable when it could not be made durable; the file is as before then.
        """
        ...

    def read_new(self, key: str, cursor: Cursor) -> Tail:
        """Return what others appended since `cursor`. Raises SessionNotFound, SessionDamaged."""
        ...

    def fork(
        self, source: str, header: SessionHeader, copied: Sequence[str], then: Sequence[Entry]
    ) -> Cursor:
        """Make a session of the entries of `source` with the ids in `copied` (byte for byte), and `then` after.

        The source needs no hold and is not touched. `header.copied` is filled in by the store.
        """
        ...


class Catalogue(Protocol):
    """Which sessions there are."""

    def keys(self) -> list[str]:
        """Return all keys, damaged ones included, without reading the files."""
        ...

    def summaries(self) -> Iterator[SessionSummary]:
        """Return a row for each session, damaged ones included, in no particular order."""
        ...

    def summary(self, key: str) -> SessionSummary | None:
        """Return the row of one session, None when there is none."""
        ...


class Holds(Protocol):
    """One turn at a time."""

    def hold(self, key: str, program: str) -> Hold:
        """Take the hold within 100 ms or raise SessionHeld; `program` is told to whoever is refused."""
        ...

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds it now, None when nobody does."""
        ...


class Drafts(Protocol):
    """What is on disk before it is a message."""

    def read_turn_draft(self, key: str) -> TurnDraft | None:
        """Return the reply in flight and the queue, None when there is neither (or it can't be read)."""
        ...

    def write_turn_draft(self, key: str, draft: TurnDraft | None, *, durable: bool) -> None:
        """Replace it (None removes it); `durable` waits for the disk. Only the holder may."""
        ...

    def open_window(self, key: str) -> WindowDraft:
        """Return this window's unsent text, adopting what a window that is gone left behind."""
        ...


class Trash(Protocol):
    """Deleting that can be undone."""

    def delete(self, key: str) -> TrashedSession:
        """Move the session to the trash. Raises SessionNotFound."""
        ...

    def restore(self, trash_id: str, *, key: str | None = None) -> str:
        """Bring it back, under `key` when given, and return its key. Raises SessionExists, SessionNotFound."""
        ...

    def trashed(self) -> list[TrashedSession]:
        """Return what can be restored, newest first."""
        ...

    def erase(self, trash_id: str) -> None:
        """Remove it from the trash for good. Raises SessionNotFound."""
        ...


class Repairs(Protocol):
    """Optional: getting out of a damaged session what can be read."""

    def plan_repair(self, key: str) -> RepairPlan:
        """Return what a repair would write, changing nothing. Raises SessionNotFound, SessionDamaged, SessionNewer.

        SessionDamaged means that nothing of it can be read.
        """
        ...

    def repair(self, plan: RepairPlan) -> str:
        """Write it, after a backup whose path is returned. Raises SessionConflict when the file has changed since."""
        ...


class Purges(Protocol):
    """Optional: removing for good everything that is kept of a session."""

    def purge(self, key: str) -> list[str]:
        """Remove the session, its drafts and all of it in the trash; return the paths removed, perhaps none.

        Raises SessionHeld while a turn runs in it, StoreUnavailable.
        """
        ...


class Blobs(Protocol):
    """The bytes of attachments, by their SHA-256 in hexadecimal. Both methods block; may be called from any thread."""

    def put(self, data: bytes) -> str:
        """Keep `data` and return its SHA-256; on return it is as durable as the sessions. Raises StoreUnavailable."""
        ...

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes, None when they are not there, or are not what their name says."""
        ...


class Search(Protocol):
    """Finding words in all sessions. Every method blocks, and may be called from any thread."""

    def search(
        self,
        query: str,
        *,
        tags: Sequence[str] = (),
        archived: bool | None = None,
        role: HitRole | None = None,
        since: datetime | None = None,
        limit: int = 20,
        per_session: int | None = 3,
        prefix_last: bool = False,
        patience: float = 0.3,
    ) -> SearchResult:
        """Return what matches every word of `query`, best first; any text is a valid query.

        `"…"` is a phrase, `word*` a beginning. `archived` of None looks at all sessions. `prefix_last` takes the last
        word as a beginning, for searching while one types. `patience` is how many seconds may be spent on bringing
        the newest sessions up to date first. Raises StoreUnavailable where there can be no index at all.
        """
        ...

    def catch_up(
        self,
        *,
        progress: Callable[[IndexProgress], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> IndexProgress:
        """Bring the full text of all sessions up to date, telling `progress` now and then, until `stop` says so.

        For a thread in the background: can be broken off and resumed at any time, by any process.
        """
        ...

    def forget(self) -> None:
        """Erase from the index every word of sessions that are gone."""
        ...

    def state(self) -> IndexState:
        """Return what there is to say about the index."""
        ...


class FullStore(SessionStore, Journal, Catalogue, Holds, Drafts, Trash, Protocol):
    """A store with every capability: files and memory have them all, `stores.complete` makes one of any store."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Json]


class Tool(Protocol):
    """Something a model may have run: what it is told of it, and how it runs."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema of the arguments."""
        ...

    @property
    def timeout(self) -> float:
        """Seconds after which the model is told that nothing came back."""
        ...

    @property
    def max_output(self) -> int:
        """Characters of a result that the model is sent at most; of a longer one the middle is left out."""
        ...

    async def run(self, arguments: str) -> str:
        """Run with `arguments`, JSON text as the model wrote it, and return what to tell the model.

        Whatever it raises is told to the model as an error; cancelling it abandons the call.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What one model call is sent: a projection of a session, never stored.

    `model` is the provider's own name of it; `max_tokens` limits the reply (None: the provider's default). Text files are
    text here already; `blobs` gives the bytes of pictures and PDF files.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    max_tokens: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    blobs: Blobs | None = field(default=None, compare=False, repr=False)


class Provider(Protocol):
    """Something that answers: an API, a server, a model on this machine."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Yield the reply as it comes, and exactly one StreamEnded last.

        Raises ProviderError (or ModelMissing, ContextOverflow). Closing the iterator cancels the call at once.
        """
        ...

    async def info(self, model: str) -> ModelInfo:
        """Return window and limits of `model`; cautious figures for one that nothing is known of.

        Raises ModelMissing or ProviderAuth when it can't be asked at all (not fetched, no key), so that a turn
        that can't succeed is refused before anything is stored.
        """
        ...

    async def close(self) -> None:
        """Free connections and processes."""
        ...


class TokenCounter(Protocol):
    """Counts tokens of text with the o200k encoding."""

    def count(self, text: str) -> int:
        """Return the tokens of `text`; blocks (the first call loads a table: up to 0.5 s)."""
        ...
