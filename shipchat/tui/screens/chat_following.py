"""The desk for what happens elsewhere: follows the open session and the list, tries again to save, counts seconds."""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shipchat.core.errors import SessionDamaged, ShipchatError, StoreUnavailable
from shipchat.core.events import SessionChange
from shipchat.sessions.look import Look
from shipchat.tui.messages import OwnMessage
from shipchat.tui.open_session import OpenSession
from shipchat.tui.screens.chat_view import local_now

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

LOOK_SECONDS: Final = 0.5
POLL_SECONDS: Final = 1.0
POLL_SHARE: Final = 10
"""The list is looked at again after ten times as long as a look took: ten thousand sessions must not eat a core."""
SAVE_SECONDS: Final = 3.0


@dataclass
class Looked(OwnMessage):
    """The open session was looked at."""

    opened: OpenSession
    look: Look


@dataclass
class BecameDamaged(OwnMessage):
    """The open session can no longer be read."""

    opened: OpenSession
    error: SessionDamaged


@dataclass
class ListChanged(OwnMessage):
    """The list was looked at; `changes` are since the last time."""

    changes: list[SessionChange]
    first: bool


@dataclass
class SaveTried(OwnMessage):
    """What was not saved was tried again."""

    opened: OpenSession
    saved: bool


class FollowingDesk:
    """Deals with what nobody here asked for."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._ended = False
        self._save_now = asyncio.Event()
        self._polled = False
        self._polling = asyncio.Lock()

    def begin(self) -> None:
        """Follow the open session."""
        screen = self._screen
        screen.run_worker(self._look_on(), group="following")
        screen.run_worker(self._save_on(), group="following")
        screen.set_interval(1.0, screen.view.tick)
        screen.set_interval(30.0, self._age)

    def begin_list(self) -> None:
        """Follow the list, once the first frame is there."""
        self._screen.run_worker(self._poll_on(), group="following")

    def end(self) -> None:
        """Follow nothing any more."""
        self._ended = True

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it tells of something elsewhere; return whether it does."""
        screen = self._screen
        match message:
            case Looked(opened=opened, look=look):
                if opened is screen.window.opened and opened.take_look(look):
                    screen.view.show_messages()
                    screen.view.show_state()
                    screen.turns.offer_queue(opened)
                self._send_what_waited(opened)
            case BecameDamaged(opened=opened, error=error):
                if opened is screen.window.opened and not opened.damaged:
                    opened.damaged, opened.read_only = True, str(error)
                    screen.view.show_session()
                    screen.tell(error)
            case ListChanged(changes=changes, first=first):
                screen.window.note(changes)
                if changes or first:
                    screen.view.show_rows()
            case SaveTried(opened=opened, saved=saved):
                if saved:
                    opened.not_saved = None
                screen.view.show_state()
            case _:
                return False
        return True

    # --- the open session ---

    async def _look_on(self) -> None:
        while not self._ended:
            await asyncio.sleep(LOOK_SECONDS)
            opened = self._screen.window.opened
            if opened.turning or opened.private or opened.damaged or opened.missing:
                continue
            if not opened.chat.exists:
                continue
            try:
                look = await opened.chat.look()
            except SessionDamaged as error:
                self._screen.post_message(BecameDamaged(opened, error))
            except ShipchatError:
                continue  # unreadable for the moment; the next look tells
            else:
                self._screen.post_message(Looked(opened, look))

    def _send_what_waited(self, opened: OpenSession) -> None:
        screen, text = self._screen, opened.waiting
        if text is None or opened.holder is not None or opened.turning or opened is not screen.window.opened:
            return
        opened.waiting = None
        if screen.view.composer.text == text:
            screen.view.composer.clear()
            screen.turns.send(text)

    # --- saving ---

    def retry_save_now(self) -> None:
        """Try to save without waiting."""
        self._save_now.set()

    async def _save_on(self) -> None:
        while not self._ended:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._save_now.wait(), SAVE_SECONDS)
            self._save_now.clear()
            opened = self._screen.window.opened
            if opened.not_saved is None or opened.turning:
                continue
            saved = await opened.chat.retry_save()
            drafts = self._screen.window.drafts
            if saved and not opened.private:
                # A prompt that was refused is nowhere but in the composer: writing it as a draft proves the disk.
                saved = await drafts.prove(self._screen.view.composer.text)
            self._screen.post_message(SaveTried(opened, saved))

    # --- the list ---

    async def _poll_on(self) -> None:
        while not self._ended:
            began = time.monotonic()
            await self.poll_now()
            took = time.monotonic() - began
            await asyncio.sleep(max(POLL_SECONDS, took * POLL_SHARE))

    async def poll_now(self) -> None:
        """Look at the list now and show what changed."""
        async with self._polling:
            first, self._polled = not self._polled, True
            try:
                changes = await asyncio.to_thread(self._screen.window.poll)
            except StoreUnavailable as error:
                if first:
                    self._screen.tell(error)
                return
            self._screen.post_message(ListChanged(changes, first))

    def _age(self) -> None:
        self._screen.view.sidebar.now = local_now()
