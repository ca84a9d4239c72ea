"""Every error a user can meet: a stable code, what happened to what, what to do about it, and the exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # errors are loaded before anything else is needed; messages take longer than they do
    from shipchat.core.messages import Json


class ShipchatError(Exception):
    """The root of all expected errors.

    `code` is stable and machine-readable; `exit_code` is what a command ends with; `str(error)` is one sentence;
    `advice` is at most two lines of what the user can do; `details` are values for `--json`.
    """

    code = "error"
    exit_code = 1

    def __init__(
        self, message: str, *, advice: Sequence[str] = (), details: "Mapping[str, Json] | None" = None
    ) -> None:
        super().__init__(message)
        self.advice: tuple[str, ...] = tuple(advice)
        self.details: dict[str, Json] = dict(details or {})


class UsageError(ShipchatError):
    """An argument makes no sense."""

    code = "usage"
    exit_code = 2


class SessionNotFound(ShipchatError):
    """No session answers to this name."""

    code = "session_not_found"
    exit_code = 3


class SessionAmbiguous(ShipchatError):
    """More than one session answers to this name; `details["candidates"]` lists the keys."""

    code = "session_ambiguous"
    exit_code = 3


class MessageNotFound(ShipchatError):
    """A position or message id that the session does not have."""

    code = "message_not_found"
    exit_code = 3


class SessionExists(ShipchatError):
    """The key is taken."""

    code = "session_exists"
    exit_code = 4


class SessionKeyInvalid(ShipchatError):
    """A key that can't be a file name everywhere."""

    code = "session_key_invalid"
    exit_code = 2


@dataclass(frozen=True, slots=True)
class HolderInfo:
    """Who holds a session: process id, host, since when, and which program (`shipchat send`)."""

    pid: int
    host: str
    since: datetime
    program: str

    def sentence(self) -> str:
        """Return `pid 4312 on box since 14:55 (shipchat send)`, the time being local."""
        return f"pid {self.pid} on {self.host} since {self.since.astimezone():%H:%M} ({self.program})"


class SessionHeld(ShipchatError):
    """A turn runs elsewhere; `holder` says where, or is None when that could not be read."""

    code = "session_held"
    exit_code = 4

    def __init__(self, key: str, holder: HolderInfo | None) -> None:
        who = holder.sentence() if holder else "another process"
        super().__init__(
            f"a turn is running in session {key}: held by {who}",
            advice=(f"Wait for it to end, or go on in a copy: shipchat fork {key}",),
            details={
                "key": key,
                "holder": None
                if holder is None
                else {
                    "pid": holder.pid,
                    "host": holder.host,
                    "since": holder.since.isoformat(),
                    "program": holder.program,
                },
            },
        )
        self.key = key
        self.holder = holder


class SessionConflict(ShipchatError):
    """Someone else changed the path in between; nothing was written."""

    code = "session_conflict"
    exit_code = 4


class SessionDamaged(ShipchatError):
    """A session file that can't be trusted from `line` (1-based) on; `readable` says how many entries can be read."""

    code = "session_damaged"
    exit_code = 5

    def __init__(self, key: str, path: str, reason: str, *, line: int = 0, readable: int = 0) -> None:
        where = f"{path}, line {line}" if line else path
        super().__init__(
            f"session {key} is damaged: {reason} ({where})",
            advice=("Nothing was changed; the other sessions are fine.",),
            details={"key": key, "path": path, "line": line, "reason": reason, "readable": readable},
        )
        self.key = key
        self.path = path
        self.reason = reason
        self.line = line
        self.readable = readable


class SessionNewer(SessionDamaged):
    """The file is fine but was written by a newer shipchat: read-only here."""

    code = "session_newer"

    def __init__(self, key: str, path: str, version: int) -> None:
        super().__init__(key, path, f"written by a newer shipchat (format version {version})", line=1)
        self.advice = ("Update shipchat to write to it.",)


class StoreUnavailable(ShipchatError):
    """Nothing could be written: full, read-only, denied, failing. The message says NOT SAVED and where."""

    code = "store_unavailable"
    exit_code = 6


class ProviderError(ShipchatError):
    """A model call failed. `retryable` before any text has come; `retry_after` in seconds when the provider said."""

    code = "provider_failed"
    exit_code = 7

    def __init__(
        self,
        message: str,
        *,
        advice: Sequence[str] = (),
        details: "Mapping[str, Json] | None" = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, advice=advice, details=details)
        self.retryable = retryable
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """The provider can't be reached, is overloaded or broke off."""

    code = "provider_unavailable"


class ProviderRateLimited(ProviderError):
    """Too many requests for this key."""

    code = "provider_rate_limited"


class ProviderRejected(ProviderError):
    """The provider refuses this request as it is."""

    code = "provider_rejected"


class ProviderAuth(ProviderError):
    """The key is missing, wrong or not allowed."""

    code = "provider_auth"
    exit_code = 8


class ModelMissing(ShipchatError):
    """The model, or what it needs to run, is not there."""

    code = "model_missing"
    exit_code = 8


class ModelDownloadFailed(ShipchatError):
    """A model could not be fetched whole."""

    code = "model_download_failed"
    exit_code = 7


class ContextOverflow(ShipchatError):
    """The request can't fit the model's window."""

    code = "context_overflow"
    exit_code = 9


class ConfigInvalid(ShipchatError):
    """A setting that can't be used; the message names the file or variable and the setting."""

    code = "config_invalid"
    exit_code = 2
