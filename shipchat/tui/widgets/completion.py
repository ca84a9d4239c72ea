"""What is being completed: finds the `/` command or `@` file name under the cursor; where candidates come from is not here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to complete with: `name` is put in (with its `/` or `@`), `description` explains it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """What was typed so far: `text` is without the sign, `start` and `end` are columns of the line it stands in.

    With a `command` the text is the argument typed behind that command so far, and has no sign.
    """

    sign: Literal["/", "@"]
    text: str
    start: int
    end: int
    command: str = ""


#: Returns the candidates for a query, best first. Called at every key: must not take long.
CompletionSource = Callable[[CompletionQuery], Sequence[Candidate]]


def no_candidates(_query: CompletionQuery) -> Sequence[Candidate]:
    """Complete nothing."""
    return ()


def completion_query(line: str, row: int, column: int) -> CompletionQuery | None:
    """Return what is being completed with the cursor at `column` of `line`, the draft's line `row`; None if nothing.

    A command stands at the very beginning of the draft, its argument after it up to the end of the line; a file name
    after `@` at the beginning of any word.

    >>> completion_query("/fo", 0, 3)
    CompletionQuery(sign='/', text='fo', start=0, end=3)
    """
    before = line[:column]
    start = len(before) - len(before.split(" ")[-1].split("\t")[-1])
    word = before[start:]
    if row == 0 and start == 0 and word.startswith("/") and "/" not in word[1:]:
        return CompletionQuery("/", word[1:], 0, column)
    if word.startswith("@"):
        return CompletionQuery("@", word[1:], start, column)
    if row == 0 and column == len(line) and before.startswith("/"):
        command, space, argument = before[1:].partition(" ")
        if space and command and "/" not in command:
            text = argument.lstrip(" ")
            return CompletionQuery("/", text, column - len(text), column, command)
    return None
