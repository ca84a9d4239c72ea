"""The row a list shows of a record in memory; files have a quicker way to the same row (`formats.summary`)."""

from shipchat.core.entries import MessageEntry, SessionRecord
from shipchat.core.messages import AssistantMessage
from shipchat.core.session import session_from
from shipchat.core.summaries import SessionSummary


def summary_of(record: SessionRecord) -> SessionSummary:
    """Return the row of a whole record. `model` is the one that was set, else that of the newest reply."""
    session = session_from(record)
    replies = (
        entry.message.model
        for entry in reversed(record.entries)
        if isinstance(entry, MessageEntry)
        and isinstance(entry.message, AssistantMessage)
        and entry.message.model
    )
    return SessionSummary(
        key=record.key,
        title=session.title,
        created=session.created,
        updated=session.updated,
        tags=session.tags,
        archived=session.archived,
        messages=len(session.path),
        model=session.model or next(replies, None),
        forked_from=session.forked_from,
        old_titles=session.old_titles,
    )
