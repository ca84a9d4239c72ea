"""shipchat: a terminal chat application for large language models whose conversations can't be lost.

The public Python API is here: agents, stores, sessions, and the errors, events and messages they speak of. A name is
imported when it is first used, so that importing shipchat costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from shipchat.version import __version__

if TYPE_CHECKING:
    from shipchat.core.entries import (
        SessionRecord,
    )
    from shipchat.core.errors import (
        ConfigInvalid,
        ContextOverflow,
        HolderInfo,
        MessageNotFound,
        ModelMissing,
        ProviderAuth,
        ProviderError,
        ProviderRateLimited,
        ProviderRejected,
        ProviderUnavailable,
        SessionAmbiguous,
        SessionConflict,
        SessionDamaged,
        SessionExists,
        SessionHeld,
        SessionKeyInvalid,
        SessionNewer,
        SessionNotFound,
        ShipchatError,
        StoreUnavailable,
        UsageError,
    )
    from shipchat.core.events import (
        CompactionFinished,
        CompactionStarted,
        LastEvent,
        MessageSaved,
        Notice,
        ReasoningDelta,
        ReplyStarted,
        RetryScheduled,
        SessionEvent,
        TextDelta,
        ToolCallFinished,
        ToolCallStarted,
        TurnCompleted,
        TurnFailed,
        TurnInterrupted,
        TurnStarted,
        UsageUpdated,
    )
    from shipchat.core.messages import (
        AssistantMessage,
        AttachmentPart,
        Failure,
        Message,
        Part,
        ReasoningPart,
        TextPart,
        ToolCallPart,
        ToolResult,
        Usage,
        UserMessage,
    )
    from shipchat.core.protocols import (
        ModelRequest,
        Provider,
        SessionStore,
        Tool,
        ToolSpec,
    )
    from shipchat.sdk import (
        Agent,
        AgentOptions,
        ChatSession,
        Packet,
        ReplyFailed,
        SessionInfo,
        SessionManager,
        TurnResult,
        model_from_env,
        query,
        tool,
    )
    from shipchat.stores.file.store import (
        FileSessionStore,
    )
    from shipchat.stores.memory import (
        InMemorySessionStore,
    )

_HOMES: Final = {
    "shipchat.core.entries": ("SessionRecord",),
    "shipchat.core.errors": (
        "ConfigInvalid",
        "ContextOverflow",
        "HolderInfo",
        "MessageNotFound",
        "ModelMissing",
        "ProviderAuth",
        "ProviderError",
        "ProviderRateLimited",
        "ProviderRejected",
        "ProviderUnavailable",
        "SessionAmbiguous",
        "SessionConflict",
        "SessionDamaged",
        "SessionExists",
        "SessionHeld",
        "SessionKeyInvalid",
        "SessionNewer",
        "SessionNotFound",
        "ShipchatError",
        "StoreUnavailable",
        "UsageError",
    ),
    "shipchat.core.events": (
        "CompactionFinished",
        "CompactionStarted",
        "LastEvent",
        "MessageSaved",
        "Notice",
        "ReasoningDelta",
        "ReplyStarted",
        "RetryScheduled",
        "SessionEvent",
        "TextDelta",
        "ToolCallFinished",
        "ToolCallStarted",
        "TurnCompleted",
        "TurnFailed",
        "TurnInterrupted",
        "TurnStarted",
        "UsageUpdated",
    ),
    "shipchat.core.messages": (
        "AssistantMessage",
        "AttachmentPart",
        "Failure",
        "Message",
        "Part",
        "ReasoningPart",
        "TextPart",
        "ToolCallPart",
        "ToolResult",
        "Usage",
        "UserMessage",
    ),
    "shipchat.core.protocols": (
        "ModelRequest",
        "Provider",
        "SessionStore",
        "Tool",
        "ToolSpec",
    ),
    "shipchat.sdk": (
        "Agent",
        "AgentOptions",
        "ChatSession",
        "Packet",
        "ReplyFailed",
        "SessionInfo",
        "SessionManager",
        "TurnResult",
        "model_from_env",
        "query",
        "tool",
    ),
    "shipchat.stores.file.store": ("FileSessionStore",),
    "shipchat.stores.memory": ("InMemorySessionStore",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agent",
    "AgentOptions",
    "AssistantMessage",
    "AttachmentPart",
    "ChatSession",
    "CompactionFinished",
    "CompactionStarted",
    "ConfigInvalid",
    "ContextOverflow",
    "Failure",
    "FileSessionStore",
    "HolderInfo",
    "InMemorySessionStore",
    "LastEvent",
    "Message",
    "MessageNotFound",
    "MessageSaved",
    "ModelMissing",
    "ModelRequest",
    "Notice",
    "Packet",
    "Part",
    "Provider",
    "ProviderAuth",
    "ProviderError",
    "ProviderRateLimited",
    "ProviderRejected",
    "ProviderUnavailable",
    "ReasoningDelta",
    "ReasoningPart",
    "ReplyFailed",
    "ReplyStarted",
    "RetryScheduled",
    "SessionAmbiguous",
    "SessionConflict",
    "SessionDamaged",
    "SessionEvent",
    "SessionExists",
    "SessionHeld",
    "SessionInfo",
    "SessionKeyInvalid",
    "SessionManager",
    "SessionNewer",
    "SessionNotFound",
    "SessionRecord",
    "SessionStore",
    "ShipchatError",
    "StoreUnavailable",
    "TextDelta",
    "TextPart",
    "Tool",
    "ToolCallFinished",
    "ToolCallPart",
    "ToolCallStarted",
    "ToolResult",
    "ToolSpec",
    "TurnCompleted",
    "TurnFailed",
    "TurnInterrupted",
    "TurnResult",
    "TurnStarted",
    "Usage",
    "UsageError",
    "UsageUpdated",
    "UserMessage",
    "__version__",
    "model_from_env",
    "query",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
