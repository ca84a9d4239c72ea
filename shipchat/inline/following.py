"""What happens in the session without being asked for here: turns elsewhere, a disk that works again, the model's size."""

import asyncio
import contextlib
import time
from typing import Final

from shipchat.core.errors import ShipchatError, UsageError
from shipchat.inline.conversation import LOOK_SECONDS, Conversation

SAVE_SECONDS: Final = 3.0
"""How long after a refusal of the disk it is tried again."""


async def look(conversation: Conversation) -> None:
    """Take in what others did and tell what is new. Raises SessionDamaged, StoreUnavailable."""
    if conversation.private or not conversation.chat.exists:
        return
    seen = await conversation.chat.look()
    if seen.missing:
        raise UsageError("this session was deleted elsewhere", advice=("/new begins another.",))
    if seen.holder != conversation.holder:
        conversation.holder = seen.holder
        conversation.face.changed()
    tell_new(conversation)


def tell_new(conversation: Conversation) -> None:
    """Tell the messages on the path that the user has not been shown."""
    session, told = conversation.chat.session, conversation.told
    if session.path is told or session.path == told:
        return
    same = 0
    for ours, theirs in zip(told, session.path, strict=False):
        if ours != theirs:
            break
        same += 1
    if same < len(told):
        conversation.face.teller.note(
            "The session was changed elsewhere", f"it goes on after message {same}" if same else ""
        )
    for position, message in enumerate(session.messages(same + 1), same + 1):
        conversation.face.teller.message(position, message)
    conversation.told = session.path


async def follow(conversation: Conversation) -> None:
    """Follow the session, and try again to save what could not be, until cancelled."""
    troubled: str | None = None
    tried = time.monotonic()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if (
            conversation.not_saved is not None
            and not conversation.busy
            and time.monotonic() - tried > SAVE_SECONDS
        ):
            tried = time.monotonic()
            if await conversation.chat.retry_save():
                conversation.not_saved = None
                conversation.face.changed()
        if conversation.busy:
            continue
        try:
            await look(conversation)
            troubled = None
        except ShipchatError as error:
            if troubled != str(error):  # told once, not twice a second
                troubled = str(error)
                conversation.face.teller.error(error)


async def look_at_model(conversation: Conversation) -> None:
    """Find out how much the model can take, for the state line; quiet when that can't be known."""
    conversation.info = None
    with contextlib.suppress(ShipchatError):
        ref = conversation.chat.model
        provider = await asyncio.to_thread(conversation.services.models.provider, ref)
        conversation.info = await provider.info(ref.name)
        conversation.face.changed()
