"""A provider over HTTP beside its protocol: certificates, proxies, windows, sealed reasoning that is refused."""

import asyncio
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from shipchat.core.attachments import EVERY_SORT
from shipchat.core.errors import ProviderRejected, ProviderUnavailable
from shipchat.core.messages import ReasoningPart
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.providers.server import Server
from tests.providers.raw_http import Answer, RawServer, json_answer
from tests.providers.wires import (
    ANTHROPIC,
    CHAT,
    RESPONSES,
    WIRES,
    Wire,
    assistant,
    collect,
    request,
    text_of,
    user,
)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority of our own (ca.pem) and a server's certificate by it (server.pem, key inside)."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl")
    place = tmp_path_factory.mktemp("authority")

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=place, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-subj")
    run(*new, "/CN=our own", "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem")
    run(*new, "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    (place / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    signing = ("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2")
    run(*signing, "-CAcreateserial", "-extfile", "names", "-out", "server.pem")
    return place


def tls(authority: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "server.pem", authority / "server.key")
    return context


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_an_authority_of_ones_own(wire: Wire, authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawServer(Answer(wire.reply("hello")), tls=tls(authority)) as server:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        strict = wire.provider(server.url)
        _, error = await collect(strict, request())
        await strict.close()
        assert server.asked == []
        assert isinstance(error, ProviderUnavailable)
        assert not error.retryable
        assert f"the certificate of localhost:{server.port} is not trusted" in str(error)
        assert "SSL_CERT_FILE" in error.advice[0]
        monkeypatch.setenv("SSL_CERT_FILE", str(authority / "ca.pem"))
        trusting = wire.provider(server.url)
        events, error = await collect(trusting, request())
        await trusting.close()
    assert error is None
    assert text_of(events) == "hello"


async def test_no_proxy_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with RawServer(Answer(CHAT.reply("hello"))) as server:
        provider = CHAT.provider(server.url)
        events, error = await collect(provider, request())
        await provider.close()
    assert error is None
    assert text_of(events) == "hello"


async def test_plain_text_where_encryption_is_expected() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider = CHAT.provider(f"https://127.0.0.1:{port}")
    _, error = await collect(provider, request())
    await provider.close()
    server.close()
    assert isinstance(error, ProviderUnavailable)
    assert not error.retryable
    assert str(error) == f"no encrypted connection to 127.0.0.1:{port} could be made"


async def test_an_encrypted_connection_that_is_never_made_can_be_tried_again() -> None:
    async with RawServer() as server:
        provider = CHAT.provider(server.url.replace("http:", "https:"), stall=0.2)
        _, error = await collect(provider, request())
        await provider.close()
    assert isinstance(error, ProviderUnavailable)
    assert error.retryable
    assert str(error) == f"127.0.0.1:{server.port} can't be reached"


@pytest.mark.parametrize(
    ("wire", "sealed", "message"),
    [
        (ANTHROPIC, {"signature": "of another account"}, "Invalid `signature` in `thinking` block"),
        (RESPONSES, {"id": "rs_1", "encrypted_content": "x"}, "The encrypted content could not be verified"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
async def test_sealed_reasoning_that_is_refused_does_not_block_the_session(
    wire: Wire, sealed: dict[str, str], message: str
) -> None:
    talk = (user("a"), assistant(ReasoningPart("hm", "vendor", dict(sealed)), "b"), user("c"))
    refused = json_answer(400, {"error": {"type": "invalid_request_error", "message": message}})
    async with RawServer(refused, Answer(wire.reply("hello"))) as server:
        provider = wire.provider(server.url)
        events, error = await collect(provider, request(*talk))
        await provider.close()
    assert error is None
    assert text_of(events) == "hello"
    with_it, without = (one.body.decode() for one in server.asked)
    secret = next(iter(sealed.values())) if wire is ANTHROPIC else "encrypted_content"
    assert secret in with_it
    assert secret not in without.replace("reasoning.encrypted_content", "")


async def test_another_refusal_is_not_asked_twice() -> None:
    talk = (user("a"), assistant(ReasoningPart("hm", "vendor", {"signature": "s"}), "b"), user("c"))
    async with RawServer(json_answer(400, {"error": {"message": "temperature is not allowed"}})) as server:
        provider = ANTHROPIC.provider(server.url)
        _, error = await collect(provider, request(*talk))
        await provider.close()
    assert isinstance(error, ProviderRejected)
    assert len(server.asked) == 1


async def test_warming_up_loads_the_sdk_and_asks_nothing() -> None:
    async with RawServer() as server:
        provider = CHAT.provider(server.url)
        await provider.warm("some-model")
        assert provider._connection._client is not None
        assert server.asked == []
        await provider.close()


async def test_tokens_are_counted_by_the_server_where_it_can() -> None:
    asked = request(user("Hi"), system="Be brief.", max_tokens=50)
    for wire, path in ((ANTHROPIC, "/v1/messages/count_tokens"), (RESPONSES, "/v1/responses/input_tokens")):
        async with RawServer(json_answer(200, {"input_tokens": 12}), json_answer(200, ["?"])) as server:
            provider = wire.provider(server.url)
            assert await provider.count_tokens(asked) == 12
            with pytest.raises(ProviderRejected, match="did not say"):
                await provider.count_tokens(asked)
            await provider.close()
        assert [one.path for one in server.asked] == [path, path]
        assert not {"stream", "max_tokens", "max_output_tokens", "store"} & set(server.asked[0].json)
        assert "Be brief." in server.asked[0].json.values()
    with pytest.raises(ProviderRejected, match="can't count"):
        await CHAT.provider("http://127.0.0.1:9").count_tokens(asked)


async def info(wire: Wire, listing: object, **more: object) -> tuple[ModelInfo, list[str]]:
    async with RawServer(json_answer(200, listing)) as server:
        provider = wire.provider(server.url, **more)
        found = await provider.info("some-model")
        again = await provider.info("some-model")
        await provider.close()
        assert again == found
        port = f"127.0.0.1:{server.port}"
        assert found.ref == ModelRef("vendor", "some-model")
        return ModelInfo(found.ref, found.window, found.max_output, note=found.note.replace(port, "HERE")), [
            one.path for one in server.asked
        ]


@pytest.mark.parametrize("wire", [ANTHROPIC, CHAT], ids=lambda wire: wire.name)
async def test_windows(wire: Wire) -> None:
    ref = ModelRef("vendor", "some-model")
    for field in ("max_model_len", "context_length", "max_input_tokens"):
        listing = {"data": [{"id": "other", field: 5}, {"id": "some-model", field: 40_000}]}
        found, paths = await info(wire, listing)
        assert found == ModelInfo(ref, 40_000, 4096, note="at HERE")
        assert len(paths) == 1
    unknown, _ = await info(wire, {"data": [{"id": "other"}]})
    assert unknown == ModelInfo(ref, 8192, 2048, note="at HERE; window not known: 8,192 tokens assumed")
    broken, _ = await info(wire, ["what?"])
    assert broken == unknown
    configured, paths = await info(wire, {}, window=100_000, max_output=9_000)
    assert configured == ModelInfo(ref, 100_000, 9_000, note="at HERE")
    assert paths == []


async def test_the_window_that_llama_cpp_runs_with() -> None:
    listing = json_answer(200, {"data": [{"id": "some-model", "meta": {"n_ctx_train": 131_072}}]})
    props = json_answer(200, {"default_generation_settings": {"n_ctx": 16_384}})
    async with RawServer(listing, props) as server:
        provider = CHAT.provider(server.url)
        found = await provider.info("some-model")
        await provider.close()
        assert [one.path for one in server.asked] == ["/v1/models", "/props"]
    assert found.window == 16_384


async def test_a_known_model_of_a_vendor_is_not_asked_about() -> None:
    from shipchat.providers.anthropic import anthropic_provider
    from shipchat.providers.openai import openai_provider

    vendor = Server(
        name="anthropic", kind="anthropic", base_url="https://api.anthropic.com", key=lambda: "sk-x"
    )
    assert await anthropic_provider(vendor).info("claude-opus-4-5-20251101") == ModelInfo(
        ModelRef("anthropic", "claude-opus-4-5-20251101"),
        200_000,
        50_000,
        tokens_per_o200k=1.15,
        accepts=EVERY_SORT,
    )
    other = Server(name="openai", kind="openai", base_url="https://api.openai.com/v1", key=lambda: "sk-x")
    assert await openai_provider(other).info("gpt-5-2025-08-07") == ModelInfo(
        ModelRef("openai", "gpt-5-2025-08-07"), 400_000, 100_000, accepts=EVERY_SORT
    )
