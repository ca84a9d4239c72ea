"""The text on standard input, read without hanging on a pipe that is open but silent."""

import locale
import os
import threading
from typing import Final

from shipchat.core.errors import UsageError

SILENCE: Final = 0.5
"""Seconds a pipe may stay silent before a prompt from the arguments is sent without it."""


def read_stdin(*, patient: bool) -> str | None:
    """Return all text on standard input, or None when nothing came within SILENCE seconds.

    With `patient` it is waited for, however long. Once the first byte (or the end) is there, the rest is waited for
    in either case. UTF-8, else the locale's encoding with a replacement character for what is wrong in that.
    """
    if patient:
        return _decoded(_read_all())
    # A thread works on pipes, sockets and files of every system (select doesn't), and may be left behind: it reads
    # the descriptor itself, so that it holds no lock the interpreter needs to end.
    chunks: list[bytes] = []
    begun, ended = threading.Event(), threading.Event()

    def read() -> None:
        try:
            while chunk := os.read(0, 65536):
                chunks.append(chunk)
                begun.set()
        except OSError:
            pass  # a descriptor that can't be read has nothing to say
        finally:
            ended.set()
            begun.set()

    threading.Thread(target=read, daemon=True, name="standard input").start()
    if not begun.wait(SILENCE):
        return None
    ended.wait()
    return _decoded(b"".join(chunks))


def _read_all() -> bytes:
    chunks: list[bytes] = []
    try:
        while chunk := os.read(0, 65536):
            chunks.append(chunk)
    except OSError as error:
        raise UsageError(
            f"standard input can't be read: {(error.strerror or 'unknown reason').lower()}"
        ) from None
    return b"".join(chunks)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(locale.getpreferredencoding(do_setlocale=False), "replace")
