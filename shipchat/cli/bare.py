"""The program without arguments on a terminal: the full screen, and whatever goes wrong as a line and an exit code."""

from shipchat.cli.screen import show_screen
from shipchat.cli.told import told


def run_bare() -> int:
    """Show the screen and return the exit code; errors are printed, never raised.

    BrokenPipeError and KeyboardInterrupt pass through: they end the program wherever they happen.
    """
    try:
        return show_screen()
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 -- the last line of defence: a user sees one line, not a traceback
        return told(error)
