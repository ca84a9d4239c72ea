"""Completes what is being typed: slash commands, what may follow them (sessions, tags, models), and `@files`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from shipchat.commands.command import CommandContext, Option
from shipchat.commands.file_names import matching_files
from shipchat.commands.table import complete_argument, complete_name
from shipchat.core.safe_text import safe_line
from shipchat.inline.rows import cut

MOST: Final = 50
LABEL_CELLS: Final = 40
DETAIL_CELLS: Final = 50


class ChatCompleter(Completer):
    """`context` gives what commands work with at the moment, having looked at the sessions again if need be."""

    def __init__(self, context: Callable[[], Awaitable[CommandContext]]) -> None:
        self._context = context

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Offer nothing: completion is asynchronous here."""
        del document, complete_event
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Offer what fits before the cursor."""
        del complete_event
        for completion in await self._offered(document):
            yield completion

    async def _offered(self, document: Document) -> list[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in document.text:
            name, space, argument = before[1:].partition(" ")
            if not space:
                return [
                    _completion(one, len(before), " " if one.current else "") for one in complete_name(name)
                ]
            context = await self._context()
            word = argument if name in ("resume", "open") else argument.rpartition(" ")[2]
            options = await asyncio.to_thread(complete_argument, context, name, word)
            return [_completion(one, len(word)) for one in options[:MOST]]
        word = before[-4096:].replace("\n", " ").rpartition(" ")[2]
        if word.startswith("@"):
            return await asyncio.to_thread(_files, word[1:])
        return []


def _completion(option: Option, length: int, after: str = "") -> Completion:
    return Completion(
        option.id + after,
        start_position=-length,
        display=cut(safe_line(option.label or option.id), LABEL_CELLS),
        display_meta=cut(safe_line(option.detail), DETAIL_CELLS),
    )


def _files(typed: str) -> list[Completion]:
    """Offer the files whose path begins with `typed`. Blocking."""
    folder, slash, begun = typed.rpartition("/")
    names = [name.removeprefix(folder + slash) for name in matching_files(typed)]
    return [
        Completion(name, start_position=-len(begun), display=cut(safe_line(name), LABEL_CELLS))
        for name in names
    ]
