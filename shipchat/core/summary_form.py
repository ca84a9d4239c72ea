"""The form of a compaction's summary: six headings, found in whatever a model wrote and put in order."""

import re
from typing import Final

HEADINGS: Final = (
    "Goal",
    "Constraints and preferences",
    "Progress",
    "Decisions",
    "Next steps",
    "Critical context",
)
"""The headings of every summary, in this order."""

NONE: Final = "- (none)"
"""What stands under a heading that has nothing."""

_HEADING: Final = re.compile(
    r"^[ \t]*(?:\#{1,6}[ \t]*|\d[.)][ \t]*)?\**[ \t]*"
    r"(?P<name>goals?|constraints(?:[ \t]+(?:and|&)[ \t]+preferences)?|progress|decisions?|next[ \t]+steps?"
    r"|critical[ \t]+context)"
    r"[ \t]*\**[ \t]*(?P<colon>:?)[ \t]*\**[ \t]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"[\s#*_`-]*(?:\(?none\)?\.?)?[\s#*_`-]*", re.IGNORECASE)


def headings_in(text: str) -> int:
    """Return how many of the six headings stand in `text`, in any of the usual ways of writing one."""
    return len({name for line in text.splitlines() if (name := _heading(line)[0]) is not None})


def in_form(text: str) -> str:
    """Return a summary under the six headings in their order; nothing of it is said twice under one heading.

    Small models repeat themselves: a line comes once. What stands before any heading goes under `Progress`.
    """
    sections: dict[str, dict[str, None]] = {name: {} for name in HEADINGS}
    current = "Progress"
    for line in text.splitlines():
        name, rest = _heading(line)
        if name is not None:
            current = name
        kept = (line if name is None else rest).rstrip()
        if not _NOTHING.fullmatch(kept):
            sections[current].setdefault(kept)
    return "\n\n".join(f"## {name}\n" + ("\n".join(lines) or NONE) for name, lines in sections.items())


def _heading(line: str) -> tuple[str | None, str]:
    """Return which heading `line` is, and what stands on it after a colon."""
    found = _HEADING.match(line)
    if found is None or (found["rest"] and not found["colon"]):
        return None, ""  # no heading, or a sentence that begins with one of the words
    word = found["name"].casefold()[:3]
    return next(name for name in HEADINGS if name.casefold().startswith(word)), found["rest"].strip()
