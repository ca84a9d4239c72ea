"""What ends a command early, told in one line on standard error, and the exit code that goes with it."""

import sys
from collections.abc import Sequence

from shipchat.core.errors import ShipchatError


def told(error: Exception, arguments: Sequence[str] = (), *, as_json: bool = False) -> int:
    """Print `error`, an unexpected one after writing a report about it, and return the exit code.

    `arguments` are those of the program: the report names the command among them.
    """
    from shipchat.cli.printing import print_error

    if not isinstance(error, ShipchatError):
        from shipchat.cli.reports import reported

        error = reported(error, arguments)
    sys.stdout.flush()
    print_error(error, as_json=as_json)
    return error.exit_code
