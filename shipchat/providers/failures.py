"""What goes wrong with a server, as our errors: plain sentences, what to change, whether and when to try again.

One place for all HTTP providers. Nothing in here opens a connection, and no sentence repeats a key.
"""

import email.utils
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import httpx2
import msgspec

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
from shipchat.providers.server import Server, said

LONGEST_WAIT: Final = 60.0
"""Seconds: a server that asks for a longer wait is not asked again by itself; the user is told when to try."""

_RETRYABLE: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG: Final = (
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "context window",
    "context size",
    "request_too_large",
)
_NO_MONEY: Final = ("insufficient_quota", "billing_error", "credit balance")
_NO_MODEL: Final = ("model_not_found", "model not found", "does not exist", "no such model", "unknown model")
_KEY_WRONG: Final = frozenset({"authentication_error", "permission_error", "invalid_api_key"})
_OVERLOADED: Final = frozenset(
    {
        "overloaded_error",
        "api_error",
        "server_error",
        "timeout_error",
        "service_unavailable_error",
        "internal_error",
        "unavailable_error",
    }
)


class _Detail(msgspec.Struct):
    message: object = ""
    type: object = ""
    code: object = ""


class _Body(msgspec.Struct):
    error: _Detail | str | None = None
    message: object = ""
    detail: object = ""


_BODY: Final = msgspec.json.Decoder(_Body)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server says is wrong: its HTTP status (200 when it came inside a stream), kind and own words."""

    status: int
    kind: str
    text: str
    retry_after: float | None = None
    should_retry: bool | None = None


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> Refusal:
    """Return what an HTTP answer that is no reply says, whatever its body is."""
    kind = text = ""
    try:
        read = _BODY.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        read = _Body()
    match read.error:
        case _Detail() as detail:
            kind = " ".join(str(one) for one in (detail.type, detail.code) if one)
            text = str(detail.message or "")
        case str() as text:
            pass
        case None:
            text = str(read.message or read.detail or "")
    wanted = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    return Refusal(status, kind, text, retry_after(headers), wanted)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait (`retry-after-ms`, or `retry-after` in seconds or as a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) / unit)
        except ValueError:
            continue
    try:
        when = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())


@dataclass(frozen=True, slots=True)
class Failures:
    """Makes the errors of one server; `secrets` never get into them."""

    server: Server
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Failures({self.server.name})"

    def of(self, refusal: Refusal, model: str) -> ShipchatError:
        """Return the error that `refusal` of a request for `model` stands for."""
        server = self.server
        who, own = server.name, said(refusal.text, self.secrets)
        words = f"{refusal.kind} {refusal.text}".casefold()
        kinds = frozenset(refusal.kind.split())
        status = refusal.status
        if status == 402 or any(mark in words for mark in _NO_MONEY):
            return ProviderRateLimited(
                f"{who} will not answer: {own or 'the account has no credit left'}",
                advice=(f"See the plan and the credit of the account at {server.host}.",),
            )
        if status in (401, 403) or kinds & _KEY_WRONG:
            return self._key_refused(own)
        if status == 413 or any(mark in words for mark in _TOO_LONG):
            return ContextOverflow(
                f"the request is too long for {who}/{model}: {own or f'HTTP status {status}'}",
                advice=("Compact the session, start a new one, or choose a model with a larger window.",),
                details={"model": f"{who}/{model}"},
            )
        if status == 404 or ("model" in words and any(mark in words for mark in _NO_MODEL)):
            return self._not_there(model, refusal, own)
        if status == 429 or "rate_limit" in words:
            return self._later(ProviderRateLimited, f"{who} takes no more requests for now", refusal, own)
        if refusal.should_retry is not False and (
            refusal.should_retry or status in _RETRYABLE or status >= 500 or kinds & _OVERLOADED
        ):
            what = "is overloaded" if status == 529 or "overloaded_error" in kinds else "failed"
            return self._later(ProviderUnavailable, f"{who} {what}", refusal, own)
        if status >= 500:
            return ProviderUnavailable(f"{who} failed: {own or f'HTTP status {status}'}")
        return ProviderRejected(
            f"{who} refuses the request: {own or f'HTTP status {status}'}",
            details={"status": status, "kind": refusal.kind},
        )

    def redirected(self, status: int, location: str) -> ProviderRejected:
        """Return the error of an answer that points elsewhere: a key is not carried to another place unasked."""
        parts = urlsplit(location)
        to = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else parts.path
        return ProviderRejected(
            f"{self.server.host} sends requests on to {said(to, self.secrets) or 'nowhere'} (HTTP status {status}); "
            "that is not followed",
            advice=(f"If that is the right address, set base_url of [{self.server.setting}] to it.",),
        )

    def no_stream(self, media_type: str) -> ProviderUnavailable:
        """Return the error of an answer that is no event stream, such as the HTML of a login page."""
        kind = said(media_type, self.secrets) or "nothing that says what it is"
        return ProviderUnavailable(
            f"{self.server.host} answered with {kind} instead of a reply",
            advice=(f"Is {self.server.url} the right address (base_url of [{self.server.setting}])?",),
        )

    def unreachable(self, error: BaseException) -> ProviderError:
        """Return the error of a request that no answer came to."""
        server, all_causes = self.server, causes(error)
        certificate = next((one for one in all_causes if isinstance(one, ssl.SSLCertVerificationError)), None)
        if certificate is not None:
            return ProviderUnavailable(
                f"the certificate of {server.host} is not trusted: {certificate.verify_message}",
                advice=("If you trust its authority, name the authority's file in SSL_CERT_FILE.",),
            )
        if any(isinstance(one, httpx2.TimeoutException) for one in all_causes):
            connecting = any(isinstance(one, httpx2.ConnectTimeout) for one in all_causes)
            what = "can't be reached" if connecting else f"sent nothing for {server.stall:g} s"
            return ProviderUnavailable(f"{server.host} {what}", advice=self._whereabouts(), retryable=True)
        if any(isinstance(one, ssl.SSLError) for one in all_causes):
            return ProviderUnavailable(
                f"no encrypted connection to {server.host} could be made",
                advice=(f"Is {server.url} the right address (base_url of [{server.setting}])?",),
            )
        if any(
            isinstance(one, httpx2.UnsupportedProtocol | httpx2.InvalidURL | UnicodeError)
            for one in all_causes
        ):
            return ProviderRejected(
                f"{server.url} is no address that can be asked",
                advice=(f"Set base_url of [{server.setting}].",),
            )
        reason = next((one.strerror for one in all_causes if isinstance(one, OSError) and one.strerror), "")
        return ProviderUnavailable(
            f"{server.host} can't be reached" + (f": {said(reason, self.secrets).lower()}" if reason else ""),
            advice=self._whereabouts(),
            retryable=True,
        )

    def broken_off(self, how: str) -> ProviderUnavailable:
        """Return the error of a reply that stopped before its end; `how` completes the sentence."""
        return ProviderUnavailable(f"the stream broke off: {how}", retryable=True)

    def interrupted_by(self, error: BaseException) -> ProviderUnavailable:
        """Return the error of a connection that failed while a reply came."""
        if isinstance(error, httpx2.TimeoutException):
            return self.broken_off(f"{self.server.host} sent nothing for {self.server.stall:g} s")
        return self.broken_off(f"the connection to {self.server.host} failed")

    def too_large(self, limit: str) -> ProviderUnavailable:
        """Return the error of a reply without an end."""
        return ProviderUnavailable(
            f"the reply of {self.server.name} passed {limit} and was stopped",
            advice=("What had arrived is kept. Ask for less at a time, or set max_tokens.",),
        )

    def _key_refused(self, own: str) -> ProviderAuth:
        server = self.server
        variable = server.key_variable
        where = f"set {variable}, or: shipchat keys set {server.name}"
        return ProviderAuth(
            f"{server.name} refuses the key: {own or 'it says no more'}",
            advice=(
                f"Check the key: {where}"
                if variable
                else f"It wants a key: set api_key_env in [{server.setting}] of the config.",
            ),
            details={"provider": server.name, "variable": variable},
        )

    def _not_there(self, model: str, refusal: Refusal, own: str) -> ModelMissing:
        server = self.server
        about_model = "model" in f"{refusal.kind} {refusal.text}".casefold()
        if server.is_vendor or about_model:
            what = f"{server.name} has no model {model!r}" + (f": {own}" if own else "")
            advice = f"shipchat models list {server.name} lists what it has."
        else:
            what = f"there is nothing to ask at {server.url}" + (f": {own}" if own else "")
            advice = f"Check base_url of [{server.setting}]: it often ends in /v1."
        return ModelMissing(what, advice=(advice,), details={"model": f"{server.name}/{model}"})

    def _later(
        self, kind: type[ProviderRateLimited | ProviderUnavailable], what: str, refusal: Refusal, own: str
    ) -> ProviderError:
        wait = refusal.retry_after
        text = f"{what}: {own or f'HTTP status {refusal.status}'}"
        if wait is not None and wait > LONGEST_WAIT:
            return kind(text, advice=(f"It asks to be left alone for {wait:,.0f} s.",), retry_after=wait)
        return kind(text, retryable=refusal.should_retry is not False, retry_after=wait)

    def _whereabouts(self) -> tuple[str, ...]:
        server = self.server
        if server.is_loopback:
            return (f"Is the server running? It is expected at {server.url}.",)
        if server.is_vendor:
            return ("Check the network (and HTTPS_PROXY, if there is a proxy).",)
        return (f"Check the network, and base_url of [{server.setting}]: {server.url}",)


def causes(error: BaseException) -> list[BaseException]:
    """Return `error` and everything that led to it."""
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in found:
        found.append(one)
        if isinstance(one, BaseExceptionGroup):
            found += one.exceptions
        one = one.__cause__ or one.__context__
    return found
