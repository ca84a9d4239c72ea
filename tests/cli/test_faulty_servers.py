"""The whole program against servers that fail: exit codes, sentences, what is kept; and a key that appears nowhere."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program, Result
from tests.providers.wires import ANTHROPIC, CHAT, Wire

KEY = "sk-CANARY-0123456789abcdef"
SECRET = "sk-CANARYURL"


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    status = 200
    kind = "text/event-stream"
    body = b""
    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.extra: dict[str, str] = {}


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        self.server.asked += 1
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(self.server.status, self.server.kind, self.server.body)

    def do_GET(self) -> None:
        listing = {"data": [{"id": "m", "context_length": 50_000}, {"id": "another"}]}
        self._answer(200, "application/json", json.dumps(listing).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in self.server.extra.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[_Server]:
    made = _Server()
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def configured(program: Program, server: _Server, wire: Wire) -> dict[str, str | None]:
    port = server.server_address[1]
    folder = program.place / "config"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        f'[providers.mine]\nkind = "{wire.kind}"\napi_key_env = "MINE_KEY"\n'
        f'base_url = "http://user:{SECRET}@127.0.0.1:{port}{wire.base}"\nmodels = ["m"]\n'
    )
    loud = {
        "ANTHROPIC_LOG": "debug",
        "OPENAI_LOG": "debug",
        "HTTPX_LOG_LEVEL": "trace",
        "PYTHONASYNCIODEBUG": "",
    }
    return {"MINE_KEY": KEY, "SHIPCHAT_DEFAULT_MODEL": "mine/m", "OPENAI_ADMIN_KEY": KEY, **loud}


def clean(program: Program, result: Result) -> None:
    """Nothing that was printed or written holds the key, except the config that the user wrote it into."""
    assert "CANARY" not in result.out + result.err
    assert "Traceback" not in result.err
    for path in program.place.rglob("*"):
        if path.is_file() and path.name != "config.toml":
            assert b"CANARY" not in path.read_bytes(), path


REPLY = {wire.name: b"".join(wire.reply("hello ", "there")) for wire in (ANTHROPIC, CHAT)}

FAULTS: dict[str, tuple[dict[str, Any], int, str]] = {
    "401 that repeats the key": (
        {
            "status": 401,
            "kind": "application/json",
            "body": json.dumps({"error": {"message": f"bad {KEY}"}}).encode(),
        },
        8,
        "provider_auth",
    ),
    "403": ({"status": 403}, 8, "provider_auth"),
    "404": ({"status": 404}, 8, "model_missing"),
    "413": ({"status": 413}, 9, "context_overflow"),
    "429 with a long wait": ({"status": 429, "extra": {"retry-after": "900"}}, 7, "provider_rate_limited"),
    "500 at every try": ({"status": 500, "extra": {"retry-after": "0"}}, 7, "provider_unavailable"),
    "a page of HTML": ({"kind": "text/html", "body": f"<p>{KEY}".encode()}, 7, "provider_unavailable"),
    "elsewhere": (
        {"status": 302, "extra": {"location": f"http://127.0.0.1:9/?key={KEY}"}},
        7,
        "provider_rejected",
    ),
}


# How faults look in each protocol is proved within one process; here both only once, since each run imports an SDK.
@pytest.mark.parametrize(
    ("wire", "fault"),
    [(ANTHROPIC, "401 that repeats the key"), *((CHAT, fault) for fault in FAULTS)],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_fault_has_its_code_and_no_key_is_seen(
    program: Program, server: _Server, wire: Wire, fault: str
) -> None:
    answer, code, name = FAULTS[fault]
    for field, value in answer.items():
        setattr(server, field, value)
    env = configured(program, server, wire)
    result = program.run("send", "-s", "a", "Hi", env=env)
    assert (result.code, f"({name})" in result.err) == (code, True), result
    # Three tries; and a request that is too long is tried with less and less of the session.
    assert server.asked == {"500 at every try": 3, "413": 4}.get(fault, 1)
    assert program.texts("a")[0] == "Hi"  # the prompt is kept
    clean(program, result)


@pytest.mark.parametrize("wire", [CHAT], ids=lambda wire: wire.name)
def test_a_cut_keeps_what_came_and_a_second_try_goes_on(
    program: Program, server: _Server, wire: Wire
) -> None:
    env = configured(program, server, wire)
    server.body = b"".join([*wire.head, wire.token("half a ")])
    result = program.run("send", "-s", "a", "Hi", env=env)
    assert (result.code, result.out.strip()) == (7, "half a"), result
    assert "(provider_unavailable)" in result.err
    assert server.asked == 1  # text had come: nothing is sent twice by itself
    shown = program.good("show", "a", "--json").json["messages"]
    assert [(one["text"], one.get("status")) for one in shown] == [("Hi", None), ("half a ", "failed")]
    server.body = REPLY[wire.name]
    good = program.run("send", "-s", "a", "Again", env=env)
    assert (good.code, good.out) == (0, "hello there\n"), good
    clean(program, good)


def test_a_missing_key_is_said_before_anything_is_stored(program: Program, server: _Server) -> None:
    env = configured(program, server, CHAT) | {"MINE_KEY": None}
    result = program.run("send", "-s", "a", "Hi", env=env)
    assert result.code == 8
    assert "there is no API key for mine (provider_auth)" in result.err
    assert "shipchat keys set mine" in result.err
    assert not program.file("a").exists()
    kept = program.run("keys", "set", "mine", stdin=KEY, env=env)
    assert kept.code == 0
    server.body = REPLY["chat"]
    result = program.run("send", "-s", "a", "Hi", env=env)
    assert (result.code, result.out) == (0, "hello there\n")


def test_models_of_a_server_are_listed_by_itself(program: Program, server: _Server) -> None:
    env = configured(program, server, CHAT)
    rows = program.run("models", "list", "mine", "--json", env=env)
    assert [(row["model"], row["window"]) for row in rows.json] == [
        ("mine/m", 50_000),
        ("mine/another", None),
    ]
    listed = program.run("models", "list", env=env)
    assert f"at 127.0.0.1:{server.server_address[1]}" in listed.out
    assert "CANARY" not in rows.out + listed.out + listed.err
    nobody = program.run("models", "list", "nobody")
    assert nobody.code == 8


def test_the_key_is_not_in_the_list_of_processes(program: Program, server: _Server) -> None:
    env = configured(program, server, CHAT)
    gate = threading.Event()
    answer = server.RequestHandlerClass.do_POST  # type: ignore[attr-defined]

    def slow(handler: _Handler) -> None:
        server.asked += 1
        gate.wait(30)

    server.RequestHandlerClass.do_POST = slow  # type: ignore[attr-defined]
    process = program.start("send", "Hi", env=env)
    try:
        while server.asked == 0:
            assert process.poll() is None
        arguments = Path(f"/proc/{process.pid}/cmdline")
        if arguments.exists():
            assert b"CANARY" not in arguments.read_bytes()
    finally:
        server.RequestHandlerClass.do_POST = answer  # type: ignore[attr-defined]
        gate.set()
        process.kill()
        process.communicate(timeout=30)
