"""A session together with the reply that is being received in it, or that was when its process died."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from shipchat.core.entries import Entry
from shipchat.core.errors import HolderInfo
from shipchat.core.session import Session, fold
from shipchat.sessions.recovery import recover

if TYPE_CHECKING:
    from shipchat.bootstrap import Services


def open_with_reply(services: "Services", key: str) -> tuple[Session, HolderInfo | None]:
    """Return the session as far as it has come, reply in flight included, and who runs a turn in it now.

    That reply is an interrupted message at the end: as the next turn would store it if its process were gone. Only
    reads. Raises SessionNotFound, SessionDamaged.
    """
    session, entries = _read(services, key)
    return fold(session, entries), services.sessions.store.holder(session.key)


def reply_in_flight(services: "Services", key: str) -> tuple[Entry, ...]:
    """Return that reply as the entry it would be, or nothing. Raises SessionNotFound, SessionDamaged."""
    return _read(services, key)[1]


def _read(services: "Services", key: str) -> tuple[Session, tuple[Entry, ...]]:
    session = services.sessions.open(key)
    draft = services.sessions.store.read_turn_draft(session.key)
    if draft is not None and draft.reply is not None and draft.reply.id not in session.tree:
        session = services.sessions.open(key)  # it may have been stored between the two reads
    recovered = recover(draft, session, (), lambda: datetime.now(UTC))
    return session, tuple(recovered.entries[:1])
