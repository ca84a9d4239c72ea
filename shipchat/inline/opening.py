"""Opens sessions in a conversation: by key, a fresh one, a copy, one that is stored nowhere; tells how they end."""

import asyncio
from typing import Final

from shipchat.core.errors import SessionNotFound, UsageError
from shipchat.inline.conversation import Conversation
from shipchat.inline.drafts import FRESH
from shipchat.inline.start import InlineStart
from shipchat.sessions.chat_session import ChatSession

SHOWN: Final = 4
"""How many of the last messages are told when a session is opened."""


async def begin(conversation: Conversation, start: InlineStart) -> None:
    """Open what the front end was started for. A key without a session: its first prompt makes one.

    Raises SessionDamaged, and SessionNotFound when there is none to be copied.
    """
    chats = conversation.services.chats
    if start.private:
        copy_of, model, system = start.key, start.model, start.system
        chat = await asyncio.to_thread(lambda: chats.private(copy_of=copy_of, model=model, system=system))
        await chat.refresh()
        await become(conversation, chat, private=True)
        return
    chat = chats.open(start.key, model=start.model, system=start.system)
    if start.key is not None:
        await chat.refresh()
    await become(conversation, chat)


async def open_key(conversation: Conversation, key: str, *, position: int | None = None) -> None:
    """Open a stored session and tell its end, or from `position` on. Raises SessionNotFound, SessionDamaged."""
    _check_idle(conversation)
    chat = conversation.services.chats.open(key)
    await chat.refresh()
    if not chat.exists:
        raise SessionNotFound(f"there is no session {key!r}", advice=("/resume lists those there are.",))
    await become(conversation, chat, position=position)


async def open_fresh(conversation: Conversation) -> None:
    """Open a session that is not stored before its first prompt."""
    await become(conversation, conversation.services.chats.open(None))


async def open_copy(conversation: Conversation) -> None:
    """Fork the open session, whole, and open the copy."""
    made = await asyncio.to_thread(conversation.services.sessions.fork, conversation.chat.key)
    chat = conversation.services.chats.open(made)
    await chat.refresh()
    await become(conversation, chat, quiet=True)
    conversation.face.teller.note("Forked", f"{made}; the other one stays as it is")


async def fork_before(conversation: Conversation, message: str) -> str | None:
    """Fork the open session so that it ends before `message`, open the fork, and return what a prompt replaces there."""
    key, session = conversation.chat.key, conversation.chat.session
    parent = session.tree.parent(message)
    manager = conversation.services.sessions
    made = await asyncio.to_thread(lambda: manager.fork(key, from_message=parent or 1))
    await open_key(conversation, made)
    return None if parent is not None else conversation.chat.session.path[0]


async def become(
    conversation: Conversation,
    chat: ChatSession,
    *,
    private: bool = False,
    position: int | None = None,
    quiet: bool = False,
) -> None:
    """Make `chat` the open session and tell how it ends."""
    if not conversation.busy:  # else the running turn is the one that could not begin where it was
        await conversation.chat.close()
    conversation.chat, conversation.private = chat, private
    conversation.holder = conversation.editing = conversation.waiting = conversation.info = None
    conversation.not_saved = None
    conversation.own = set()
    if private:
        await conversation.drafts.close()
        text = ""
    else:
        text = await conversation.drafts.open(conversation.store, chat.key if chat.exists else FRESH)
    session = chat.session
    conversation.told = session.path
    teller = conversation.face.teller
    if not quiet:
        teller.opened(session, stored=chat.exists, private=private)
        first = position or max(len(session.path) - SHOWN + 1, 1)
        for number, message in enumerate(session.messages(first), first):
            teller.message(number, message)
    await conversation.face.load(text, conversation.prompts())
    if chat.exists and not private:
        await _look(conversation)
    conversation.face.changed()


async def _look(conversation: Conversation) -> None:
    """Tell who replies in the session, and offer what a program that is gone left in it."""
    chat, teller = conversation.chat, conversation.face.teller
    seen = await chat.look()
    conversation.holder = seen.holder
    if seen.holder is not None:
        teller.note("A reply is being written elsewhere", seen.holder.sentence())
        return
    if seen.reply is not None:
        teller.warn(
            "A reply was cut off when its program ended", "what had arrived is kept: /continue goes on"
        )
    if not seen.queue:
        return
    count = len(seen.queue)
    said = "1 prompt was left waiting" if count == 1 else f"{count} prompts were left waiting"
    if seen.reply is None:
        await chat.set_queue(seen.queue)
        teller.note(said, "/queue sends, /queue drop drops, Up takes back")
    else:  # they are the session's once the cut-off reply is: with the next turn, after which they are offered
        teller.note(said, "they are offered after the next turn")


def _check_idle(conversation: Conversation) -> None:
    if conversation.busy:
        raise UsageError("a reply is being written here", advice=("Esc stops it.",))
