"""How one `query` is to be answered, and in which session."""

from collections.abc import Sequence
from dataclasses import dataclass

from shipchat.core.errors import UsageError
from shipchat.core.protocols import Provider, SessionStore
from shipchat.sdk.agent import Agent, AnyTool
from shipchat.sdk.runtime import full_store
from shipchat.sessions.session_manager import SessionManager as Sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Options of `query`: those of `Agent`, and which session to go on in.

    `resume` is the id of a session that exists; `continue_conversation` takes the newest one, or begins one where
    there is none; `fork_session` goes on in a copy of either and leaves it as it is. `session_id` names a session
    that is begun, or the copy. Without any of them a new session is begun.

    >>> from shipchat.sdk import AgentOptions
    >>> AgentOptions(resume="ticket-812", fork_session=True).resume
    'ticket-812'
    """

    session_store: SessionStore | None = None
    session_id: str | None = None
    resume: str | None = None
    continue_conversation: bool = False
    fork_session: bool = False
    model: str | None = None
    system: str | None = None
    tools: Sequence[AnyTool] = ()
    max_tokens: int | None = None
    provider: Provider | None = None

    def __post_init__(self) -> None:
        """Refuse options that contradict each other. Raises UsageError."""
        goes_on = self.resume is not None or self.continue_conversation
        if self.resume is not None and self.continue_conversation:
            raise UsageError("resume and continue_conversation name two sessions: give one of them")
        if self.fork_session and not goes_on:
            raise UsageError("fork_session needs a session to copy: resume= or continue_conversation=True")
        if self.session_id is not None and goes_on and not self.fork_session:
            raise UsageError("session_id names a new session: leave it out to go on in one that exists")


def agent_for(options: AgentOptions) -> Agent:
    """Return the agent for `options`, bound to its session; a fork is made here. Blocking.

    Raises SessionNotFound (an unknown `resume`), SessionDamaged, SessionExists, and what Agent raises.
    """
    sessions = Sessions(full_store(options.session_store))
    key = options.session_id
    source = options.resume
    if options.continue_conversation:
        newest = sessions.list_sessions(damaged=False, limit=1)
        source = newest[0].key if newest else None
    if source is not None:
        source = sessions.open(source).key
        key = sessions.fork(source, new_key=options.session_id) if options.fork_session else source
    return Agent(
        model=options.model,
        session_store=options.session_store,
        session_id=key,
        system=options.system,
        tools=options.tools,
        max_tokens=options.max_tokens,
        provider=options.provider,
    )
