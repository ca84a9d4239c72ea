"""An agent: a model, a system prompt, tools and a store, with which any number of sessions can be talked in."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from shipchat.core.context import DEFAULT_SYSTEM
from shipchat.core.entries import SessionHeader
from shipchat.core.keys import check_key, new_key
from shipchat.core.models import parse_model
from shipchat.core.protocols import Provider, SessionStore, Tool
from shipchat.sdk.chat import ChatSession, FilePath
from shipchat.sdk.python_tools import tool_of
from shipchat.sdk.result import TurnResult
from shipchat.sdk.runtime import (
    BACKGROUND,
    PROGRAM,
    OwnModels,
    SharedModels,
    blobs_beside,
    full_store,
    shared_services,
)
from shipchat.sessions.chat_session import ChatSession as Engine
from shipchat.sessions.options import ChatOptions, ModelAccess
from shipchat.sessions.tools import Toolbox

AnyTool = Tool | Callable[..., Any]
"""A Python function (see `shipchat.tool`) or an object with `spec`, `timeout`, `max_output` and `run`."""


class Agent:
    """Answers prompts in named sessions that are on disk before they are answered.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> agent = Agent(
    ...     provider=ScriptedProvider(["A lock.", "Yes."]),  # usually: model="local/smollm2"
    ...     session_store=InMemorySessionStore(),  # usually: FileSessionStore(".shipchat/sessions")
    ...     session_id="ticket-812",
    ... )
    >>> agent.run("The nightly export fails. Why?").output
    'A lock.'
    >>> agent.run("Are you sure?").output
    'Yes.'
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        session_store: SessionStore | None = None,
        session_id: str | None = None,
        system: str | None = None,
        tools: Sequence[AnyTool] = (),
        max_tokens: int | None = None,
        provider: Provider | None = None,
    ) -> None:
        """Make an agent; nothing is read, written or called before its first turn.

        `model` is written provider/model; None takes a session's own, else the configured one. `session_store` is any
        object with `load`, `save` and `list_all`; None keeps sessions in the platform's data directory, where the
        program `shipchat` finds them. `session_id` names the session that `run` talks in; None makes a new one.
        `system` is the system prompt. `tools` are Python functions the model may call. `max_tokens` limits each
        reply. `provider` answers instead of the configured ones, whatever the model's name.

        Raises UsageError (a bad model name, a function that can't be a tool), SessionKeyInvalid, ConfigInvalid.
        """
        if model is not None:
            parse_model(model)
        toolbox = Toolbox.of(tool_of(one) for one in tools)
        self.session_store = session_store
        self._store = full_store(session_store)
        self._session_id = None if session_id is None else check_key(session_id)
        self._chat: ChatSession | None = None
        self._models: ModelAccess
        if provider is None:
            settings = shared_services().settings
            self._models = SharedModels(toolbox)
            self._options = ChatOptions(
                model=model,
                system=system,
                max_tokens=max_tokens if max_tokens is not None else settings.max_tokens,
                default_model=settings.default_model,
                default_system=DEFAULT_SYSTEM if settings.system is None else settings.system,
                program=PROGRAM,
            )
        else:
            self._models = OwnModels(provider, toolbox)
            self._options = ChatOptions(
                model=model,
                system=system,
                max_tokens=max_tokens,
                default_model="own/default",
                program=PROGRAM,
            )

    def __repr__(self) -> str:
        model = self._options.model or self._options.default_model
        return f"Agent(model={model!r}, session_id={self._session_id!r})"

    @classmethod
    def with_builtins(cls, *, tools: Sequence[AnyTool] = (), **options: Any) -> "Agent":
        """Return an agent that has the tools that come with shipchat, which can change nothing, beside `tools`.

        They are `current_time` and `calculate`. `options` are those of `Agent`.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> provider = ScriptedProvider(["Noon."])
        >>> agent = Agent.with_builtins(provider=provider, session_store=InMemorySessionStore())
        >>> _ = agent.run("What time is it?")
        >>> [tool.name for tool in provider.requests[0].tools]
        ['current_time', 'calculate']
        """
        from shipchat.sdk.builtin_tools import BUILTIN_TOOLS

        return cls(tools=(*BUILTIN_TOOLS, *tools), **options)

    @property
    def session_id(self) -> str:
        """The key of the session that `run` talks in.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> Agent(session_store=InMemorySessionStore(), session_id="ticket-812").session_id
        'ticket-812'
        """
        if self._session_id is None:
            self._session_id = new_key(datetime.now(UTC))
        return self._session_id

    def run(self, prompt: str, *, attachments: Sequence[FilePath] = ()) -> TurnResult:
        """Send `prompt` in the agent's session and wait for the reply; `attachments` as in `ChatSession.send`.

        Works everywhere, also inside a running event loop (which then waits, too; `arun` doesn't make it wait).
        Raises ReplyFailed when the turn fails, SessionHeld when another one runs in the session, SessionDamaged,
        StoreUnavailable (the prompt could not be stored, nothing was sent), UsageError (an empty prompt).

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> Agent(provider=ScriptedProvider(["4"]), session_store=InMemorySessionStore()).run("2 + 2?").output
        '4'
        """
        return self._own_chat().send(prompt, attachments=attachments)

    async def arun(self, prompt: str, *, attachments: Sequence[FilePath] = ()) -> TurnResult:
        """Send `prompt` as `run` does, in a coroutine. Cancelling it interrupts the turn; what had arrived is stored.

        >>> import asyncio
        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["4"]), session_store=InMemorySessionStore())
        >>> asyncio.run(agent.arun("2 + 2?")).output
        '4'
        """
        return await self._own_chat().asend(prompt, attachments=attachments)

    def chat_session(self, session_id: str | None = None) -> ChatSession:
        """Return the session `session_id` to talk in; None: the agent's own. The first send creates it.

        Raises SessionKeyInvalid.

        >>> from shipchat import Agent, InMemorySessionStore
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=InMemorySessionStore())
        >>> agent.chat_session("support-42").send("Hi").output
        'Hello.'
        """
        key = self.session_id if session_id is None else check_key(session_id)
        header = SessionHeader(key=key, created=datetime.now(UTC))
        engine = Engine(
            self._store,
            key,
            models=self._models,
            options=self._options,
            header=header,
            blobs=blobs_beside(self._store),
        )
        return ChatSession(engine, self._store, BACKGROUND)

    def _own_chat(self) -> ChatSession:
        if self._chat is None:
            self._chat = self.chat_session()
        return self._chat


def model_from_env() -> str:
    """Return the model that this machine is set up for.

    That is SHIPCHAT_DEFAULT_MODEL, else `default_model` of the config file, else the built-in local model. Raises
    ConfigInvalid.

    >>> import os
    >>> from shipchat import model_from_env
    >>> os.environ["SHIPCHAT_DEFAULT_MODEL"] = "anthropic/claude"
    >>> model_from_env()
    'anthropic/claude'
    >>> del os.environ["SHIPCHAT_DEFAULT_MODEL"]
    """
    from shipchat.config.settings import load_settings

    return load_settings().default_model
