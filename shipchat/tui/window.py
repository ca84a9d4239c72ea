"""This window: the session on the screen, those whose turns go on behind it, and the list of all; draws nothing."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from shipchat.commands.command import UndoLog
from shipchat.commands.services import Services
from shipchat.core.errors import SessionDamaged, SessionNotFound, StoreUnavailable
from shipchat.core.events import SessionChange, SessionCreated, SessionRemoved, SessionUpdated
from shipchat.core.protocols import FullStore
from shipchat.core.session import Session, session_from
from shipchat.core.summaries import SessionSummary
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.follower import SessionFollower
from shipchat.tui.draft_writer import FRESH, DraftWriter
from shipchat.tui.open_session import OpenSession

READ_ONLY = "opened to read only"


class Window:
    """Opens sessions one after the other. A turn that runs when another session is opened goes on behind it."""

    def __init__(self, services: Services, drafts: DraftWriter, *, model: str | None = None) -> None:
        self.services = services
        self.drafts = drafts
        self.undo = UndoLog()
        self.unread: set[str] = set()
        self.model = model  # what fresh sessions ask, when it was given on the command line
        self.opened = OpenSession(services.chats.open(None, model=model))
        self._running: dict[str, OpenSession] = {}
        self._seen: dict[str, datetime] = {}
        self._follower = SessionFollower(services.sessions)

    @property
    def rows(self) -> Mapping[str, SessionSummary]:
        """All sessions as last listed."""
        return self._follower.rows

    @property
    def store(self) -> FullStore:
        """Where sessions are."""
        return self.services.sessions.store

    @property
    def replying(self) -> set[str]:
        """The keys of sessions whose turns run here."""
        keys = {key for key, opened in self._running.items() if opened.turning}
        return keys | {self.opened.key} if self.opened.turning else keys

    # --- opening ---

    async def open_fresh(self) -> str:
        """Open a session that is not stored before its first prompt; return the text kept for such a one."""
        return await self.open_chat(self.services.chats.open(None, model=self.model), fresh=True)

    async def drafts_of_fresh(self) -> str:
        """Return the text kept for a session that is not stored yet, and follow it: at the start."""
        return await self.drafts.open(self.store, FRESH)

    async def open_private(self, chat: ChatSession) -> str:
        """Open a session that is stored nowhere."""
        return await self.open_chat(chat, private=True)

    async def open_key(self, key: str, *, read_only: bool = False) -> str:
        """Open a stored session and return the text kept for it. Raises SessionNotFound.

        A damaged one is opened to be read, as far as that goes.
        """
        if key == self.opened.key and not self.opened.missing:
            return self.drafts.text
        running = self._running.get(key)
        opened = running or await self._load(key)
        if read_only and opened.read_only is None:
            opened.read_only = READ_ONLY
        return await self._become(opened)

    async def open_chat(self, chat: ChatSession, *, private: bool = False, fresh: bool = False) -> str:
        """Open this session and return the text kept for it."""
        return await self._become(OpenSession(chat, private=private), fresh=fresh)

    async def _load(self, key: str) -> OpenSession:
        chat = self.services.chats.open(key)
        opened = OpenSession(chat)
        try:
            await chat.refresh()
        except SessionDamaged as error:
            opened.read_only, opened.damaged = str(error), True
            opened.salvaged = await asyncio.to_thread(self._salvaged, key)
        else:
            if not chat.exists:
                raise SessionNotFound(
                    f"there is no session {key!r}", advice=("It may have been deleted: /undo, /resume",)
                )
            opened.take_look(await chat.look())
        return opened

    def _salvaged(self, key: str) -> Session | None:
        salvage = getattr(self.store, "salvage", None)  # only files can be damaged
        if salvage is None:
            return None
        try:
            record, _ = salvage(key)
        except (SessionNotFound, StoreUnavailable):
            return None
        return None if record is None else session_from(record)

    async def _become(self, opened: OpenSession, *, fresh: bool = False) -> str:
        left = self.opened
        if left.turning and left is not opened:
            self._running[left.key] = left
        self._running.pop(opened.key, None)
        self.opened = opened
        self.unread.discard(opened.key)
        opened.show_from_end()
        if opened.private or opened.read_only is not None:
            await self.drafts.close()
            return ""
        return await self.drafts.open(self.store, FRESH if fresh else opened.key)

    async def stored(self) -> None:
        """Note that the fresh session has its file: unsent text is kept under its own key from now on."""
        if not self.opened.private and self.drafts.key == FRESH:
            text = self.drafts.text
            self.drafts.keep("")
            await self.drafts.open(self.store, self.opened.key)
            if text:
                self.drafts.keep(text)

    # --- the list ---

    def poll(self) -> list[SessionChange]:
        """Look at all sessions again and return what changed. Blocking."""
        return self._follower.poll()

    def note(self, changes: list[SessionChange]) -> None:
        """Remember which sessions have news that nobody looked at."""
        for change in changes:
            match change:
                case SessionUpdated(key=key):
                    row, seen = self.rows.get(key), self._seen.get(key)
                    if row is not None and key != self.opened.key and (seen is None or row.updated > seen):
                        self.unread.add(key)
                case SessionRemoved(key=key):
                    self.unread.discard(key)
                case SessionCreated():
                    pass
                case _:
                    assert_never(change)
        self._seen = {key: row.updated for key, row in self.rows.items()}

    def over(self, opened: OpenSession) -> None:
        """Note that a turn ended."""
        if opened is not self.opened:
            self.unread.add(opened.key)
            if not opened.turning:
                self._running.pop(opened.key, None)

    # --- the end ---

    async def close(self) -> None:
        """Stop what runs, wait until it is stored, and let go of everything."""
        for opened in (self.opened, *self._running.values()):
            await opened.chat.close()
        self._running.clear()
        await self.drafts.close()
