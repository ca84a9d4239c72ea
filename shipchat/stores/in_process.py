"""Holds and drafts that live as long as this process: for stores that can't keep them anywhere else."""

import os
import socket
import threading
from datetime import UTC, datetime

from shipchat.core.drafts import TurnDraft
from shipchat.core.errors import HolderInfo, SessionHeld
from shipchat.core.keys import check_key, fold_key


class InProcessHold:
    """A hold among the sessions of one process."""

    def __init__(self, holds: "InProcessHolds", key: str, info: HolderInfo) -> None:
        self._holds = holds
        self._key = key
        self.info = info

    def release(self) -> None:
        """Give it up; twice is once."""
        self._holds.let_go(self._key, self)


class InProcessHolds:
    """One turn at a time within this process; says nothing about others."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: dict[str, InProcessHold] = {}

    def hold(self, key: str, program: str) -> InProcessHold:
        """Take the hold at once or raise SessionHeld."""
        folded = fold_key(check_key(key))
        with self._guard:
            other = self._held.get(folded)
            if other is not None:
                raise SessionHeld(key, other.info)
            info = HolderInfo(os.getpid(), socket.gethostname(), datetime.now(UTC), program)
            hold = InProcessHold(self, folded, info)
            self._held[folded] = hold
            return hold

    def holder(self, key: str) -> HolderInfo | None:
        """Return who holds it now."""
        with self._guard:
            hold = self._held.get(fold_key(check_key(key)))
            return None if hold is None else hold.info

    def let_go(self, folded: str, hold: InProcessHold) -> None:
        """End this hold unless it has ended already."""
        with self._guard:
            if self._held.get(folded) is hold:
                del self._held[folded]


class InProcessWindow:
    """The unsent text of one window of this process."""

    def __init__(self, left: list[str], text: str, guard: threading.Lock) -> None:
        self._left = left
        self._text = text
        self._guard = guard
        self._open = True

    @property
    def text(self) -> str:
        """What was adopted or last written."""
        return self._text

    def write(self, text: str) -> None:
        """Keep `text`."""
        self._text = text

    def close(self) -> None:
        """Leave text that is not empty to the next window; twice is once."""
        with self._guard:
            if self._open and self._text:
                self._left.append(self._text)
            self._open = False


class InProcessDrafts:
    """Turn drafts and unsent text, gone with the process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turns: dict[str, TurnDraft] = {}
        self._left: dict[str, list[str]] = {}

    def read_turn_draft(self, key: str) -> TurnDraft | None:
        """Return the reply in flight and the queue."""
        with self._guard:
            return self._turns.get(check_key(key))

    def write_turn_draft(self, key: str, draft: TurnDraft | None, *, durable: bool) -> None:
        """Replace it; there is no disk to wait for, so `durable` changes nothing."""
        del durable
        with self._guard:
            if draft is None or (draft.reply is None and not draft.queue):
                self._turns.pop(check_key(key), None)
            else:
                self._turns[check_key(key)] = draft

    def open_window(self, key: str) -> InProcessWindow:
        """Return this window's unsent text, adopting the newest that a closed one left."""
        with self._guard:
            left = self._left.setdefault(check_key(key), [])
            return InProcessWindow(left, left.pop() if left else "", self._guard)

    def take(self, key: str) -> tuple[TurnDraft | None, list[str]]:
        """Remove and return all drafts of a session: it goes to the trash."""
        with self._guard:
            return self._turns.pop(key, None), self._left.pop(key, [])

    def put(self, key: str, turn: TurnDraft | None, left: list[str]) -> None:
        """Bring drafts back: the session was restored."""
        with self._guard:
            if turn is not None:
                self._turns[key] = turn
            self._left.setdefault(key, []).extend(left)
