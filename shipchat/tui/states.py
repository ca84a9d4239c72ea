"""What header, status line and composer say of an open session; pure, no widget is touched."""

import socket
import time
from pathlib import Path

from shipchat.core.errors import HolderInfo
from shipchat.tui.open_session import OpenSession
from shipchat.tui.widgets.composer_state import ComposerState, Elsewhere
from shipchat.tui.widgets.header import Badge, HeaderState
from shipchat.tui.widgets.status_line import SaveState, StatusState


def header_state(opened: OpenSession, *, position: int | None = None, no_model: bool = False) -> HeaderState:
    """Return the header of a session; `position` is the message at which the reader is, None at the end."""
    session = opened.session
    badges: list[Badge] = []
    if opened.private:
        badges.append(Badge.PRIVATE)
    if opened.damaged:
        badges.append(Badge.DAMAGED)
    elif opened.read_only is not None:
        badges.append(Badge.READ_ONLY)
    if session.archived:
        badges.append(Badge.ARCHIVED)
    if no_model and not session.path:
        badges.append(Badge.NO_MODEL)
    fresh = not opened.chat.exists and not session.path and not opened.damaged
    return HeaderState(
        title="New session" if fresh else session.title,
        tags=session.tags,
        badges=tuple(badges),
        messages=len(session.path),
        position=position,
        model=short_model(opened),
    )


def short_model(opened: OpenSession) -> str:
    """Return the model's own name."""
    return opened.chat.model.name


def status_state(opened: OpenSession, *, now: float | None = None) -> StatusState:
    """Return the status line of a session; `now` is a monotonic time in seconds."""
    moment = time.monotonic() if now is None else now
    used, estimated = opened.used
    model = opened.chat.model
    return StatusState(
        seconds=None if opened.since is None else int(moment - opened.since),
        elsewhere=opened.holder is not None and not opened.turning,
        save=save_state(opened),
        failure=reason_of(opened.not_saved or ""),
        used=used,
        window=None if opened.info is None else opened.info.window,
        estimated=estimated,
        model=f"{model.name} · {model.provider}",
    )


def save_state(opened: OpenSession) -> SaveState:
    """Return whether what is shown is on the disk."""
    if opened.not_saved is not None:
        return SaveState.NOT_SAVED
    if opened.private:
        return SaveState.PRIVATE
    if opened.turning:
        return SaveState.SAVING if opened.live is None else SaveState.SAVED
    if not opened.chat.saved:
        return SaveState.SAVING
    if not opened.chat.exists:
        return SaveState.NOT_SENT
    return SaveState.SAVED


def composer_state(opened: OpenSession, *, no_model: bool = False) -> ComposerState:
    """Return what the composer says beside the text."""
    return ComposerState(
        streaming=opened.turning,
        elsewhere=None if opened.holder is None or opened.turning else elsewhere_of(opened.holder),
        not_saved=None if opened.not_saved is None else reason_of(opened.not_saved),
        no_model=no_model and not opened.session.path,
        private=opened.private,
    )


def elsewhere_of(holder: HolderInfo) -> Elsewhere:
    """Return who replies elsewhere; the host only when it is another one."""
    host = "" if holder.host == socket.gethostname() else holder.host
    return Elsewhere(holder.pid, host, f"{holder.since.astimezone():%H:%M}")


def reason_of(message: str) -> str:
    """Return the reason in a message like `NOT SAVED: No space left on device: /a/path`, without the path."""
    reason = message.removeprefix("NOT SAVED:").strip()
    head, colon, tail = reason.rpartition(": ")
    return head.lower() if colon and Path(tail).is_absolute() else reason
