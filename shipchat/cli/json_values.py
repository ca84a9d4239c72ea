"""Rows and sessions as JSON values with the names that `shipchat help json` documents."""

from typing import Any

from shipchat.core.entries import ForkOrigin
from shipchat.core.errors import HolderInfo
from shipchat.core.session import Session
from shipchat.core.summaries import SessionSummary, TrashedSession
from shipchat.headless.json_values import message_value, time_text


def summary_value(row: SessionSummary) -> dict[str, Any]:
    """Return a row of `list`."""
    damage = row.damage
    return {
        "key": row.key,
        "title": row.title,
        "tags": list(row.tags),
        "archived": row.archived,
        "messages": row.messages,
        "model": row.model,
        "created_at": time_text(row.created),
        "updated_at": time_text(row.updated),
        "size": row.size,
        "forked_from": origin_value(row.forked_from),
        "running": holder_value(row.holder),
        "damage": None
        if damage is None
        else {"path": damage.path, "line": damage.line, "reason": damage.reason, "code": damage.code},
    }


def origin_value(origin: ForkOrigin | None) -> dict[str, Any] | None:
    """Return where a fork parted from its parent."""
    if origin is None:
        return None
    return {"key": origin.key, "message": origin.message, "position": origin.position}


def holder_value(holder: HolderInfo | None) -> dict[str, Any] | None:
    """Return who runs a turn."""
    if holder is None:
        return None
    return {
        "pid": holder.pid,
        "host": holder.host,
        "since": time_text(holder.since),
        "program": holder.program,
    }


def session_value(session: Session, first: int = 1, last: int | None = None) -> dict[str, Any]:
    """Return a session with its messages from position `first` to `last`."""
    return {
        "key": session.key,
        "title": session.title,
        "tags": list(session.tags),
        "archived": session.archived,
        "system": session.system,
        "model": session.model,
        "created_at": time_text(session.created),
        "updated_at": time_text(session.updated),
        "forked_from": origin_value(session.forked_from),
        "total_messages": len(session.path),
        "messages": [
            message_value(message, position)
            for position, message in enumerate(session.messages(first, last), max(first, 1))
        ],
        "oddities": list(session.oddities),
    }


def trashed_value(one: TrashedSession) -> dict[str, Any]:
    """Return a row of `trash`."""
    return {
        "trash_id": one.trash_id,
        "key": one.key,
        "title": one.title,
        "deleted_at": time_text(one.deleted),
        "messages": one.messages,
    }
