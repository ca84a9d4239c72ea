"""What may stand after a command, completed from what is known already: sessions, tags, positions, themes, models."""

from collections.abc import Iterable, Sequence

from shipchat.commands.command import CommandContext, Option
from shipchat.commands.model_list import model_options
from shipchat.core.summaries import SessionSummary

MOST = 50
"""Candidates offered at most."""


def sessions(context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer sessions whose key or title has `prefix` in it, newest first."""
    folded = prefix.casefold()
    found = [row for row in context.rows if folded in row.key.casefold() or folded in row.title.casefold()]
    found.sort(key=lambda row: row.updated, reverse=True)
    return [Option(row.key, row.key, row.title) for row in found[:MOST]]


def all_tags(rows: Iterable[SessionSummary]) -> list[str]:
    """Return every tag in use, the most used first."""
    counts: dict[str, int] = {}
    for row in rows:
        for tag in row.tags:
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def new_tags(context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer tags in use elsewhere."""
    own = set(context.chat.session.tags)
    return [Option(tag, tag) for tag in all_tags(context.rows) if tag.startswith(prefix) and tag not in own][
        :MOST
    ]


def own_tags(context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer the session's own tags."""
    return [Option(tag, tag) for tag in context.chat.session.tags if tag.startswith(prefix)]


def themes(context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer themes."""
    return [Option(name, name) for name in context.stage.themes() if name.startswith(prefix)]


def models(context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer models."""
    return [
        one for one in model_options(context.services, str(context.chat.model), ask=False) if prefix in one.id
    ][:MOST]


def words(*choices: str) -> "CompleteWords":
    """Return what offers these words."""
    return CompleteWords(choices)


class CompleteWords:
    """Offers a few fixed words."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._choices = choices

    def __call__(self, _context: CommandContext, prefix: str) -> Sequence[Option]:
        """Offer those that begin with `prefix`."""
        return [Option(word, word) for word in self._choices if word.startswith(prefix)]
