"""A question below the conversation: one line to type, or one of some options; how it looks and which is chosen."""

import asyncio
from collections.abc import Sequence
from typing import Final

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document

from shipchat.commands.command import Option
from shipchat.core.safe_text import safe_line
from shipchat.inline.composer import clean
from shipchat.inline.rows import Row, cells, cut

MOST_ROWS: Final = 8
LABEL_CELLS: Final = 44


class Question:
    """Asked once; `answer` is done when it is answered or given up (None)."""

    def __init__(
        self, title: str, note: str = "", *, value: str = "", options: Sequence[Option] | None = None
    ) -> None:
        self.title = safe_line(title)
        self.note = safe_line(note)
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._options = options
        self._at = 0
        text = clean(value)
        self.buffer = Buffer(document=Document(text, len(text)), multiline=False, name="answer")
        self.buffer.on_text_changed += self._typed

    @property
    def chosen(self) -> bool:
        """Whether options are offered (else any line is an answer)."""
        return self._options is not None

    def matches(self) -> list[Option]:
        """Return the options with every word that is typed in them."""
        words = self.buffer.text.casefold().split()
        return [
            one
            for one in self._options or ()
            if all(word in f"{one.id} {one.label} {one.detail}".casefold() for word in words)
        ]

    def move(self, by: int) -> None:
        """Go up or down."""
        self._at = min(max(self._at + by, 0), max(len(self.matches()) - 1, 0))

    def accept(self) -> None:
        """Take what is typed or chosen as the answer."""
        if self._options is None:
            self._resolve(self.buffer.text)
            return
        matches = self.matches()
        if matches:
            self._resolve(matches[min(self._at, len(matches) - 1)].id)

    def give_up(self) -> None:
        """Answer nothing."""
        self._resolve(None)

    def rows(self, width: int) -> list[Row]:
        """Return the options around the chosen one."""
        if self._options is None:
            return []
        matches = self.matches()
        if not matches:
            return [[("class:muted", "nothing fits")]]
        first = max(0, min(self._at - MOST_ROWS + 2, len(matches) - MOST_ROWS))
        shown = list(enumerate(matches))[first : first + MOST_ROWS]
        labels = [cut(safe_line(one.label or one.id), min(LABEL_CELLS, width - 4)) for _, one in shown]
        column = max(map(cells, labels)) + 3
        rows: list[Row] = []
        for (index, one), label in zip(shown, labels, strict=True):
            here = index == self._at
            rows.append(
                [
                    ("class:accent", "▌ " if here else "  "),
                    ("class:strong" if here else "", label + " " * (column - cells(label))),
                    ("class:muted", cut(safe_line(_detail(one)), max(width - column - 3, 0))),
                ]
            )
        more = len(matches) - first - len(shown)
        if more > 0:
            rows.append([("class:muted", f"  {more:,} more: type to narrow down")])
        return rows

    def _typed(self, _buffer: Buffer) -> None:
        self._at = 0

    def _resolve(self, answer: str | None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


def _detail(option: Option) -> str:
    detail = (
        f"{option.group} · {option.detail}"
        if option.group and option.detail
        else option.group or option.detail
    )
    return f"{detail}  (in use)" if option.current else detail
