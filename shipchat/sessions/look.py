"""What another window shows of a session just now: who replies there, and how far the reply has come."""

from dataclasses import dataclass

from shipchat.core.drafts import QueuedPrompt, ReplyDraft
from shipchat.core.errors import HolderInfo, SessionNotFound
from shipchat.sessions.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Look:
    """`changed`: the session has something new. `holder`: who runs a turn in it now.

    `reply` is the one in flight there, or what a program that is gone left of one (`holder` is None then), and
    `queue` the prompts behind it. `missing`: the session was deleted elsewhere.
    """

    changed: bool = False
    holder: HolderInfo | None = None
    reply: ReplyDraft | None = None
    queue: tuple[QueuedPrompt, ...] = ()
    missing: bool = False


def look(ledger: Ledger) -> Look:
    """Take in what others did and return what there is to see. Blocking. Raises SessionDamaged."""
    try:
        changed = ledger.refresh()
    except SessionNotFound:
        return Look(missing=True)
    holder = ledger.store.holder(ledger.key)
    draft = ledger.store.read_turn_draft(ledger.key) if ledger.exists else None
    if draft is None:
        return Look(changed, holder)
    tree = ledger.session.tree
    reply = draft.reply if draft.reply is not None and draft.reply.id not in tree else None
    if reply is not None and reply.parent is not None and reply.parent not in tree:
        # The prompt was stored after we read and before the draft was written: the next look has both.
        reply = None
    queue = tuple(prompt for prompt in draft.queue if prompt.id not in tree)
    return Look(changed, holder, reply, queue)
