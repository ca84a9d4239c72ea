"""The desk for the sidebar and the toasts: opens, makes, forks, renames, tags, archives, deletes; all undoable."""

import asyncio
from typing import TYPE_CHECKING

from shipchat.commands import on_sessions
from shipchat.tui.messages import (
    ArchiveRequested,
    ArchiveViewChanged,
    DeleteRequested,
    ExportRequested,
    ForkRequested,
    NewRequested,
    OwnMessage,
    RenameSubmitted,
    SessionChosen,
    SessionHighlighted,
    SidebarLeft,
    SidebarRequested,
    StatusClicked,
    TagRequested,
    ToastUndone,
)
from shipchat.tui.screens.chat_actions import run_action

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

_CLICKED = {
    "activity": "interrupt",
    "save": "/status",
    "context": "/status",
    "keys": "keys",
    "model": "/model",
    "actions": "palette",
    "cost": "/status",
    "meter": "/status",
}


class ListDesk:
    """Deals with what is wanted of sessions as wholes."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about sessions; return whether it was."""
        screen, context = self._screen, self._screen.context
        match message:
            case SessionChosen(key=key, position=position):
                screen.do(screen.stage.open_session(key, position=position))
            case NewRequested():
                screen.do(on_sessions.new(context, ""))
            case ForkRequested(key=key):
                screen.do(_fork(self._screen, key))
            case RenameSubmitted(key=key, title=title):
                screen.do(on_sessions.rename_to(context, key, title))
            case TagRequested(key=key):
                screen.do(on_sessions.tag_with(context, key, ""))
            case ArchiveRequested(key=key, archived=archived):
                screen.do(on_sessions.archive_session(context, key, archived=archived))
            case DeleteRequested(key=key):
                screen.do(on_sessions.delete_session(context, key))
            case ExportRequested(key=key):
                screen.do(_export(self._screen, key))
            case ToastUndone(action=action):
                screen.do(screen.stage.undo(action))
            case StatusClicked(segment=segment):
                run_action(screen, _CLICKED.get(segment, "palette"))
            case SidebarLeft():
                screen.view.close_sidebar()
            case SidebarRequested():
                screen.view.open_sidebar()
            case ArchiveViewChanged() | SessionHighlighted():
                pass  # the list has done it
            case _:
                return False
        return True


async def _fork(screen: "ChatScreen", key: str) -> None:
    await on_sessions.fork_at(screen.context, key)


async def _export(screen: "ChatScreen", key: str) -> None:
    session = await asyncio.to_thread(screen.services.sessions.open, key)
    await on_sessions.export_session(screen.context, session, "")
