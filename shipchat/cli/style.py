"""Bold and dim words, on terminals that show them and for users who want them; plain text everywhere else."""

import os
import sys


def styled(stream: object = None) -> bool:
    """Return whether text on `stream` (default: standard output) may be styled: NO_COLOR, TERM=dumb and pipes say no."""
    target = sys.stdout if stream is None else stream
    isatty = getattr(target, "isatty", None)
    return bool(isatty and isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def bold(text: str) -> str:
    """Return `text` in bold."""
    return f"\x1b[1m{text}\x1b[0m" if text and styled() else text


def dim(text: str) -> str:
    """Return `text` muted."""
    return f"\x1b[2m{text}\x1b[0m" if text and styled() else text
