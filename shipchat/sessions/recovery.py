"""What whoever takes the hold next owes a turn whose process is gone: its reply as far as it came, its queue."""

from dataclasses import dataclass
from typing import Final

from shipchat.core.drafts import QueuedPrompt, TurnDraft
from shipchat.core.entries import Entry, MessageEntry, NoticeEntry
from shipchat.core.session import Session
from shipchat.sessions.clock import Clock
from shipchat.sessions.reply import interrupted_message

CUT_OFF: Final = "A reply was cut off when its program ended; what had arrived is kept."


@dataclass(frozen=True, slots=True)
class Recovery:
    """Entries to append now, and the queued prompts to offer back to the user."""

    entries: tuple[Entry, ...] = ()
    queue: tuple[QueuedPrompt, ...] = ()


def with_queue(
    draft: TurnDraft | None, before: tuple[QueuedPrompt, ...], queue: tuple[QueuedPrompt, ...]
) -> TurnDraft:
    """Return the draft of an idle session with another queue; `before` is the one this window had.

    A reply that was cut off stays in it until the next turn stores it, and so do prompts that this window never knew.
    """
    if draft is None:
        return TurnDraft(None, queue)
    known = {prompt.id for prompt in (*before, *queue)}
    return TurnDraft(draft.reply, (*(one for one in draft.queue if one.id not in known), *queue))


def recover(
    draft: TurnDraft | None, session: Session, queue: tuple[QueuedPrompt, ...], clock: Clock
) -> Recovery:
    """Return what `draft` adds to `session` and to this window's own `queue`.

    Ids were allocated before anything was sent, so a reply or prompt that is in the session already is dropped and
    nothing can be stored or sent twice.
    """
    if draft is None:
        return Recovery((), queue)
    known = {prompt.id for prompt in queue}
    left = [prompt for prompt in draft.queue if prompt.id not in session.tree and prompt.id not in known]
    entries: tuple[Entry, ...] = ()
    reply = draft.reply
    if (
        reply is not None
        and reply.id not in session.tree
        and (reply.parent is None or reply.parent in session.tree)
    ):
        entries = (
            MessageEntry(message=interrupted_message(reply)),
            NoticeEntry(id=f"recovered-{reply.id}", at=clock(), about="recovered", text=CUT_OFF),
        )
    return Recovery(entries, (*left, *queue))
