"""Completing while one types: keeps the list in step with the text, and puts in what is chosen."""

from shipchat.tui.widgets.completion import CompletionQuery, CompletionSource
from shipchat.tui.widgets.completion_list import CompletionList
from shipchat.tui.widgets.composer_input import ComposerInput


class CompletionControl:
    """Stands between the composer's text and the list above it; `source` may be exchanged at any time."""

    def __init__(self, editor: ComposerInput, menu: CompletionList, source: CompletionSource) -> None:
        self.source = source
        self._editor = editor
        self._menu = menu
        self._query: CompletionQuery | None = None
        self._moved = False

    @property
    def opened(self) -> bool:
        """Whether there is something to choose from."""
        return self._menu.opened

    def follow(self, query: CompletionQuery | None) -> None:
        """Offer what completes `query`. The same query again changes nothing: what was closed stays closed."""
        if query != self._query:
            self._query = query
            self._moved = False
            self._menu.candidates = () if query is None else tuple(self.source(query))

    def key(self, key: str, submit: tuple[str, ...]) -> bool:
        """Deal with a key while the list is open; say whether that was all."""
        if key in {"up", "down"}:
            self._menu.move(-1 if key == "up" else 1)
            self._moved = True
        elif key == "escape":
            self.close()
        elif key == "tab":
            self.take()
        elif key in submit:
            chosen, query = self._menu.candidates[self._menu.selected], self._query
            if query is not None and (self._plain(query) or f"{query.sign}{query.text}" == chosen.name):
                self.close()
                return False  # typed in full: the key means what it always means
            self.take()
        else:
            return False
        return True

    def _plain(self, query: CompletionQuery) -> bool:
        """Say whether what was typed is meant as it is: an argument (`/fork 1`) nothing was chosen for."""
        return bool(query.command) and not self._moved

    def take(self, index: int | None = None) -> None:
        """Put in a candidate, the highlighted one by default, and a space; a directory is completed further."""
        if self._query is None or not self._menu.opened:
            return
        chosen = self._menu.candidates[self._menu.selected if index is None else index]
        end = "" if chosen.name.endswith("/") or self._query.command else " "
        row, _ = self._editor.cursor_location
        start, stop = (row, self._query.start), (row, self._query.end)
        self._editor.replace(chosen.name + end, start, stop, maintain_selection_offset=False)

    def close(self) -> None:
        """Close the list until something else is typed."""
        self._menu.candidates = ()

    def forget(self) -> None:
        """Close the list; what is typed next is completed even if it is the same."""
        self._query = None
        self.close()
