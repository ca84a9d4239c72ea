"""The desk for full text: searches what the sidebar is filtered by, a moment after the last key, and hands back hits."""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from shipchat.core.errors import ShipchatError
from shipchat.core.search import SearchResult
from shipchat.tui.messages import FilterChanged, OwnMessage
from shipchat.tui.widgets.sidebar_row import SearchHit

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

PAUSE_SECONDS: Final = 0.15
"""Titles are matched at every key; the text of all sessions only once the fingers rest."""

MOST_HITS: Final = 200


@dataclass
class Found(OwnMessage):
    """What was found for `query`."""

    query: str
    result: SearchResult


def sidebar_hits(result: SearchResult) -> list[SearchHit]:
    """Return the hits that can be landed on: messages of the path that is shown. Titles are the sidebar's own affair."""
    return [
        SearchHit(hit.key, hit.position, hit.snippet, hit.marks)
        for hit in result.hits
        if hit.position is not None and hit.message_id is not None and hit.on_path
    ]


class SearchDesk:
    """Deals with the sidebar's filter."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._timer: Timer | None = None
        self._wanted = ""
        self._ended = False

    def end(self) -> None:
        """Search nothing any more."""
        self._ended = True
        self._wanted = ""

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about searching; return whether it was."""
        match message:
            case FilterChanged(query=query):
                self._typed(query)
            case Found(query=query, result=result):
                if query == self._wanted:
                    self._screen.view.sidebar.show_hits(query, sidebar_hits(result))
            case _:
                return False
        return True

    def _typed(self, query: str) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._wanted = query
        if query.strip() and not query.startswith("#"):
            self._timer = self._screen.set_timer(PAUSE_SECONDS, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._screen.run_worker(partial(self._search, self._wanted), thread=True, group="search")

    def _search(self, query: str) -> None:
        """Search in a thread; where not all is indexed yet, do that and search again."""
        search, post = self._screen.services.search, self._screen.post_message
        # Without a full text (no index can be made) titles are still found; the search command says why.
        with contextlib.suppress(ShipchatError):
            result = search.search(query, limit=MOST_HITS, per_session=1, prefix_last=True)
            post(Found(query, result))
            if not result.complete:
                search.catch_up(stop=lambda: self._ended or self._wanted != query)
                post(Found(query, search.search(query, limit=MOST_HITS, per_session=1, prefix_last=True)))
