"""Goes on with a session line by line: a prompt a line, replies as plain text, until the end of the input."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import Final

from shipchat.core.errors import ShipchatError, UsageError
from shipchat.headless.one_shot import Close, closed, tell
from shipchat.headless.text import TextOutput, say
from shipchat.sessions.chat_session import ChatSession

PROMPT: Final = "> "


def run_lines(chat: ChatSession, *, close: Close) -> int:
    """Send each line of standard input as a prompt, close the chat, and return the exit code.

    On a terminal, Ctrl-C stops the reply (at the prompt it clears the line), Ctrl-D leaves with 0, and a turn that
    fails is told and the next line is asked for. From a pipe, the first failing turn ends it with that turn's code.
    """
    interactive = sys.stdin.isatty()
    code = 0
    with asyncio.Runner() as runner:
        try:
            for line in _terminal_lines() if interactive else _piped_lines():
                code = _turn(chat, line, runner, interactive=interactive)
                if code and not interactive:
                    break
        finally:
            runner.run(closed(chat, close))
    return 0 if interactive else code


def _turn(chat: ChatSession, line: str, runner: asyncio.Runner, *, interactive: bool) -> int:
    try:
        return runner.run(tell(chat, lambda: chat.send(line), TextOutput(key=chat.key)))
    except UsageError:
        if not line.strip():  # an empty line is a slip of the finger
            return 0
        raise
    except ShipchatError as error:
        if not interactive:
            raise
        for text in (f"shipchat: {error} ({error.code})", *error.advice[:2]):
            say(text)
        return error.exit_code


def _terminal_lines() -> Iterator[str]:
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 -- gives input() its editing keys and history
    signal.signal(signal.SIGINT, signal.default_int_handler)
    while True:
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            print()
        except EOFError:
            print()
            return


def _piped_lines() -> Iterator[str]:
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", "replace").rstrip("\r\n")
