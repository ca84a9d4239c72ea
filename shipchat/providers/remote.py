"""A provider that is asked over HTTP: one server, one protocol. The protocols are modules of their own."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from shipchat.core.attachments import EVERY_SORT, TEXT_ONLY
from shipchat.core.errors import ProviderAuth, ProviderRejected, ShipchatError
from shipchat.core.events import StreamEvent
from shipchat.core.messages import ReasoningPart
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.protocols import Blobs, ModelRequest
from shipchat.providers.catalog import (
    UNKNOWN_OUTPUT,
    UNKNOWN_WINDOW,
    UNKNOWN_WINDOW_HERE,
    KnownModel,
    known,
    unknown_scale,
)
from shipchat.providers.connection import ClientMaker, Connection
from shipchat.providers.decoding import ReplyReader, decoded
from shipchat.providers.failures import Failures
from shipchat.providers.limits import Limits
from shipchat.providers.listing import ListedModel, read_listing, read_props
from shipchat.providers.server import BlobReader, Server

OUTPUT_SHARE: Final = 0.25
"""The share of its window that a reply may fill when nobody set a limit; the same that is kept free for it."""

INFO_SECONDS: Final = 3.0
"""How long a server may take to say what it knows of a model before cautious figures are used."""

_SEALED: Final = ("thinking", "signature", "encrypted", "reasoning")


class _Counted(msgspec.Struct):
    input_tokens: int


@dataclass(frozen=True, slots=True)
class ChatProtocol:
    """How to speak with a server: where requests go, how they are written, who reads the reply.

    `list_path` is where models are listed; `count_path` is where the body of a request, without the fields in
    `not_counted`, is sent to have its tokens counted (None: nowhere).
    """

    path: str
    list_path: str
    body: Callable[[ModelRequest, Limits], bytes]
    reply: Callable[[Failures, str], ReplyReader]
    count_path: str | None = None
    not_counted: tuple[str, ...] = ()


class RemoteProvider:
    """Answers with the models of one server; implements `core.protocols.Provider`.

    Making it costs nothing: the SDK is imported, in a thread, by the first request.
    """

    def __init__(self, server: Server, protocol: ChatProtocol, make_client: ClientMaker) -> None:
        self.server = server
        self._protocol = protocol
        self._connection = Connection(server, make_client)
        self._listed: dict[str, ListedModel] | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the reply as it comes, and StreamEnded last; closing it hangs up at once.

        Raises ProviderAuth, ProviderRateLimited, ProviderUnavailable, ProviderRejected, ModelMissing,
        ContextOverflow.
        """
        come = False
        try:
            async with contextlib.aclosing(self._reply(request, reasoning=True)) as events:
                async for event in events:
                    come = True
                    yield event
            return
        except ProviderRejected as error:
            # Sealed reasoning of another account or a retired model is refused for ever: go on without it.
            if come or not _has_sealed(request, self.server.name) or not _about_reasoning(error):
                raise
        async with contextlib.aclosing(self._reply(request, reasoning=False)) as events:
            async for event in events:
                yield event

    async def info(self, model: str) -> ModelInfo:
        """Return window and limits: from the config, the catalogue, the server's own list, else cautious ones.

        Raises ProviderAuth when there is no key.
        """
        await self._connection.check_key()
        row = self._known(model)
        if row is not None or (self.server.window is not None and self.server.max_output is not None):
            return self._figures(model, row, None)
        return self._figures(model, row, await self._ask_about(model))

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return the tokens of `request` as the server counts them. Raises as `stream`, ProviderRejected if it can't."""
        path = self._protocol.count_path
        if path is None:
            raise ProviderRejected(f"{self.server.name} can't count tokens")
        written = await asyncio.to_thread(self._protocol.body, request, self._limits(request, reasoning=True))
        fields: dict[str, msgspec.Raw] = msgspec.json.decode(written, type=dict[str, msgspec.Raw])
        for name in self._protocol.not_counted:
            fields.pop(name, None)
        answer = await self._connection.ask(path, msgspec.json.encode(fields), request.model)
        try:
            return msgspec.json.decode(answer, type=_Counted).input_tokens
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ProviderRejected(f"{self.server.name} did not say how many tokens there are") from None

    async def warm(self, model: str) -> None:
        """Load the SDK now, in a thread, so that the first reply need not wait for it. Raises ProviderAuth."""
        del model
        await self._connection.open()

    async def models(self) -> list[ListedModel]:
        """Return the models that the server lists, in its order. Raises as `stream` does."""
        found = read_listing(await self._connection.get(self._protocol.list_path))
        self._listed = {one.name: one for one in found}
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _reply(self, request: ModelRequest, *, reasoning: bool) -> AsyncGenerator[StreamEvent, None]:
        limits = self._limits(request, reasoning=reasoning)
        # In a thread: a long conversation with pictures takes a while to write down.
        body = await asyncio.to_thread(self._protocol.body, request, limits)
        await self._connection.open()
        failures = self._connection.failures
        reader = self._protocol.reply(failures, request.model)
        async with contextlib.aclosing(
            self._connection.stream(self._protocol.path, body, request.model)
        ) as chunks:
            async for event in decoded(chunks, reader, failures):
                yield event

    def _limits(self, request: ModelRequest, *, reasoning: bool) -> Limits:
        row = self._known(request.model)
        figures = self._figures(request.model, row, (self._listed or {}).get(request.model))
        server = self.server
        if request.blobs is not None:
            server = replace(server, blobs=_reader(request.blobs))
        return Limits(server, figures.max_output, row, reasoning)

    def _known(self, model: str) -> KnownModel | None:
        return known(self.server.kind, model) if self.server.has_vendor_models else None

    async def _ask_about(self, model: str) -> ListedModel | None:
        """Return what the server says of `model`, None when it says nothing; asked once."""
        if self._listed is None:
            self._listed = {}
            with contextlib.suppress(ShipchatError, TimeoutError):
                async with asyncio.timeout(INFO_SECONDS):
                    await self.models()
                    await self._ask_llama_cpp(model)
        return self._listed.get(model)

    async def _ask_llama_cpp(self, model: str) -> None:
        # llama.cpp lists how long a model's context was in training; what it runs with stands elsewhere.
        listed = (self._listed or {}).get(model)
        if self._listed is None or listed is None or listed.window is not None or not self.server.is_loopback:
            return
        window = read_props(await self._connection.get(f"{self.server.root}/props"))
        if window is not None:
            self._listed[model] = ListedModel(model, window, listed.max_output)

    def _figures(self, model: str, row: KnownModel | None, listed: ListedModel | None) -> ModelInfo:
        server = self.server
        vendor = server.kind if server.has_vendor_models else ""
        note = [server.note] if server.note else []
        window = server.window or (listed.window if listed else None) or (row.window if row else None)
        if window is None:
            window = UNKNOWN_WINDOW_HERE if server.is_loopback else UNKNOWN_WINDOW
            note.append(f"window not known: {window:,} tokens assumed")
        output = server.max_output or (row.max_output if row else None) or (listed and listed.max_output)
        # A limit alone says nothing of what the model should use of its window: some lists give the window itself.
        output = min(output or UNKNOWN_OUTPUT, max(1, int(window * OUTPUT_SHARE)))
        return ModelInfo(
            ModelRef(server.name, model),
            window,
            output,
            note="; ".join(note),
            tokens_per_o200k=row.tokens_per_o200k if row else unknown_scale(vendor),
            accepts=_accepted(row, vendor),
        )


def _accepted(row: KnownModel | None, vendor: str) -> frozenset[str]:
    """Return which sorts of files a model takes: text where nobody knows, all where it is one of a vendor's."""
    if row is not None:
        return EVERY_SORT if row.images else TEXT_ONLY
    return EVERY_SORT if vendor else TEXT_ONLY


def _reader(blobs: Blobs) -> BlobReader:
    def read(sha256: str) -> bytes:
        data = blobs.read(sha256)
        if data is None:
            raise FileNotFoundError(sha256)
        return data

    return read


def _has_sealed(request: ModelRequest, provider: str) -> bool:
    return any(
        isinstance(part, ReasoningPart) and part.sealed is not None and part.provider == provider
        for message in request.messages
        for part in message.parts
    )


def _about_reasoning(error: ProviderRejected) -> bool:
    return not isinstance(error, ProviderAuth) and any(mark in str(error).casefold() for mark in _SEALED)
