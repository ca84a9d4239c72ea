"""What a docstring says of a function and of its parameters, in the two styles that are common."""

import inspect
import re
from typing import Final

_SECTION: Final = re.compile(r"^(Args|Arguments|Parameters|Params)\s*:\s*$")
_OTHER_SECTION: Final = re.compile(r"^(Returns?|Yields?|Raises|Examples?|Notes?|See Also|Warnings?)\s*:\s*$")
_GOOGLE: Final = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD: Final = re.compile(r"^\s*:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


def described(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Return what the docstring says of the function, and of each parameter (`Args:` or `:param x:`).

    >>> described("Add two numbers.\n\nArgs:\n    a: the first\n    b: the second,\n        usually small")
    ('Add two numbers.', {'a': 'the first', 'b': 'the second, usually small'})
    """
    about: list[str] = []
    arguments: dict[str, list[str]] = {}
    current: list[str] = about
    indent: int | None = None  # of the names in an Args section; None outside of one
    for line in inspect.cleandoc(docstring).splitlines():
        stripped = line.strip()
        depth = len(line) - len(line.lstrip())
        if _SECTION.match(line):
            indent, current = 0, []
        elif _OTHER_SECTION.match(line):
            indent, current = None, []
        elif field := _FIELD.match(line):
            current = arguments.setdefault(field[1], [])
            current.append(field[2])
        elif stripped.startswith(":"):  # :returns: and the like
            current = []
        elif indent is not None and (named := _GOOGLE.match(line)) and (indent in (0, depth)):
            indent = depth
            current = arguments.setdefault(named[1], [])
            current.append(named[2])
        elif current is about or stripped:
            current.append(line if current is about else stripped)
    return "\n".join(about).strip(), {name: " ".join(lines).strip() for name, lines in arguments.items()}
