"""OpenAI's models by its Responses protocol, and every other server that speaks chat completions: the SDK's client."""

from typing import Any, Final

import httpx2

from shipchat.providers import openai_chat, openai_responses
from shipchat.providers.remote import ChatProtocol, RemoteProvider
from shipchat.providers.server import Server

_RESPONSES: Final = ChatProtocol(
    path=openai_responses.PATH,
    list_path="/models",
    body=openai_responses.request_body,
    reply=openai_responses.Reply,
    count_path="/responses/input_tokens",
    not_counted=("stream", "store", "include", "max_output_tokens"),
)

_CHAT: Final = ChatProtocol(
    path=openai_chat.PATH, list_path="/models", body=openai_chat.request_body, reply=openai_chat.Reply
)


def openai_provider(server: Server) -> RemoteProvider:
    """Return the provider of `server`; imports nothing heavy."""
    return RemoteProvider(server, _RESPONSES if server.is_vendor else _CHAT, _client)


def _client(server: Server, key: str, http: httpx2.AsyncClient) -> Any:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(
        api_key=key, base_url=server.base_url, max_retries=0, timeout=http.timeout, http_client=http
    )
    if not server.is_vendor:
        # The SDK takes these from the environment; they are nobody else's business.
        client.organization = client.project = None
    return client
