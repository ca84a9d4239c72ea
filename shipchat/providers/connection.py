"""The connection to one server: its SDK's client, made when first needed, and the raw bytes of an answer.

The SDK gives the address, the headers and the authorisation; tries are counted elsewhere, so it makes one each. What
the bytes mean is left to the protocols.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final, Protocol

import httpx2

from shipchat.core.errors import ProviderAuth, ShipchatError
from shipchat.providers.failures import Failures, causes, read_refusal
from shipchat.providers.server import Server

CONNECT_SECONDS: Final = 15.0
"""How long making a connection may take."""

LISTING_SECONDS: Final = 10.0
"""How long a list of models, or a count of tokens, may take."""

MAX_REFUSAL_BYTES: Final = 64 * 1024
"""How much of an answer that is no reply is read: enough for any error, too little to hurt."""

REFUSAL_SECONDS: Final = 10.0
"""How long an answer that is no reply may take to come."""

MAX_REPLY_BYTES: Final = 256 * 1024 * 1024
"""How many bytes one reply may have. 10 MB of text come as 150 MB of events when each holds a token."""

MAX_LIST_BYTES: Final = 16 * 1024 * 1024

_STREAM: Final = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    # Compressing an event stream saves little, and holds back what should be shown at once.
    "accept-encoding": "identity",
    # Both SDKs take this for: do not read the body.
    "X-Stainless-Raw-Response": "stream",
}


class SdkClient(Protocol):
    """What AsyncAnthropic and AsyncOpenAI have in common."""

    async def post(
        self, path: str, *, cast_to: Any, content: bytes, options: Any
    ) -> httpx2.Response:  # pragma: no cover -- a shape
        """Send `content` to `path`."""
        ...

    async def get(self, path: str, *, cast_to: Any, options: Any) -> httpx2.Response:  # pragma: no cover
        """Ask for `path`."""
        ...


ClientMaker = Callable[[Server, str, httpx2.AsyncClient], SdkClient]
"""Makes the SDK's client for a server, its key and the HTTP client to use. Imports the SDK: called in a thread."""


class Connection:
    """Reaches one server. Making it is cheap; the SDK is imported, in a thread, by the first request."""

    def __init__(self, server: Server, make_client: ClientMaker) -> None:
        self.server = server
        self._make_client = make_client
        self._client: SdkClient | None = None
        # The last one is in use; others may still end a reply.
        self._http: list[httpx2.AsyncClient] = []
        self._making = asyncio.Lock()
        self.failures = Failures(server, server.secrets())

    async def open(self) -> SdkClient:
        """Return the client. Raises ProviderAuth when there is no key."""
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make)
            return self._client

    async def check_key(self) -> None:
        """Raise ProviderAuth when there is no key; costs nothing once a request was made, imports no SDK."""
        if self._client is None:
            await asyncio.to_thread(self.server.read_key)

    async def stream(self, path: str, body: bytes, model: str) -> AsyncGenerator[bytes, None]:
        """Send `body` to `path` and yield the bytes of the answer as they come; closing it hangs up.

        Raises what `failures` makes of everything that is no event stream, of a connection that fails, and of an
        answer that passes MAX_REPLY_BYTES.
        """
        response = await self._send("post", path, {"headers": _STREAM}, model, content=body)
        try:
            await self._check(response, model)
            seen = 0
            # `aiter_raw` costs less; a server that compresses all the same is understood.
            chunks = (
                response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
            )
            try:
                async for chunk in chunks:
                    seen += len(chunk)
                    if seen > MAX_REPLY_BYTES:
                        raise self.failures.too_large(f"{MAX_REPLY_BYTES // 1024**2} MB")
                    yield chunk
            except httpx2.HTTPError as error:
                raise self.failures.interrupted_by(error) from None
        finally:
            # Not shielded and not waited for politely: an interrupt has to answer at once.
            await response.aclose()

    async def get(self, path: str) -> bytes:
        """Return the body of `path`. Raises as `stream` does."""
        return await self._whole("get", path, "")

    async def ask(self, path: str, body: bytes, model: str) -> bytes:
        """Send `body` to `path` and return the body of the answer. Raises as `stream` does."""
        return await self._whole("post", path, model, content=body)

    async def _whole(self, method: str, path: str, model: str, **more: bytes) -> bytes:
        options = {
            "headers": {"X-Stainless-Raw-Response": "stream", "content-type": "application/json"},
            "timeout": LISTING_SECONDS,
        }
        response = await self._send(method, path, options, model, **more)
        try:
            return await _read(response, MAX_LIST_BYTES)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections, whatever still uses them; a later request makes new ones."""
        clients, self._http, self._client = self._http, [], None
        for client in clients:
            await client.aclose()

    def _make(self) -> SdkClient:
        key = self.server.read_key()
        self.failures = Failures(self.server, self.server.secrets(key))
        for name in ("anthropic", "openai", "httpx2", "httpcore2"):
            # At DEBUG these write prompts, and a variable of theirs (OPENAI_LOG) would be enough for that.
            logging.getLogger(name).setLevel(logging.WARNING)
        http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(self.server.stall, connect=min(CONNECT_SECONDS, self.server.stall)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=4, keepalive_expiry=60),
            # A redirect would carry the prompt, and perhaps the key, to a place that nobody chose.
            follow_redirects=False,
            event_hooks={"response": [_stop_at_refusal]},
            # A proxy has no business between us and this machine.
            mounts={f"all://{self.server.hostname}": None} if self.server.is_loopback else None,
        )
        client = self._make_client(self.server, key, http)
        self._http.append(http)
        return client

    async def _send(
        self, method: str, path: str, options: dict[str, Any], model: str, **more: Any
    ) -> httpx2.Response:
        """Return the answer, its body unread. Raises what it stands for when its status is not 200."""
        client = await self.open()
        try:
            call: Any = getattr(client, method)
            response: httpx2.Response = await call(path, cast_to=httpx2.Response, options=options, **more)
        except Exception as error:
            answer = next((one for one in causes(error) if isinstance(one, _NoReply)), None)
            if answer is None and not _is_connection_failure(error):
                raise
            failure: ShipchatError = (
                self.failures.unreachable(error) if answer is None else self._meaning(answer, model)
            )
            if isinstance(failure, ProviderAuth):
                self._client = None  # the next request looks for the key anew
            raise failure from None
        return response

    def _meaning(self, answer: "_NoReply", model: str) -> ShipchatError:
        if 300 <= answer.status < 400:
            return self.failures.redirected(answer.status, answer.headers.get("location", ""))
        return self.failures.of(read_refusal(answer.status, answer.headers, answer.body), model)

    async def _check(self, response: httpx2.Response, model: str) -> None:
        """Return when `response` is an event stream; else raise what it stands for."""
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type in ("", "text/event-stream"):
            return
        refusal = read_refusal(
            response.status_code, response.headers, await _read(response, MAX_REFUSAL_BYTES)
        )
        if media_type.endswith("json") and (refusal.text or refusal.kind):
            raise self.failures.of(refusal, model)
        raise self.failures.no_stream(media_type)


class _NoReply(Exception):
    """An HTTP answer with another status than 200: `failures` says which error it is."""

    def __init__(self, status: int, headers: httpx2.Headers, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.body = body


async def _stop_at_refusal(response: httpx2.Response) -> None:
    # The SDKs read such an answer to its end, however long that is; this comes before them and does not.
    if response.status_code != httpx2.codes.OK:
        raise _NoReply(response.status_code, response.headers, await _read(response, MAX_REFUSAL_BYTES))


async def _read(response: httpx2.Response, limit: int) -> bytes:
    """Return the body, or as much of it as comes within `limit` bytes and REFUSAL_SECONDS."""
    body = b""
    with contextlib.suppress(httpx2.HTTPError, TimeoutError):
        async with asyncio.timeout(REFUSAL_SECONDS):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) >= limit:
                    break
    return body[:limit]


def _is_connection_failure(error: Exception) -> bool:
    # By name: importing the SDKs' own classes would import both SDKs.
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, httpx2.HTTPError | httpx2.InvalidURL | OSError | UnicodeError) or (
        "APIConnectionError" in names
    )
