"""Anthropic's models, and every server that speaks its protocol: the SDK's client for it, and nothing else."""

from typing import Any, Final

import httpx2

from shipchat.providers import anthropic_messages
from shipchat.providers.anthropic_reply import Reply
from shipchat.providers.remote import ChatProtocol, RemoteProvider
from shipchat.providers.server import Server

_MESSAGES: Final = ChatProtocol(
    path=anthropic_messages.PATH,
    list_path="/v1/models?limit=1000",
    body=anthropic_messages.request_body,
    reply=Reply,
    count_path="/v1/messages/count_tokens",
    not_counted=("stream", "max_tokens"),
)


def anthropic_provider(server: Server) -> RemoteProvider:
    """Return the provider of `server`; imports nothing heavy."""
    return RemoteProvider(server, _MESSAGES, _client)


def _client(server: Server, key: str, http: httpx2.AsyncClient) -> Any:
    from anthropic import AsyncAnthropic

    # The SDK sends the key as a bearer token; gateways written for its first version look here.
    older: dict[str, str] = {} if server.is_vendor else {"x-api-key": key}
    return AsyncAnthropic(
        api_key=key,
        base_url=server.base_url,
        max_retries=0,
        timeout=http.timeout,
        http_client=http,
        default_headers=older,
    )
