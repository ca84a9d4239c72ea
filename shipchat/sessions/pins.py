"""Pinning messages: what a compaction always keeps. Takes the hold for the instant, since it changes what is sent."""

from shipchat.core.entries import SetEntry
from shipchat.core.ids import new_id
from shipchat.core.session import Session, fold, new_session
from shipchat.sessions.session_manager import SessionManager


def pin(manager: SessionManager, key: str, message: int | str, *, program: str = "shipchat pin") -> Session:
    """Pin the message at a position (or with an id); pinning it twice is once.

    Raises SessionHeld while a turn runs, MessageNotFound (naming the valid range), SessionNotFound.
    """
    return _change(manager, key, message, program, pinned=True)


def unpin(
    manager: SessionManager, key: str, message: int | str, *, program: str = "shipchat unpin"
) -> Session:
    """Take a pin off. Raises as `pin` does."""
    return _change(manager, key, message, program, pinned=False)


def _change(manager: SessionManager, key: str, message: int | str, program: str, *, pinned: bool) -> Session:
    manager.open(key).find_message(message)  # a wrong position is told before anybody is asked to wait
    hold = manager.store.hold(key, program)
    try:
        session, cursor = manager.open_at(key)
        found = session.find_message(message).id
        if (found in session.pins) == pinned:
            return session
        entry = SetEntry(
            id=new_id(),
            at=manager.now(),
            add_pins=(found,) if pinned else (),
            remove_pins=() if pinned else (found,),
        )
        tail = manager.store.append(session.key, (entry,), cursor, exclusive=True)
        base = new_session(session.header) if tail.reloaded else session
        return fold(base, (*tail.entries, entry))
    finally:
        hold.release()
