"""Drafts beside the session files: the holder's turn draft, and the unsent text of each open window."""

import contextlib
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from shipchat.core.drafts import TurnDraft
from shipchat.formats.draft import decode_turn_draft, decode_unsent, encode_turn_draft, encode_unsent
from shipchat.formats.lines import BadJson
from shipchat.stores.file.disk import OPEN_FLAGS, close, read_all, remove, replace, sync, write_all
from shipchat.stores.file.flock import LockedFile, LocksUnsupported, try_lock
from shipchat.stores.file.layout import Layout, not_saved, trash_id
from shipchat.stores.file.temporary import new_temporary, publish_over

_WINDOW: Final = re.compile(r"[0-9a-f]{12}")
_LIMIT: Final = 256 * 1024 * 1024


class FileDrafts:
    """The drafts under one directory of sessions."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._numbers: dict[str, int] = {}

    def read_turn_draft(self, key: str) -> TurnDraft | None:
        """Return the newer of the durable draft and the live one; what can't be read counts for nothing."""
        newest = max((self._read(key, live=live) for live in (False, True)), key=lambda found: found[0])
        return newest[1]

    def write_turn_draft(self, key: str, draft: TurnDraft | None, *, durable: bool) -> None:
        """Replace the draft in one step.

        A write that does not wait for the disk goes to a file of its own, so that a crash of the machine can't
        harm the last one that did.
        """
        path = self._layout.turn_draft(key, live=not durable)
        try:
            if draft is None or (draft.reply is None and not draft.queue):
                remove(self._layout.turn_draft(key, live=True))
                remove(self._layout.turn_draft(key, live=False))
                return
            number = self._next(
                key
            )  # raises when what is there can't be looked at: it must not be written over
            data = encode_turn_draft(draft, number)
            try:
                publish_over(self._layout.drafts, key, path, data, durable=durable)
            except FileNotFoundError:
                self._layout.make()
                publish_over(self._layout.drafts, key, path, data, durable=durable)
        except OSError as error:
            raise not_saved(error, path) from error
        self._numbers[key] = number

    def open_window(self, key: str) -> "FileWindowDraft":
        """Return this window's unsent text, adopting the newest that a window which is gone left behind."""
        self._layout.session(key)
        orphans: list[tuple[datetime, str, str, LockedFile]] = []
        with contextlib.suppress(OSError):  # what can't be listed now is adopted by a later window
            for path, kind in self.files(key):
                window = kind.removeprefix("unsent.")
                if window != kind:
                    orphan = _adopt(path)
                    if orphan is not None:
                        orphans.append((*orphan[:2], window, orphan[2]))
        orphans.sort(key=lambda orphan: orphan[0])
        adopted = orphans.pop() if orphans else None
        for *_, locked in orphans:
            locked.close()
        if adopted is None:
            return FileWindowDraft(self._layout, key, os.urandom(6).hex(), "", None)
        _, text, window, locked = adopted
        return FileWindowDraft(self._layout, key, window, text, locked)

    def files(self, key: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the kind (`turn`, `turn.live`, `unsent.<window>`) of each draft of a session.

        Raises OSError when they can't be listed: then it is not known that there are none.
        """
        try:
            listed = os.listdir(self._layout.drafts)
        except FileNotFoundError:
            return
        prefix = f"{key}."
        for name in sorted(listed):
            if name.startswith(prefix) and name.endswith(".json"):
                kind = name[len(prefix) : -len(".json")]
                if _WINDOW.fullmatch(kind):
                    kind = f"unsent.{kind}"
                elif kind not in ("turn", "turn.live"):
                    continue
                yield f"{self._layout.drafts}{os.sep}{name}", kind

    def path_of(self, key: str, kind: str) -> str:
        """Return the path of a draft of this kind."""
        if kind.startswith("unsent."):
            return self._layout.window_draft(key, kind.removeprefix("unsent."))
        return self._layout.turn_draft(key, live=kind == "turn.live")

    def _next(self, key: str) -> int:
        known = self._numbers.get(key)
        if known is None:
            known = max(self._last_number(key, live=live) for live in (False, True))
        # Another process may have held the session since: its numbers are passed by the clock.
        return max(known + 1, int(datetime.now(UTC).timestamp() * 1000))

    def _last_number(self, key: str, *, live: bool) -> int:
        """Return the number of the draft that is there; one that makes no sense goes to the trash. Raises OSError."""
        path = self._layout.turn_draft(key, live=live)
        try:
            return decode_turn_draft(_read_file(path))[0]
        except FileNotFoundError:
            return 0
        except BadJson:
            # Someone's words may still be in there, and it is about to be written over.
            replace(path, self._layout.trashed(trash_id(key, datetime.now(UTC)), "draft"))
            return 0

    def _read(self, key: str, *, live: bool) -> tuple[int, TurnDraft | None]:
        with contextlib.suppress(OSError, BadJson):
            return decode_turn_draft(_read_file(self._layout.turn_draft(key, live=live)))
        return 0, None


class FileWindowDraft:
    """The unsent text of one window. While it is open the file is locked, whichever file bears the name."""

    def __init__(self, layout: Layout, key: str, window: str, text: str, locked: LockedFile | None) -> None:
        self._layout = layout
        self._key = key
        self._path = layout.window_draft(key, window)
        self._text = text
        self._locked = locked

    @property
    def text(self) -> str:
        """What was adopted or last written."""
        return self._text

    def write(self, text: str) -> None:
        """Keep `text` on disk; the empty string removes it. Raises StoreUnavailable."""
        if text == self._text:
            return
        try:
            if text:
                self._replace(encode_unsent(text, datetime.now(UTC)))
            else:
                remove(self._path)
                self._unlock()
        except OSError as error:
            raise not_saved(error, self._path) from error
        self._text = text

    def close(self) -> None:
        """Unlock it; text that is not empty stays for the next window."""
        self._unlock()

    def _replace(self, data: bytes) -> None:
        try:
            path, descriptor = self._temporary()
        except FileNotFoundError:
            self._layout.make()
            path, descriptor = self._temporary()
        # Locked before it gets the name: whoever opens that finds it locked, always.
        locked = LockedFile(descriptor)
        try:
            with contextlib.suppress(LocksUnsupported):
                try_lock(descriptor)
            write_all(descriptor, data, 0)
            sync(descriptor)
            replace(path, self._path)
        except BaseException:
            locked.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise
        self._unlock()
        self._locked = locked

    def _temporary(self) -> tuple[str, int]:
        descriptor, path = new_temporary(self._layout.drafts, self._key)
        return path, descriptor

    def _unlock(self) -> None:
        locked, self._locked = self._locked, None
        if locked is not None:
            locked.close()


def _adopt(path: str) -> tuple[datetime, str, LockedFile] | None:
    """Lock the text of a window that is gone; None when the window is open or there is nothing to read."""
    try:
        descriptor = os.open(path, os.O_RDWR | OPEN_FLAGS)
    except OSError:
        return None
    locked = LockedFile(descriptor)
    with contextlib.suppress(OSError, BadJson, LocksUnsupported):
        # Its window may have replaced the file since it was opened: then what was locked is nobody's.
        if try_lock(descriptor) and os.path.samestat(
            os.fstat(descriptor), os.stat(path, follow_symlinks=False)
        ):
            size = os.fstat(descriptor).st_size
            at, text = decode_unsent(read_all(descriptor, 0, min(size, _LIMIT)))
            if text:
                return at, text, locked
    locked.close()
    return None


def _read_file(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
    try:
        return read_all(descriptor, 0, min(os.fstat(descriptor).st_size, _LIMIT))
    finally:
        close(descriptor)
