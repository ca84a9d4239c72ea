"""The program's first and last steps: `--version` at once, streams that can't fail, exit codes; the rest is `cli`'s."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import Final

from shipchat.version import __version__

INTERRUPTED: Final = 130
OUTPUT_CLOSED: Final = 141
REFUSED: Final = 6


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with `arguments` (default: those of the process) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    # Imports make hundreds of thousands of objects that stay: looking through them for garbage took a tenth of the
    # CPU of `shipchat list`.
    gc.set_threshold(50_000, 20, 20)
    try:
        if given in (["--version"], ["-V"]):
            print(f"shipchat {__version__}")
            code = 0
        elif not given and _shows_screen():
            # Straight to the screen: typer, which has nothing to parse here, would take longer than all of its look.
            from shipchat.cli.bare import run_bare

            code = run_bare()
        else:
            from shipchat.cli.app import run

            code = run([_readable(one) for one in given])
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return OUTPUT_CLOSED
    except OSError as error:
        # Only the flush above gets here (a full /dev/stdout, say): commands report their own.
        reason = (error.strerror or type(error).__name__).lower()
        print(f"shipchat: the output: {reason} (system)", file=sys.stderr)
        return REFUSED
    finally:
        _close_output()


def _open_streams() -> None:
    # A closed descriptor 0, 1 or 2 would be given to the next file opened: a session, with messages printed into it.
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 -- lives as long as we do
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 -- as above
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 -- as above
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a narrow encoding shows ? for what it lacks, never a traceback
            reconfigure(errors="replace")


def _shows_screen() -> bool:
    if os.environ.get("_SHIPCHAT_COMPLETE"):
        return False
    from shipchat.cli.screen import has_screen

    return has_screen()


def _readable(argument: str) -> str:
    # Bytes that the locale could not decode: UTF-8 is the best guess there is.
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def _close_output() -> None:
    # What the interpreter still flushes at exit must not fail: a closed pipe gets /dev/null in its place.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(null, stream.fileno())
            except (OSError, ValueError):
                pass
            finally:
                os.close(null)


if __name__ == "__main__":
    sys.exit(main())
