"""What a program is told of a session without opening it."""

from dataclasses import dataclass
from datetime import datetime

from shipchat.core.entries import ForkOrigin
from shipchat.core.errors import HolderInfo
from shipchat.core.summaries import Damage, SessionSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One session of a list. `updated_at` is the time of the latest message (of creation when there is none).

    `holder` is who runs a turn in it now, `damage` why it can't be opened whole.

    >>> from shipchat import Agent, InMemorySessionStore, SessionManager
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> agent = Agent(provider=ScriptedProvider(["A lock."]), session_store=store, session_id="ticket-812")
    >>> _ = agent.run("The nightly export fails.")
    >>> [info] = SessionManager(store).list_sessions()
    >>> info.session_id, info.title, info.message_count, info.archived
    ('ticket-812', 'The nightly export fails.', 2, False)
    """

    session_id: str
    title: str
    created_at: datetime
    updated_at: datetime
    tags: tuple[str, ...] = ()
    archived: bool = False
    message_count: int = 0
    model: str | None = None
    forked_from: ForkOrigin | None = None
    holder: HolderInfo | None = None
    damage: Damage | None = None

    @property
    def summary(self) -> str:
        """One line that says what it is about: the title, which is the first prompt's first line unless set."""
        return self.title


def info_of(row: SessionSummary) -> SessionInfo:
    """Return a row of a store as a program is told of it."""
    return SessionInfo(
        session_id=row.key,
        title=row.title,
        created_at=row.created,
        updated_at=row.updated,
        tags=row.tags,
        archived=row.archived,
        message_count=row.messages,
        model=row.model,
        forked_from=row.forked_from,
        holder=row.holder,
        damage=row.damage,
    )
