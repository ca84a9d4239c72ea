"""What every adapter owes its callers, in every protocol: only the provider's own word ends a reply, faults have names."""

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from shipchat.core.errors import (
    ContextOverflow,
    ModelMissing,
    ProviderAuth,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    ShipchatError,
)
from shipchat.core.events import StreamEnded
from shipchat.providers import connection, decoding
from shipchat.providers.remote import RemoteProvider
from tests.providers.raw_http import Answer, RawServer, Then, json_answer
from tests.providers.wires import CHAT, KEY, WIRES, Wire, collect, ended, request, text_of

TOKENS = [f"word{n} " for n in range(100)]
HTML = {"content-type": "text/html; charset=utf-8"}


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    chosen: Wire = request.param
    return chosen


@contextlib.asynccontextmanager
async def asked_of(
    wire: Wire, *answers: Answer, **more: Any
) -> AsyncIterator[tuple[RemoteProvider, RawServer]]:
    async with RawServer(*answers) as server:
        provider = wire.provider(server.url, **more)
        try:
            yield provider, server
        finally:
            await provider.close()


async def test_a_whole_reply(wire: Wire) -> None:
    reply = b"".join(wire.reply("Gr\N{LATIN SMALL LETTER U WITH DIAERESIS}", "n ", "\N{DEER}"))
    for size in (1, 7, 4096):
        pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
        async with asked_of(wire, Answer(pieces)) as (provider, server):
            events, error = await collect(provider, request())
        assert error is None
        assert text_of(events) == "Gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n \N{DEER}"
        assert events[-1] == wire.ended
        assert ended(events) == [wire.ended]
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("count", [0, 1, 100], ids=["before text", "after a token", "after 100"])
@pytest.mark.parametrize(
    "fault", ["closed", "cut", "reset", "malformed", "no utf-8", "overloaded", "cut inside an event"]
)
async def test_a_reply_that_breaks_off_keeps_what_came_and_never_counts_as_whole(
    wire: Wire, fault: str, count: int
) -> None:
    chunks = [*wire.head, *(wire.token(one) for one in TOKENS[:count])]
    match fault:
        case "closed":
            answer = Answer(chunks, framing="close")
        case "cut":
            answer = Answer(chunks, then=Then.CLOSE)
        case "reset":
            answer = Answer(chunks, then=Then.RESET)
        case "malformed":
            answer = Answer([*chunks, b'data: {"type": \n\n', *wire.tail])
        case "no utf-8":
            answer = Answer([*chunks, wire.token("X").replace(b"X", b"\xe4"), *wire.tail])
        case "overloaded":
            answer = Answer([*chunks, wire.overload, *wire.tail])
        case _:
            answer = Answer([*chunks, wire.token("never shown")[:-20]], framing="close")
    async with asked_of(wire, answer) as (provider, _):
        events, error = await collect(provider, request())
    # After a reset the system may throw away what it has not handed out yet.
    assert "".join(TOKENS[:count]).startswith(text_of(events))
    if fault != "reset":
        assert text_of(events) == "".join(TOKENS[:count])
    assert ended(events) == []
    assert isinstance(error, ProviderUnavailable)
    assert error.retryable
    assert KEY not in f"{error} {error.advice}"
    if fault != "overloaded":
        assert str(error).startswith("the stream broke off: ") or "can't be reached" in str(error)


async def test_a_reply_cut_after_any_event_is_whole_only_at_its_end(wire: Wire) -> None:
    reply = wire.reply("one ", "two")
    for length in range(len(reply)):
        async with asked_of(wire, Answer(reply[:length], framing="close")) as (provider, _):
            events, error = await collect(provider, request())
        # A reason to stop is the word of a chat completions server; usage and [DONE] may never come.
        if wire is CHAT and length >= len(reply) - 2:
            assert error is None
            assert len(ended(events)) == 1
        else:
            assert isinstance(error, ProviderUnavailable)
            assert ended(events) == []


async def test_a_last_event_cut_at_any_byte_is_none(wire: Wire) -> None:
    *before, last = wire.reply("text") if wire is not CHAT else wire.reply("text")[:-2]
    for length in range(0, len(last) - 1, 3):
        async with asked_of(wire, Answer([*before, last[:length]], framing="close")) as (provider, _):
            events, error = await collect(provider, request())
        assert ended(events) == []
        assert isinstance(error, ProviderUnavailable)


async def test_a_server_that_falls_silent_is_given_up(wire: Wire) -> None:
    for chunks, expected in (([], ""), ([*wire.head, wire.token("half")], "half")):
        async with asked_of(wire, Answer(chunks, then=Then.STALL), stall=0.2) as (provider, _):
            events, error = await collect(provider, request())
        assert text_of(events) == expected
        assert isinstance(error, ProviderUnavailable)
        assert error.retryable
        assert "sent nothing for 0.2 s" in str(error)


async def test_closing_the_stream_hangs_up_at_once(wire: Wire) -> None:
    async with asked_of(wire, Answer([*wire.head, wire.token("half")], then=Then.STALL)) as (
        provider,
        server,
    ):
        stream = provider.stream(request())
        async for event in stream:
            if text_of([event]):
                break
        began = time.monotonic()
        await stream.aclose()
        assert time.monotonic() - began < 0.2
        await asyncio.wait_for(server.hung_up.wait(), 5)


async def test_cancelling_while_nothing_comes_takes_no_time(wire: Wire) -> None:
    async with asked_of(wire, Answer([], then=Then.STALL)) as (provider, server):
        reading = asyncio.create_task(collect(provider, request()))
        await asyncio.wait_for(server.came.wait(), 10)
        began = time.monotonic()
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
        assert time.monotonic() - began < 0.2
        await asyncio.wait_for(server.hung_up.wait(), 5)


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, {"error": {"type": "invalid_request_error", "message": "bad"}}, ProviderRejected, False),
        (400, {"error": {"message": "prompt is too long: 9 > 8"}}, ContextOverflow, None),
        (400, {"error": {"code": "context_length_exceeded", "message": "x"}}, ContextOverflow, None),
        (400, {"error": {"message": "Your credit balance is too low"}}, ProviderRateLimited, False),
        (401, {"error": {"message": f"wrong key {KEY}"}}, ProviderAuth, False),
        (403, {"error": {"message": "no"}}, ProviderAuth, False),
        (404, {"error": {"message": "model not found"}}, ModelMissing, None),
        (404, "<html>", ModelMissing, None),
        (408, {}, ProviderUnavailable, True),
        (409, {}, ProviderUnavailable, True),
        (413, {}, ContextOverflow, None),
        (429, {"error": {"message": "slow down"}}, ProviderRateLimited, True),
        (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, ProviderRateLimited, False),
        (500, "oops", ProviderUnavailable, True),
        (503, {"error": "loading"}, ProviderUnavailable, True),
        (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, ProviderUnavailable, True),
    ],
)
async def test_a_status_is_a_named_error(
    wire: Wire, status: int, body: object, kind: type[ShipchatError], retryable: bool | None
) -> None:
    async with asked_of(wire, json_answer(status, body, **{"retry-after": "2"})) as (provider, server):
        events, error = await collect(provider, request())
    assert events == []
    assert type(error) is kind
    assert KEY not in f"{error} {error.advice} {error.details}"
    if isinstance(error, ProviderError) and retryable is not None:
        assert error.retryable is retryable
        if retryable:
            assert error.retry_after == 2.0
    assert len(server.asked) == 1  # tries are counted elsewhere


async def test_a_long_wait_is_for_the_user_to_decide(wire: Wire) -> None:
    async with asked_of(wire, json_answer(429, {}, **{"retry-after": "3600"})) as (provider, _):
        _, error = await collect(provider, request())
    assert isinstance(error, ProviderRateLimited)
    assert not error.retryable
    assert error.advice == ("It asks to be left alone for 3,600 s.",)


async def test_what_is_no_event_stream_is_called_so(wire: Wire) -> None:
    async with asked_of(wire, Answer([b"<html>log in</html>"], headers=HTML)) as (provider, _):
        events, error = await collect(provider, request())
    assert events == []
    assert isinstance(error, ProviderUnavailable)
    assert "answered with text/html instead of a reply" in str(error)


async def test_an_error_with_status_200_is_an_error(wire: Wire) -> None:
    answer = json_answer(200, {"error": {"type": "overloaded_error", "message": "busy"}})
    async with asked_of(wire, answer) as (provider, _):
        _, error = await collect(provider, request())
    assert isinstance(error, ProviderUnavailable)
    assert error.retryable


async def test_a_redirect_is_not_followed(wire: Wire) -> None:
    async with RawServer(Answer(wire.reply("stolen"))) as other:
        answer = Answer(status=307, headers={"location": f"{other.url}/elsewhere?key=1"})
        async with asked_of(wire, answer) as (provider, _):
            _, error = await collect(provider, request())
        assert other.asked == []
    assert isinstance(error, ProviderRejected)
    assert f"127.0.0.1:{other.port}/elsewhere" in str(error)
    assert "key=1" not in str(error)


async def test_nobody_listening_can_be_tried_again(wire: Wire) -> None:
    async with RawServer() as server:
        url = server.url
    provider = wire.provider(url)
    _, error = await collect(provider, request())
    await provider.close()
    assert isinstance(error, ProviderUnavailable)
    assert error.retryable
    assert str(error).startswith("127.0.0.1:")
    assert error.advice[0].startswith("Is the server running?")


async def test_a_name_that_no_one_knows(wire: Wire) -> None:
    provider = wire.provider("http://no-such-host.invalid")
    _, error = await collect(provider, request())
    await provider.close()
    assert isinstance(error, ProviderUnavailable)
    assert str(error).startswith("no-such-host.invalid can't be reached")


async def test_an_endless_reply_is_stopped(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_TEXT", 1_000_000)
    answer = Answer(wire.head, endless=wire.token("x" * 50_000))
    async with asked_of(wire, answer) as (provider, _):
        events, error = await collect(provider, request())
    assert len(text_of(events)) <= 1_000_000
    assert isinstance(error, ProviderUnavailable)
    assert not error.retryable
    assert "passed 1 million characters" in str(error)


async def test_endless_bytes_without_text_are_stopped(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_REPLY_BYTES", 1024 * 1024)
    async with asked_of(wire, Answer(wire.head, endless=b": " + b"x" * 65_000 + b"\n\n")) as (provider, _):
        _, error = await collect(provider, request())
    assert isinstance(error, ProviderUnavailable)
    assert "passed 1 MB" in str(error)


async def test_an_endless_refusal_is_read_in_part(wire: Wire) -> None:
    answer = Answer([], status=500, headers=HTML, endless=b"x" * 60_000)
    async with asked_of(wire, answer) as (provider, _):
        _, error = await collect(provider, request())
    assert isinstance(error, ProviderUnavailable)
    assert len(str(error)) < 400


async def test_half_an_emoji_becomes_the_replacement_character(wire: Wire) -> None:
    spoiled = wire.token("X!").replace(b"X", rb"\ud83d")
    async with asked_of(wire, Answer([*wire.head, spoiled, *wire.tail])) as (provider, _):
        events, error = await collect(provider, request())
    assert error is None
    assert text_of(events) == "\N{REPLACEMENT CHARACTER}!"


async def test_a_missing_key_is_said_before_anything_is_asked(wire: Wire) -> None:
    async with asked_of(wire, Answer(), key=lambda: None) as (provider, server):
        with pytest.raises(ProviderAuth, match="there is no API key for vendor") as caught:
            await provider.info("some-model")
        _, error = await collect(provider, request())
        assert server.asked == []
    assert isinstance(error, ProviderAuth)
    assert "VENDOR_KEY" in caught.value.advice[0]


async def test_a_new_key_is_looked_for_after_a_refusal(wire: Wire) -> None:
    keys = iter(["sk-old", "sk-new"])
    answers = (json_answer(401, {}), Answer(wire.reply("hello")))
    async with asked_of(wire, *answers, key=lambda: next(keys)) as (provider, server):
        _, error = await collect(provider, request())
        events, _ = await collect(provider, request())
    assert isinstance(error, ProviderAuth)
    assert text_of(events) == "hello"
    assert [one.headers["authorization"] for one in server.asked] == ["Bearer sk-old", "Bearer sk-new"]


async def test_a_server_without_a_key_is_not_given_the_vendors(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
    )
    for name in names:
        monkeypatch.setenv(name, KEY)
    async with asked_of(wire, Answer(wire.reply("hi")), key=lambda: None, key_variable=None) as (
        provider,
        server,
    ):
        _, error = await collect(provider, request())
    assert error is None
    assert KEY not in repr(server.asked)


async def test_nothing_to_send(wire: Wire) -> None:
    from tests.providers.wires import user

    async with asked_of(wire, Answer()) as (provider, server):
        _, error = await collect(provider, request(user(" \n")))
        assert server.asked == []
    assert isinstance(error, ProviderRejected)


async def test_many_replies_leave_nothing_open(wire: Wire) -> None:
    async with asked_of(wire, Answer(wire.reply("hi"))) as (provider, server):
        for _ in range(20):
            events, error = await collect(provider, request())
            assert error is None
            assert isinstance(events[-1], StreamEnded)
        assert len(server.asked) == 20
    gc.collect()  # warnings are errors here: an unclosed socket would show
