"""The provider of models on this machine: which server runs, and one reply from it; needs no key and no network."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

import httpx2
import msgspec

from shipchat.core.errors import ProviderUnavailable
from shipchat.core.events import StreamEvent
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import ModelRequest
from shipchat.providers.local_chat import DEFAULT_MAX_TOKENS, ReplyDecoder, broken_off, refusal, request_body
from shipchat.providers.local_models import InstalledModel, LocalModels
from shipchat.providers.local_server import LocalServer, ServerSettings, check_runtime

PROVIDER: Final = "local"

CONTEXT: Final = 4096
"""Context in tokens when little is known of the model or of the memory."""

LARGE_CONTEXT: Final = 8192
"""Context in tokens of a catalogue model when LARGE_CONTEXT_MEMORY bytes are available."""

LARGE_CONTEXT_MEMORY: Final = 2 * 1024**3

NOTE: Final = "runs on this machine: free, private, often wrong"


class LocalProvider:
    """Answers with llama.cpp; implements `core.protocols.Provider`.

    The server of a model starts with its first request and stays warm until another model is asked for or the
    provider is closed. `models` says what is installed; `context` (tokens) overrides the choice by memory;
    `runtime_directory` is where sockets are made (default: XDG_RUNTIME_DIR or the temporary directory).
    """

    def __init__(
        self,
        models: LocalModels,
        *,
        context: int | None = None,
        runtime_directory: Path | None = None,
        over_tcp: bool | None = None,
    ) -> None:
        self._models = models
        self._context = context
        self._runtime_directory = runtime_directory
        self._over_tcp = over_tcp
        self._starts: dict[str, asyncio.Task[LocalServer]] = {}
        self._busy: dict[str, int] = {}
        self._closed = False
        # Looked at once, so that the window does not change while the provider lives.
        memory = available_memory()
        self._has_room = memory is not None and memory >= LARGE_CONTEXT_MEMORY

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the reply as it comes, and StreamEnded last; closing it frees the server at once.

        Raises ModelMissing, ContextOverflow, ProviderRejected, ProviderUnavailable. Requests of one model are
        answered one after the other.
        """
        name = request.model
        self._busy[name] = self._busy.get(name, 0) + 1
        try:
            server = await self._server(name)
            body = request_body(request, window=server.window)
            decoder = ReplyDecoder()
            try:
                async with server.client.stream(
                    "POST", "/v1/chat/completions", content=body, headers={"content-type": "application/json"}
                ) as response:
                    if response.status_code != httpx2.codes.OK:
                        raise refusal(response.status_code, await response.aread())
                    async for chunk in response.aiter_raw():
                        for event in decoder.feed(chunk):
                            yield event
                        if decoder.ended:
                            return
                    decoder.finish()
            except (httpx2.HTTPError, ProviderUnavailable) as error:
                raise await _explained(error, server) from error
        finally:
            self._busy[name] -= 1

    async def info(self, model: str) -> ModelInfo:
        """Return window and limits. Raises ModelMissing, saying what helps, when the model can't be asked at all."""
        ref = ModelRef(PROVIDER, model)
        check_runtime()
        installed = await asyncio.to_thread(self._models.find, model)
        window = self._wanted_context(installed)
        start = self._starts.get(model)
        if start is not None and start.done() and not start.cancelled() and start.exception() is None:
            window = start.result().window
        known = installed.catalogue
        return ModelInfo(
            ref,
            window,
            min(DEFAULT_MAX_TOKENS, window),
            note=NOTE,
            tokens_per_o200k=1.0 if known is None else known.tokens_per_o200k,
        )

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return what the server itself counts for `request`. Raises as `stream` does."""
        server = await self._server(request.model)
        body = msgspec.json.decode(request_body(request, window=server.window))
        try:
            applied = await server.client.post("/apply-template", json={"messages": body["messages"]})
            prompt = msgspec.json.decode(applied.content)["prompt"]
            asked = {"content": prompt, "add_special": True, "parse_special": True}
            return len(
                msgspec.json.decode((await server.client.post("/tokenize", json=asked)).content)["tokens"]
            )
        except (httpx2.HTTPError, msgspec.DecodeError, KeyError, TypeError) as error:
            raise await _explained(error, server) from error

    async def warm(self, model: str) -> None:
        """Start the server of `model` now, so that the first reply need not wait for it. Raises as `stream`."""
        await self._server(model)

    async def close(self) -> None:
        """Stop all servers; a reply in flight fails."""
        self._closed = True
        starts = list(self._starts.values())
        self._starts.clear()
        for start in starts:
            await _stop(start)

    async def _server(self, name: str) -> LocalServer:
        """Return the running server of model `name`; start it when there is none or the last one died."""
        if self._closed:
            raise ProviderUnavailable("the local model's provider was closed")
        start = self._starts.get(name)
        if start is not None and start.done() and not _alive(start):
            await _stop(start)
            if self._starts.get(name) is start:
                del self._starts[name]
            start = self._starts.get(name)
        if start is None:
            start = asyncio.create_task(self._start(name), name=f"start of local/{name}")
            self._starts[name] = start
        try:
            # Shielded: who stops waiting must not stop a server that others wait for too.
            return await asyncio.shield(start)
        except asyncio.CancelledError:
            if start.cancelled():  # not who waits was called off, but the start: by `close`
                raise ProviderUnavailable("the local model was stopped while it started") from None
            raise

    async def _start(self, name: str) -> LocalServer:
        model = await asyncio.to_thread(self._models.find, name)
        for other in [key for key in self._starts if key != name and not self._busy.get(key)]:
            await _stop(self._starts.pop(other))
        settings = ServerSettings(
            model.path, self._wanted_context(model), runtime_directory=self._runtime_directory
        )
        if self._over_tcp is not None:
            settings = ServerSettings(
                settings.model, settings.context, self._runtime_directory, over_tcp=self._over_tcp
            )
        server = LocalServer(settings)
        await server.start()
        return server

    def _wanted_context(self, model: InstalledModel) -> int:
        if self._context is not None:
            return self._context
        if model.catalogue is None:
            return CONTEXT  # what a token of context costs differs a hundredfold between models
        return min(LARGE_CONTEXT if self._has_room else CONTEXT, model.catalogue.trained_context)


def available_memory() -> int | None:
    """Return how many bytes of memory are free for use, None where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def _alive(start: "asyncio.Task[LocalServer]") -> bool:
    return not start.cancelled() and start.exception() is None and start.result().running


async def _stop(start: "asyncio.Task[LocalServer]") -> None:
    """Stop the server that `start` made, or is about to make."""
    if not start.done():
        start.cancel()
        await asyncio.wait({start})
    if not start.cancelled() and start.exception() is None:
        await start.result().stop()


async def _explained(error: Exception, server: LocalServer) -> ProviderUnavailable:
    """Return `error` as what happened to the reply, with how the server died when it did."""
    death = await server.death()
    if death is not None:
        return ProviderUnavailable(
            f"the stream broke off: the local model's process has ended ({death})",
            advice=("Send it again: the model starts anew.",),
            retryable=True,
        )
    if isinstance(error, ProviderUnavailable):
        return error
    if isinstance(error, httpx2.TimeoutException):
        return broken_off("the local model has been silent for too long")
    return broken_off("the connection to the local model failed")
