"""When and where a session is compacted, and which compaction counts: pure rules on sessions, checkpoints and sizes.

A checkpoint is anchored to a message: it counts on every path through the message it covers up to, and on no other.
Asking a model for the summary is `sessions.compactor`'s; what is sent with one is `core.context`'s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from shipchat.core.entries import CheckpointEntry
from shipchat.core.messages import Json, UserMessage
from shipchat.core.paths import Path
from shipchat.core.session import Session

Ids: TypeAlias = Path | Sequence[str]
"""The ids of the messages on a path, first to last."""

Mode: TypeAlias = Literal["auto", "remind", "off"]
"""`auto` compacts by itself, `remind` says once that it is time, `off` does neither and sends the whole history."""

WORTHWHILE: Final = 0.9
"""A compaction has to bring a request below this share of what it was; else it only costs."""

SHORTEST_SUMMARY: Final = 128
LONGEST_SUMMARY: Final = 4096
SUMMARY_SHARE: Final = 0.15
"""A summary may take this share of the budget, within SHORTEST_SUMMARY and LONGEST_SUMMARY tokens."""

CONTINUED: Final = "| [\N{HORIZONTAL ELLIPSIS}] "
"""What a piece of a message begins with whose beginning was in the piece before."""

SHORTEST_BLOCK: Final = 64
"""Tokens that a message is shortened to at least; rather the oldest are left out."""

MAX_PIECES: Final = 16
"""Calls at most for one summary, however long the history is."""


# --- what a checkpoint's further fields say ---


def made_for_window(checkpoint: CheckpointEntry) -> int | None:
    """Return the window (tokens) of the model that the checkpoint was made for, None when it doesn't say."""
    window = checkpoint.extra.get("window")
    return window if isinstance(window, int) and not isinstance(window, bool) else None


def made_by_hand(checkpoint: CheckpointEntry) -> bool:
    """Return whether a user asked for this compaction; one that doesn't say was asked for."""
    return checkpoint.extra.get("by", "user") == "user"


def redone(checkpoint: CheckpointEntry) -> str | None:
    """Return the id of the undone checkpoint that this one brings back, None when it is a new one."""
    again = checkpoint.extra.get("redo_of")
    return again if isinstance(again, str) else None


def further_fields(*, window: int, by_hand: bool) -> dict[str, Json]:
    """Return the fields of a checkpoint that `made_for_window` and `made_by_hand` read."""
    return {"window": window, "by": "user" if by_hand else "auto"}


# --- which checkpoint counts ---


def lies_on(session: Session, message_id: str, path: Ids | None = None) -> bool:
    """Return whether a message is on `path` (default: the session's current one)."""
    if path is None:
        return session.position_of(message_id) is not None
    if message_id not in session.tree:
        return False
    depth = session.tree.depth(message_id)
    return depth <= len(path) and path[depth - 1] == message_id


def valid_checkpoints(
    session: Session, path: Ids | None = None, *, automatic: bool = True
) -> list[CheckpointEntry]:
    """Return the checkpoints that count on `path` (default: the current one), oldest first.

    Those whose last covered message is on it: a rewind, an edit or a fork before it leaves the checkpoint out. With
    `automatic` of False only those that a user asked for count.
    """
    return [
        one
        for one in session.checkpoints
        if (automatic or made_by_hand(one)) and lies_on(session, one.covers, path)
    ]


def active_checkpoint(
    session: Session, path: Ids | None = None, *, automatic: bool = True
) -> CheckpointEntry | None:
    """Return the newest checkpoint that counts on `path`, None when there is none."""
    for one in reversed(session.checkpoints):
        if (automatic or made_by_hand(one)) and lies_on(session, one.covers, path):
            return one
    return None


def undone_checkpoint(session: Session) -> CheckpointEntry | None:
    """Return the compaction that a redo would bring back: the last one undone, if it would count here."""
    for one in reversed(session.undone):
        if lies_on(session, one.covers):
            return one
    return None


def sees_from(session: Session) -> int:
    """Return the position from which on messages are sent word for word: where a divider stands (1: no divider).

    What a larger window or the mode `off` may change is not known here: see `ChatSession.context`.
    """
    checkpoint = active_checkpoint(session)
    return 1 if checkpoint is None else session.tree.depth(checkpoint.covers) + 1


# --- where to cut ---


@dataclass(frozen=True, slots=True)
class Cut:
    """Which positions a summary is to stand for: `first` to `last`, and the `earlier` summary with them."""

    first: int
    last: int
    earlier: CheckpointEntry | None = None


TokensBetween: TypeAlias = Callable[[int, int], int]
"""The tokens of the messages from one position to another, both included."""


def turn_starts(session: Session, path: Ids, first: int, last: int) -> list[int]:
    """Return the positions from `last` down to `first` at which a turn begins (a prompt), newest first."""
    return [
        position
        for position in range(last, first - 1, -1)
        if isinstance(session.tree.get(path[position - 1]), UserMessage)
    ]


def plan_cut(
    session: Session,
    path: Ids,
    *,
    first: int,
    keep: int,
    tokens: TokensBetween,
    earlier: CheckpointEntry | None = None,
) -> Cut | None:
    """Return where to cut so that the newest turns, at most `keep` tokens of them but at least one, are kept whole.

    `first` is the first position that is sent word for word now. A cut is made before a prompt only. None when
    nothing is older than the last turn. Costs in proportion to the turns kept.
    """
    end = len(path)
    kept_from: int | None = None
    for position in range(end, first - 1, -1):
        if not isinstance(session.tree.get(path[position - 1]), UserMessage):
            continue
        if kept_from is not None and tokens(position, end) > keep:
            break
        kept_from = position
    if kept_from is None or kept_from <= first:
        return None
    return Cut(first, kept_from - 1, earlier)


def plan_cut_by_hand(
    session: Session,
    path: Ids,
    *,
    first: int,
    keep: int,
    tokens: TokensBetween,
    earlier: CheckpointEntry | None = None,
) -> Cut | None:
    """Return where to cut when a user asks for it: as `plan_cut`, but a session that is small is cut as well.

    Then only the last turn is kept, and nothing when there is one turn alone. None when no message is left.
    """
    for room in (keep, 0):
        cut = plan_cut(session, path, first=first, keep=room, tokens=tokens, earlier=earlier)
        if cut is not None:
            return cut
    return Cut(first, len(path), earlier) if len(path) >= first else None


def summary_limit(budget: int) -> int:
    """Return how many tokens a summary may have beside an input budget of so many.

    >>> [summary_limit(budget) for budget in (1_000, 8_000, 1_000_000)]
    [150, 1200, 4096]
    """
    return max(SHORTEST_SUMMARY, min(LONGEST_SUMMARY, int(budget * SUMMARY_SHARE)))


# --- long histories in pieces ---


@dataclass(frozen=True, slots=True)
class Block:
    """A message as a summariser reads it; `tokens` is its size."""

    text: str
    tokens: int


def pieces_of(blocks: Sequence[Block], limit: int, *, most: int = MAX_PIECES) -> list[str]:
    """Return the blocks as at most `most` texts of about `limit` tokens each, in order.

    A block longer than a piece is split. What is too much for so many pieces is shortened evenly first: each block to
    a length, found by halving, at which all of it fits; beginnings and ends stay.
    """
    limit = max(limit, 1)
    room = limit * most * 3 // 4  # pieces are rarely full: a block that doesn't fit any more begins the next
    longest = max((block.tokens for block in blocks), default=0)
    while sum(min(block.tokens, longest) for block in blocks) > room and longest > SHORTEST_BLOCK:
        longest //= 2
    if sum(min(block.tokens, longest) for block in blocks) > room:
        # So many that even their beginnings are too much: the newest say most of what matters now.
        fitting = max(1, room // max(longest, 1))
        left_out = len(blocks) - fitting
        blocks = [Block(f"[{left_out:,} earlier messages left out]\n", 8), *blocks[-fitting:]]
    pieces: list[str] = []
    texts: list[str] = []
    tokens = 0
    for block in blocks:
        for part in _split(_shortened(block, longest), limit):
            if texts and tokens + part.tokens > limit and len(pieces) < most - 1:
                pieces.append("".join(texts))
                texts, tokens = [], 0
            texts.append(part.text)
            tokens += part.tokens
    if texts:
        pieces.append("".join(texts))
    return pieces


def _shortened(block: Block, limit: int) -> Block:
    if block.tokens <= limit:
        return block
    return Block(without_middle(block.text, len(block.text) * limit // block.tokens), limit)


def _split(block: Block, limit: int) -> list[Block]:
    if block.tokens <= limit:
        return [block]
    count = -(-block.tokens // limit)
    size = -(-len(block.text) // count)
    texts = [block.text[start : start + size] for start in range(0, len(block.text), size)]
    texts[1:] = [
        f"{CONTINUED}{text}" for text in texts[1:]
    ]  # it may begin anywhere, also at what looks like a mark
    return [Block(text, -(-block.tokens // count)) for text in texts]


def without_middle(text: str, limit: int) -> str:
    """Return `text`, its middle left out when it has more than `limit` characters; a marker says how many.

    >>> without_middle("abcdefghij" * 100, 40).count("characters left out")
    1
    """
    if len(text) <= limit:
        return text
    head = limit * 3 // 4
    tail = limit - head
    missing = len(text) - limit
    return f"{text[:head]} [… {missing:,} characters left out …] {text[len(text) - tail :]}"
