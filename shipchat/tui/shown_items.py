"""Keeps the transcript in step with the items there should be, changing only what differs."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shipchat.tui.items import GrowingReply
from shipchat.tui.widgets.transcript_item import TranscriptItem

if TYPE_CHECKING:
    from shipchat.tui.widgets.transcript import Transcript


class ShownItems:
    """What the transcript shows, as it was last told."""

    def __init__(self, transcript: "Transcript") -> None:
        self.transcript = transcript
        self._items: list[TranscriptItem] = []
        self._streamed = 0  # characters of the growing reply that the transcript has

    def reset(
        self,
        items: Sequence[TranscriptItem],
        live: GrowingReply | None,
        *,
        has_more: bool,
        at: str | None = None,
    ) -> None:
        """Show these items and no others, at the item `at` or at their end."""
        self._items = list(items)
        self.transcript.set_items(items, has_more=has_more, at=at)
        if live is not None and items and items[-1].id == live.id:
            self._begin(items[-1], live)

    def apply(self, items: Sequence[TranscriptItem], live: GrowingReply | None, *, has_more: bool) -> None:
        """Show these items: what is the same stays as it is, and what is in view stays where it is."""
        items = list(items)
        shown = self._items
        if not shown or not items:
            self.reset(items, live, has_more=has_more)
            return
        if shown[0].id != items[0].id:
            before = next((index for index, item in enumerate(items) if item.id == shown[0].id), None)
            if before is None:
                self.reset(items, live, has_more=has_more)
                return
            self.transcript.prepend_items(items[:before], has_more=has_more)
            shown = self._items = [*items[:before], *shown]
        same = _common(shown, items)
        for index in range(same):
            if shown[index] != items[index]:
                self._update(shown[index], items[index])
        if len(shown) > same:
            self.transcript.remove_items_after(shown[same - 1].id)
        for item in items[same:]:
            if item.status == "streaming" and live is not None:
                self._begin(item, live)
            else:
                self.transcript.append_item(item)
        self._items = items

    def append(self, item_id: str, text: str) -> bool:
        """Let the reply that grows have more text; return whether it is shown."""
        if not self._items or self._items[-1].id != item_id:
            return False
        self._streamed += len(text)
        self.transcript.append_delta(item_id, text)
        return True

    def _begin(self, item: TranscriptItem, live: GrowingReply) -> None:
        self._streamed = len(item.text)
        self.transcript.begin_stream(item, seconds=time.monotonic() - live.since)

    def _update(self, old: TranscriptItem, new: TranscriptItem) -> None:
        if old.status == "streaming" and new.status == "streaming":
            if new.fold != old.fold or new.activity != old.activity:
                self.transcript.update_item(new)
            if len(new.text) > self._streamed:
                self.append(new.id, new.text[self._streamed :])
        elif old.status == "streaming":
            self.transcript.end_stream(new)
        else:
            self.transcript.update_item(new)


def _common(shown: Sequence[TranscriptItem], items: Sequence[TranscriptItem]) -> int:
    """Return how many items at the beginning are the same ones (in whatever state)."""
    count = 0
    for old, new in zip(shown, items, strict=False):
        if old.id != new.id or old.kind != new.kind:
            break
        count += 1
    return count
