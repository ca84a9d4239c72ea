"""An HTTP server on loopback that answers with exactly the bytes a test wants, and keeps what it was asked."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Self


class Then(Enum):
    """What happens after the chunks of an answer."""

    END = "the body ends as HTTP wants it"
    CLOSE = "the connection is closed in the middle of the body"
    RESET = "the connection is reset"
    STALL = "nothing more comes"


@dataclass(frozen=True)
class Answer:
    """One answer. `framing` says how the body's length is told: by chunks, or by the end of the connection."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    then: Then = Then.END
    framing: Literal["chunked", "close"] = "chunked"
    endless: bytes = b""


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def json_answer(status: int, value: object, **headers: str) -> Answer:
    return Answer(
        [json.dumps(value).encode()], status=status, headers={"content-type": "application/json", **headers}
    )


class RawServer:
    """Gives the n-th request the n-th answer, and the last one to all that follow."""

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.answers = answers
        self.asked: list[Asked] = []
        self.came = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._tls = tls
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{'localhost' if self._tls else '127.0.0.1'}:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._answer_one(reader, writer):
                pass
        writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(Asked(method, path, headers, body))
        self.came.set()
        writer.write(_head(answer))
        for chunk in answer.chunks:
            writer.write(_framed(answer, chunk))
        await writer.drain()
        while answer.endless:
            writer.write(_framed(answer, answer.endless))
            await writer.drain()
        if answer.then is Then.RESET:
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if answer.then is Then.STALL:
            await reader.read()
            self.hung_up.set()
            return False
        if answer.then is Then.END and answer.framing == "chunked":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
            return True
        return False


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Whatever", *(f"{k}: {v}" for k, v in answer.headers.items())]
    lines.append("transfer-encoding: chunked" if answer.framing == "chunked" else "connection: close")
    return "\r\n".join((*lines, "", "")).encode()


def _framed(answer: Answer, chunk: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(chunk), chunk) if answer.framing == "chunked" else chunk
