"""Which servers there are: the vendors, those of the config, and the usual ones on this machine, by name.

How a server is asked is `remote`'s affair; where keys are kept is `config`'s: here they come as a function.
"""

import os
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from shipchat.providers.server import (
    KEY_VARIABLES,
    STALL_SECONDS,
    URL_VARIABLES,
    VENDOR_URLS,
    BlobReader,
    KeyReader,
    Kind,
    Server,
)

KeyFinder = Callable[[str, str | None], str | None]
"""Returns the key of a provider by its name and the environment variable it may be in (None: none)."""

USUAL_PORTS: Final[Mapping[str, int]] = {"ollama": 11434, "llamacpp": 8080, "vllm": 8000, "lmstudio": 1234}
"""Where the usual model servers listen on the loopback interface when nobody changed it, by the provider's name."""


class ConfiguredServer(Protocol):
    """A table `[providers.NAME]` of the config."""

    @property
    def name(self) -> str: ...  # noqa: D102 -- named as in the config
    @property
    def kind(self) -> Kind: ...  # noqa: D102 -- as above
    @property
    def base_url(self) -> str: ...  # noqa: D102 -- as above
    @property
    def api_key_env(self) -> str | None: ...  # noqa: D102 -- as above
    @property
    def models(self) -> tuple[str, ...]: ...  # noqa: D102 -- as above
    @property
    def context_window(self) -> int | None: ...  # noqa: D102 -- as above
    @property
    def max_output(self) -> int | None: ...  # noqa: D102 -- as above


def known_servers(
    configured: Mapping[str, ConfiguredServer],
    find_key: KeyFinder,
    *,
    environment: Mapping[str, str] | None = None,
    stall: float = STALL_SECONDS,
    effort: str | None = None,
    blobs: BlobReader | None = None,
) -> dict[str, Server]:
    """Return every server by name: one of the config goes before ours of the same name.

    `environment` (default: the process's) may move a vendor's address: ANTHROPIC_BASE_URL, OPENAI_BASE_URL.
    """
    environment = os.environ if environment is None else environment

    def server(
        name: str,
        kind: Kind,
        base_url: str,
        variable: str | None,
        given: ConfiguredServer | None = None,
        *,
        found_here: bool = False,
    ) -> Server:
        return Server(
            name=name,
            kind=kind,
            base_url=_tidy(kind, base_url),
            key=_reader(find_key, name, variable),
            key_variable=variable,
            models=given.models if given else (),
            window=given.context_window if given else None,
            max_output=given.max_output if given else None,
            stall=stall,
            effort=effort,
            blobs=blobs,
            found_here=found_here,
        )

    servers: dict[str, Server] = {}
    for kind, url in VENDOR_URLS.items():
        address = environment.get(URL_VARIABLES[kind], "").strip() or url
        servers[kind] = server(kind, kind, address, KEY_VARIABLES[kind])
    for name, port in USUAL_PORTS.items():
        servers[name] = server(name, "openai", f"http://127.0.0.1:{port}/v1", None, found_here=True)
    for name, given in configured.items():
        variable = given.api_key_env
        if variable is None and (
            name == given.kind or _tidy(given.kind, given.base_url) == VENDOR_URLS[given.kind]
        ):
            variable = KEY_VARIABLES[given.kind]
        servers[name] = server(name, given.kind, given.base_url, variable, given)
    return servers


def _reader(find_key: KeyFinder, name: str, variable: str | None) -> KeyReader:
    return lambda: find_key(name, variable)


def _tidy(kind: Kind, url: str) -> str:
    """Return `url` as its SDK wants it: both are written with and without /v1 in the wild."""
    url = url.rstrip("/")
    return url.removesuffix("/v1") if kind == "anthropic" else url
