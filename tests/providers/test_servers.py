"""Which servers there are, where they are, whose key they are given, and how they are shown without it."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import pytest

from shipchat.core.errors import ProviderAuth
from shipchat.providers.catalog import ANTHROPIC, OPENAI, Price, known, unknown_scale
from shipchat.providers.discovery import FoundServer, find_servers
from shipchat.providers.listing import ListedModel
from shipchat.providers.offered import OfferedModel, offered_models
from shipchat.providers.server import Server, said
from shipchat.providers.servers import known_servers


@dataclass(frozen=True)
class Configured:
    name: str
    kind: Literal["anthropic", "openai"]
    base_url: str
    api_key_env: str | None = None
    models: tuple[str, ...] = ()
    context_window: int | None = None
    max_output: int | None = None


def servers(*configured: Configured, **environment: str) -> dict[str, Server]:
    def find(name: str, variable: str | None) -> str | None:
        return f"key of {name} in {variable}"

    return known_servers({one.name: one for one in configured}, find, environment=environment)


def test_without_any_config() -> None:
    found = servers()
    assert {name: (one.url, one.key_variable) for name, one in found.items()} == {
        "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "ollama": ("http://127.0.0.1:11434/v1", None),
        "llamacpp": ("http://127.0.0.1:8080/v1", None),
        "vllm": ("http://127.0.0.1:8000/v1", None),
        "lmstudio": ("http://127.0.0.1:1234/v1", None),
    }
    assert found["anthropic"].is_vendor
    assert found["anthropic"].note == ""
    assert found["anthropic"].key() == "key of anthropic in ANTHROPIC_API_KEY"


def test_the_vendors_variables_move_them_and_that_is_shown() -> None:
    found = servers(ANTHROPIC_BASE_URL="https://gateway.example/v1/", OPENAI_BASE_URL="http://10.0.0.9:1/v1")
    assert found["anthropic"].base_url == "https://gateway.example"
    assert found["anthropic"].note == "at gateway.example"
    assert found["openai"].note == "at 10.0.0.9:1, NOT ENCRYPTED"
    assert not found["openai"].is_vendor


def test_a_server_of_the_config_gets_only_the_key_it_names() -> None:
    found = servers(
        Configured("mine", "openai", "https://mine.example/v1/"),
        Configured("paid", "openai", "https://paid.example/v1", api_key_env="PAID_KEY"),
        Configured("anthropic", "anthropic", "https://api.anthropic.com/v1", models=("m",), context_window=9),
        Configured("again", "openai", "https://api.openai.com/v1"),
    )
    assert {name: found[name].key_variable for name in ("mine", "paid", "anthropic", "again")} == {
        "mine": None,
        "paid": "PAID_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
        "again": "OPENAI_API_KEY",
    }
    assert found["anthropic"].is_vendor
    assert (found["anthropic"].models, found["anthropic"].window) == (("m",), 9)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:sk-CANARY@host.example:8/v1?key=sk-CANARY#x", "https://host.example:8/v1"),
        ("https://sk-CANARY@host.example/v1", "https://host.example/v1"),
    ],
)
def test_what_a_base_url_hides_is_never_shown(url: str, shown: str) -> None:
    server = Server(name="x", kind="openai", base_url=url, key=lambda: "sk-CANARY")
    assert server.url == shown
    assert "CANARY" not in f"{server!r} {server.note} {server.host}"
    assert said("your key sk-CANARY is\n wrong \x1b[2J", server.secrets("sk-CANARY")) == (
        "your key … is wrong \N{SYMBOL FOR ESCAPE}[2J"
    )


@pytest.mark.parametrize("key", ["two words", "nön-ascii", "line\nbreak", "bell\x07"])
def test_a_key_that_is_none_is_refused_without_repeating_it(key: str) -> None:
    server = Server(name="x", kind="openai", base_url="http://x", key=lambda: key, key_variable="X_KEY")
    with pytest.raises(ProviderAuth, match="characters that no key has") as caught:
        server.read_key()
    assert key not in f"{caught.value} {caught.value.advice}"


def test_loopback() -> None:
    def is_here(url: str) -> bool:
        return Server(name="x", kind="openai", base_url=url).is_loopback

    assert all(map(is_here, ("http://localhost:1", "http://127.9.9.9", "http://[::1]:8/v1")))
    assert not any(map(is_here, ("http://localhost.example", "http://10.0.0.1", "http://0.0.0.0:1", "x")))


def test_the_catalogue() -> None:
    assert known("anthropic", "claude-sonnet-4-5-20250929") is ANTHROPIC["claude-sonnet-4-5"]
    assert known("openai", "gpt-5-mini-2025-08-07") is OPENAI["gpt-5-mini"]
    assert known("openai", "gpt-5-unheard-of") is None
    assert known("anthropic", "claude-opus-7") is None
    assert known("elsewhere", "gpt-5") is None
    for row in (*ANTHROPIC.values(), *OPENAI.values()):
        assert 0 < row.max_output <= row.window
        assert 0 < row.price.cache_read <= row.price.input < row.price.output


def test_a_gateway_in_a_vendors_place_has_the_vendors_models() -> None:
    found = servers(
        Configured("mine", "openai", "https://mine.example/v1"), ANTHROPIC_BASE_URL="https://gateway.example"
    )
    assert found["anthropic"].has_vendor_models
    assert not found["mine"].has_vendor_models
    assert [unknown_scale(one) for one in ("anthropic", "openai", "")] == [1.5, 1.0, 1.2]


def test_what_a_call_costs() -> None:
    price = Price(2, 10, 0.2, 2.5)
    cost = price.of(input_tokens=1_000_000, output_tokens=100_000, cache_read=500_000, cache_write=100_000)
    assert cost == pytest.approx(0.4 * 2 + 0.1 * 10 + 0.5 * 0.2 + 0.1 * 2.5)
    assert Price(2, 10).of(input_tokens=1_000_000, output_tokens=0, cache_read=500_000) == pytest.approx(2)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        hangs: threading.Event | None = getattr(self.server, "hangs", None)
        if hangs is not None:
            hangs.wait(30)
            return
        body: bytes = getattr(self.server, "body", b"")
        self.send_response(200)
        self.send_header("content-type", getattr(self.server, "kind", "application/json"))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def ports() -> Iterator[dict[str, int]]:
    answers = {
        "good": (b'{"object": "list", "data": [{"id": "llama", "context_length": 4096}, {"id": 7}]}', None),
        "web": (b"<html>hello</html>", "text/html"),
        "other": (b'{"status": "fine"}', None),
        "silent": (b"", None),
    }
    made: list[ThreadingHTTPServer] = []
    hangs = threading.Event()
    for name, (body, kind) in answers.items():
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        server.body = body  # type: ignore[attr-defined]
        if kind:
            server.kind = kind  # type: ignore[attr-defined]
        if name == "silent":
            server.hangs = hangs  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        made.append(server)
    found = {name: server.server_address[1] for name, server in zip(answers, made, strict=True)}
    yield {"silent": found["silent"], **found, "nobody": 9}
    hangs.set()
    for server in made:
        server.shutdown()
        server.server_close()


def test_servers_on_this_machine_are_found_within_their_time(ports: dict[str, int]) -> None:
    import time

    began = time.monotonic()
    assert find_servers(ports, seconds=0.25) == [
        FoundServer("good", ports["good"], (ListedModel("llama", 4096),))
    ]
    assert time.monotonic() - began < 0.3


def test_what_is_offered() -> None:
    def find(name: str, variable: str | None) -> str | None:
        return "sk-x" if variable == "ANTHROPIC_API_KEY" else None

    configured = {"mine": Configured("mine", "openai", "http://10.0.0.1/v1", models=("m",), context_window=9)}
    table = known_servers(configured, find, environment={})
    rows = offered_models(table, [FoundServer("ollama", 11434, (ListedModel("llama:8b", None),))])
    assert [row for row in rows if not row.model.startswith("anthropic/")] == [
        OfferedModel("ollama/llama:8b", note="runs on this machine, at 127.0.0.1:11434"),
        OfferedModel("mine/m", 9, note="from the config, at 10.0.0.1, NOT ENCRYPTED"),
    ]
    assert [row.model for row in rows if row.model.startswith("anthropic/")] == [
        f"anthropic/{name}" for name in ANTHROPIC
    ]
    assert not any(row.model.startswith("openai/") for row in rows)
