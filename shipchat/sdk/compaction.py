"""Compaction of a session from a program, step by step: propose, apply, take back, bring back; and its context."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from shipchat.core.entries import CheckpointEntry
from shipchat.sdk.background import BackgroundLoop
from shipchat.sessions.chat_session import ChatSession as Engine
from shipchat.sessions.compactor import Proposal
from shipchat.sessions.session_compaction import ContextUse

T = TypeVar("T")


class SessionCompaction:
    r"""What can be done about a session's length; `chat.compaction`. May be used from any thread.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> provider = ScriptedProvider(["word " * 300, "Bye.", "## Goal\nto say hello\n## Progress\nsaid"])
    >>> chat = Agent(provider=provider, session_store=InMemorySessionStore()).chat_session("support-42")
    >>> for prompt in ("Hi", "See you"):
    ...     _ = chat.send(prompt)
    >>> proposal = chat.compaction.propose(instructions="Keep names.")
    >>> proposal.first, proposal.last, proposal.tokens_after < proposal.tokens_before
    (1, 2, True)
    >>> checkpoint = chat.compaction.apply(proposal, proposal.summary.replace("hello", "goodbye"))
    >>> checkpoint.summary.splitlines()[1], chat.context().starts_at
    ('to say goodbye', 3)
    >>> _ = chat.compaction.undo()
    >>> chat.context().starts_at
    1
    >>> chat.compaction.redo().summary == checkpoint.summary
    True
    """

    def __init__(self, engine: Engine, background: BackgroundLoop) -> None:
        self._engine = engine
        self._background = background

    def propose(self, *, instructions: str | None = None, up_to: int | str | None = None) -> Proposal:
        """Return a summary of older turns and what it would change; changes nothing itself.

        Raises UsageError (nothing to summarise), MessageNotFound, CompactionFailed and provider errors.
        """
        return self._background.run(self._propose(instructions, up_to))

    async def apropose(self, *, instructions: str | None = None, up_to: int | str | None = None) -> Proposal:
        """Propose as `propose` does, in a coroutine; cancelling it leaves no trace."""
        return await self._background.await_(self._propose(instructions, up_to))

    def apply(self, proposal: Proposal, summary: str | None = None) -> CheckpointEntry:
        """Apply a proposal, with its summary or the one given, and return the checkpoint.

        Raises SessionConflict when the session was changed so that it no longer fits, SessionHeld, UsageError.
        """
        return self._background.run(self._engine.compaction.apply(proposal, summary))

    async def aapply(self, proposal: Proposal, summary: str | None = None) -> CheckpointEntry:
        """Apply as `apply` does, in a coroutine."""
        return await self._background.await_(self._engine.compaction.apply(proposal, summary))

    def undo(self) -> CheckpointEntry:
        """Take the newest compaction back, also after further turns. Raises UsageError, SessionHeld."""
        return self._background.run(self._known(self._engine.undo_compaction))

    def redo(self) -> CheckpointEntry:
        """Bring back the compaction taken back last. Raises UsageError, SessionHeld."""
        return self._background.run(self._known(self._engine.redo_compaction))

    def context(self) -> ContextUse:
        """Return how full the model's window is. Raises ModelMissing, ProviderAuth."""
        return self._background.run(self._known(self._engine.context))

    async def acontext(self) -> ContextUse:
        """Return as `context` does, in a coroutine."""
        return await self._background.await_(self._known(self._engine.context))

    async def _propose(self, instructions: str | None, up_to: int | str | None) -> Proposal:
        return await self._engine.compaction.propose(instructions=instructions, up_to=up_to)

    async def _known(self, work: Callable[[], Awaitable[T]]) -> T:
        if not self._engine.replying:  # a running turn has taken in all there is
            await self._engine.refresh()
        return await work()
