"""Transport alone: CPU of ten thousand tokens through each adapter, from a server on loopback to events.

The server is a process of its own and sends an HTTP chunk a token, as vendors do; the limit is the same bytes
through the bare socket and a JSON parser.
"""

import asyncio
import json
import multiprocessing
import socket
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

from shipchat.core.events import TextDelta
from tests.bench.row import BenchRow
from tests.providers.wires import WIRES, Wire, request

TOKENS = 10_000
ROUNDS = 3
GOAL = "<= 0.3 CPU s per 10,000 tokens"


def _reply(wire: Wire) -> list[bytes]:
    return wire.reply(*(f"word{n} " for n in range(TOKENS)))


def _serve(name: str, ready: "Connection[int, None]") -> None:
    wire = next(one for one in WIRES if one.name == name)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    body = head + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in _reply(wire)) + b"0\r\n\r\n"
    listener = socket.create_server(("127.0.0.1", 0))
    ready.send(listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        with connection:
            got = b""
            while b"\r\n\r\n" not in got:
                got += connection.recv(65_536)
            length = got.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            missing = int(length or 0) - len(got.partition(b"\r\n\r\n")[2])
            while missing > 0:
                missing -= len(connection.recv(65_536))
            connection.sendall(body)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)


async def _through(wire: Wire, port: int) -> float:
    """Return the CPU seconds of one reply; the SDK is loaded before."""
    provider = wire.provider(f"http://127.0.0.1:{port}")
    await provider._connection.open()
    began = time.process_time()
    text = 0
    async for event in provider.stream(request()):
        if isinstance(event, TextDelta):
            text += len(event.text)
    took = time.process_time() - began
    await provider.close()
    if text != sum(len(f"word{n} ") for n in range(TOKENS)):
        raise AssertionError(f"{text} characters came")
    return took


def _bare(wire: Wire, port: int) -> float:
    """Return the CPU seconds of reading the same bytes from a socket and parsing each event."""
    began = time.process_time()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        got = b""
        while not got.endswith(b"0\r\n\r\n"):
            got += connection.recv(65_536)
    for line in got.splitlines():
        if line.startswith(b"data: {"):
            json.loads(line[6:])
    del wire
    return time.process_time() - began


def rows() -> Iterator[BenchRow]:
    """Yield a row for each protocol."""
    for wire in WIRES:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(wire.name, theirs), daemon=True
        )
        process.start()
        try:
            port = ours.recv()
            limit = min(_bare(wire, port) for _ in range(ROUNDS))
            best = min(asyncio.run(_through(wire, port)) for _ in range(ROUNDS))
        finally:
            process.terminate()
            process.join()
        yield BenchRow(f"transport, {wire.name}, 10,000 tokens", best, "CPU s", limit, best / limit, GOAL)
