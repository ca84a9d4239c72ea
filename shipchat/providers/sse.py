"""Splits the bytes of a server-sent event stream into the data of its events; what the data means is not its affair."""

from typing import Final

MAX_EVENT_BYTES: Final = 8 * 1024 * 1024
"""An event larger than this is no chat event: the peer is broken, and memory is not to pay for it."""


class SseTooLarge(Exception):
    """One event passed MAX_EVENT_BYTES."""


class SseSplitter:
    r"""Takes bytes as they come, cut anywhere, and gives back the data of each event that is whole.

    An event is whole once its empty line has come: the tail of a stream that broke off is never given out. Lines
    may end in LF, CRLF or CR; comments (`: ping`) and the fields event, id and retry are skipped (the protocols we
    speak repeat the event's type in its data).
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of the events that `chunk` completed, in order.

        Raises SseTooLarge.
        """
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a CRLF; its CR has ended the line already
            self._after_cr = False
        buffer = self._rest + chunk if self._rest else chunk
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        end = max(buffer.rfind(b"\n"), buffer.rfind(b"\r")) + 1
        self._rest = buffer[end:]
        if self._size + len(self._rest) > MAX_EVENT_BYTES:
            raise SseTooLarge
        events: list[bytes] = []
        for line in buffer[:end].splitlines():
            if not line:
                if self._data:
                    events.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data = []
                    self._size = 0
            elif line.startswith(b"data:"):
                data = line[6:] if line[5:6] == b" " else line[5:]
                self._data.append(data)
                self._size += len(data)
                if self._size > MAX_EVENT_BYTES:
                    raise SseTooLarge
        return events
