"""A server that models are asked at, as the settings describe it, and how it is spoken of without giving a secret away.

Asking it is `connection`'s affair, what its answers mean that of `failures`.
"""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from shipchat.core.errors import ProviderAuth
from shipchat.core.safe_text import safe_line

Kind: TypeAlias = Literal["anthropic", "openai"]

KeyReader: TypeAlias = Callable[[], str | None]
"""Returns the key of a server, None when there is none. May block (a keyring); called in a thread."""

BlobReader: TypeAlias = Callable[[str], bytes]
"""Returns the bytes of an attachment by its SHA-256 (hex); raises OSError when it is not there. Blocks."""

VENDOR_URLS: Final[dict[Kind, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
}
"""Where the vendors' own models are; every other address is a custom one, and shown."""

KEY_VARIABLES: Final[dict[Kind, str]] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The environment variables that everybody keeps the vendors' keys in."""

URL_VARIABLES: Final[dict[Kind, str]] = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}
"""Those that move a vendor's address (the SDKs follow them silently; we show it)."""

NO_KEY: Final = "none"
"""What a server that wants no key is sent: without one the SDKs would take the vendor's from the environment."""

STALL_SECONDS: Final = 300
"""How long a server may send nothing before its reply is given up. A model that thinks hard, or a slow one that reads a
long prompt, can be silent for minutes; a connection that is gone usually shows at once."""

_SAID: Final = 300  # characters of a server's own words that an error repeats


def _no_key() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What is known of a server.

    `name` is what stands before the slash of a model, `base_url` where it is (without a trailing slash), `key`
    reads its key; `key_variable` is the environment variable that a missing key is asked for in (None: it needs
    none). `models`, `window` and `max_output` (tokens) come from the config; `stall` is in seconds; `effort` is how
    hard models should think, in the vendor's words. `found_here`: it was found
    running on this machine, not configured.
    """

    name: str
    kind: Kind
    base_url: str = field(repr=False)  # may hold a password or a key
    key: KeyReader = field(default=_no_key, repr=False)
    key_variable: str | None = None
    models: tuple[str, ...] = ()
    window: int | None = None
    max_output: int | None = None
    stall: float = STALL_SECONDS
    effort: str | None = None
    blobs: BlobReader | None = field(default=None, repr=False)
    found_here: bool = False

    @property
    def is_vendor(self) -> bool:
        """Whether this is the vendor's own host."""
        return self.base_url == VENDOR_URLS[self.kind]

    @property
    def has_vendor_models(self) -> bool:
        """Whether its models are the vendor's: asked at its own host, or through a gateway that took its place."""
        return self.is_vendor or self.name == self.kind

    @property
    def host(self) -> str:
        """The host (and port, when one is given) without user and password: what messages name."""
        parts = urlsplit(self.base_url)
        return parts.netloc.rpartition("@")[2] or self.base_url

    @property
    def hostname(self) -> str:
        """The host alone."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def url(self) -> str:
        """The base URL without user, password and query: fit to be shown."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def root(self) -> str:
        """The address of the host itself, without a path."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine."""
        name = self.hostname
        if name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    @property
    def note(self) -> str:
        """A short word on where requests go, empty for the vendor's own host."""
        if self.is_vendor:
            return ""
        if self.base_url.startswith("http://") and not self.is_loopback:
            return f"at {self.host}, NOT ENCRYPTED"
        return f"at {self.host}"

    @property
    def setting(self) -> str:
        """The table of the config that this server is described in."""
        return f"providers.{self.name}"

    def read_key(self) -> str:
        """Return the key, NO_KEY for a server that needs none. Blocks. Raises ProviderAuth when it is missing."""
        key = (self.key() or "").strip()
        if key and (not key.isascii() or not key.isprintable() or " " in key):
            raise ProviderAuth(
                f"the API key for {self.name} holds characters that no key has",
                advice=(f"Copy it anew: shipchat keys set {self.name}",),
                details={"provider": self.name, "variable": self.key_variable},
            )
        if key:
            return key
        if self.key_variable is None:
            return NO_KEY
        raise self.key_missing()

    def key_missing(self) -> ProviderAuth:
        """Return the error of a server that is to be asked without a key."""
        return ProviderAuth(
            f"there is no API key for {self.name}",
            advice=(f"Set {self.key_variable}, or keep one: shipchat keys set {self.name}",),
            details={"provider": self.name, "variable": self.key_variable},
        )

    def secrets(self, key: str = "") -> tuple[str, ...]:
        """Return what must never be shown: the key, and what the base URL hides."""
        parts = urlsplit(self.base_url)
        hidden = [key if key != NO_KEY else "", parts.password or "", _login(parts)]
        hidden += [value for _, value in parse_qsl(parts.query)]
        return tuple(one for one in hidden if len(one) >= 4)


def _login(parts: SplitResult) -> str:
    # A user name is a secret when it stands alone: that is how some gateways take a key.
    return parts.username or "" if parts.password is None else ""


def said(text: str, secrets: tuple[str, ...]) -> str:
    """Return a server's own words as one line of bearable length, without control characters and secrets."""
    for secret in secrets:
        text = text.replace(secret, "…")
    line = safe_line(" ".join(text.split()))
    return line if len(line) <= _SAID else line[: _SAID - 1] + "…"
