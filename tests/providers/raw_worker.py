"""Stands in for `shipchat/providers/local_worker.py`: same protocol, but its replies are bytes chosen by a test.

The "model" is a file `GGUF` + JSON: {"reply": text, "chunked": bool, "silent": bool, "die": bool}. The n-th request
(from 0) is answered with the first n bytes of the reply, and the connection is closed. `die` ends the process
instead of closing; `error` refuses to start.
"""

import json
import os
import socket
import sys
import threading
from typing import Any


def answer(connection: socket.socket, script: dict[str, Any], count: int) -> None:
    with connection:
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65_536)
        head, _, body = request.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += connection.recv(65_536)
        reply = script["reply"].encode()[:count]
        kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        if script.get("chunked"):
            whole = b"%x\r\n%s\r\n" % (len(reply) + 10, reply)  # promises ten bytes more than come
            connection.sendall(kind + b"Transfer-Encoding: chunked\r\n\r\n" + whole[:-2])
        else:
            connection.sendall(kind + b"Connection: close\r\n\r\n" + reply)
        if script.get("die"):
            print("a cry for help", file=sys.stderr, flush=True)
            os._exit(9)


def main() -> None:
    order = json.loads(sys.stdin.readline())
    with open(order["model"], "rb") as file:
        script = json.loads(file.read()[4:])
    if "error" in script:
        print(json.dumps({"error": script["error"]}), flush=True)
        return
    if script.get("mute"):
        print("last words", file=sys.stderr, flush=True)
        return
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(order["socket"])
    listener.listen(16)
    threading.Thread(target=serve, args=(listener, script), daemon=True).start()
    print(json.dumps({"ready": "unix://" + order["socket"]}), flush=True)
    sys.stdin.read()
    os._exit(0)


def serve(listener: socket.socket, script: dict[str, Any]) -> None:
    count = -1  # the first connection asks for /props
    while True:
        connection, _ = listener.accept()
        answer(connection, script, max(0, count))
        count += 1


if __name__ == "__main__":
    main()
