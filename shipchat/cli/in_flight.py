"""A session together with the reply that is being received in it, or that was when its process died."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

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
    session = services.sessions.open(key)
    store = services.sessions.store
    draft = store.read_turn_draft(session.key)
    if draft is not None and draft.reply is not None and draft.reply.id not in session.tree:
        session = services.sessions.open(key)  # it may have been stored between the two reads
    recovered = recover(draft, session, (), lambda: datetime.now(UTC))
    return fold(session, recovered.entries[:1]), store.holder(session.key)
