"""What a program does to sessions as wholes: a thin face of `sessions.session_manager`, by session ids."""

from collections.abc import Sequence

from shipchat.core.errors import UsageError
from shipchat.core.protocols import SessionStore
from shipchat.sdk.agent import Agent
from shipchat.sdk.chat import ChatSession
from shipchat.sdk.info import SessionInfo, info_of
from shipchat.sdk.runtime import full_store, same_store
from shipchat.sessions.names import not_found
from shipchat.sessions.session_manager import SessionManager as Sessions


class SessionManager:
    """Acts on the sessions of one store. Nothing it does destroys a word: delete goes to a trash.

    Its methods block, shortly; in a coroutine use `asyncio.to_thread`. A session id is the exact key.

    >>> from shipchat import Agent, InMemorySessionStore, SessionManager
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> agent = Agent(provider=ScriptedProvider(["A lock.", "A leak."]), session_store=store)
    >>> _ = agent.chat_session("ticket-812").send("The nightly export fails. Why?")
    >>> manager = SessionManager(store)
    >>> [info.session_id for info in manager.list_sessions()]
    ['ticket-812']
    >>> trial = manager.fork(agent, "ticket-812", from_message=1, title="Another guess")
    >>> trial.session_id, [message.text for message in trial.history()]
    ('ticket-812-fork', ['The nightly export fails. Why?'])
    """

    def __init__(self, store: SessionStore | None = None) -> None:
        """`store` is any object with `load`, `save` and `list_all`; None: the one in the platform's data directory."""
        self.session_store = store
        self._sessions = Sessions(full_store(store))

    def __repr__(self) -> str:
        return f"SessionManager({self.session_store!r})"

    # --- finding ---

    def list_sessions(
        self, *, tags: Sequence[str] = (), archived: bool | None = False, limit: int | None = None
    ) -> list[SessionInfo]:
        """Return the sessions that have all `tags`, newest first; `archived` of None lists both kinds.

        >>> from shipchat import InMemorySessionStore, SessionManager
        >>> SessionManager(InMemorySessionStore()).list_sessions(limit=10)
        []
        """
        return [
            info_of(row) for row in self._sessions.list_sessions(tags=tags, archived=archived, limit=limit)
        ]

    def get(self, session_id: str) -> SessionInfo:
        """Return one session. Raises SessionNotFound (with the nearest ids), SessionKeyInvalid.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> SessionManager(store).get("a").message_count
        2
        """
        row = self._sessions.store.summary(session_id)
        if row is None:
            raise not_found(session_id, self._sessions.store.keys())
        return info_of(row)

    def resume(self, agent: Agent, session_id: str) -> ChatSession:
        """Return a session that exists, to talk in with `agent`.

        Raises SessionNotFound, SessionDamaged, UsageError (the agent has another store).

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> agent = Agent(provider=ScriptedProvider(["Hello.", "Bye."]), session_store=store, session_id="a")
        >>> _ = agent.run("Hi")
        >>> SessionManager(store).resume(agent, "a").send("See you").output
        'Bye.'
        """
        self._check_store(agent)
        return agent.chat_session(self._sessions.open(session_id).key)

    # --- making ---

    def fork(
        self,
        agent: Agent,
        session_id: str,
        *,
        from_message: int | str | None = None,
        title: str | None = None,
        new_session_id: str | None = None,
    ) -> ChatSession:
        """Copy a session up to and including a message, and return the copy to talk in with `agent`.

        `from_message` is a position (from 1, the system prompt not counted) or a message id; None copies all. The
        session itself is only read, also while a turn runs in it. Raises MessageNotFound (with the valid range),
        SessionNotFound, SessionExists, SessionDamaged, UsageError (the agent has another store); nothing is made then.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> agent = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a")
        >>> _ = agent.run("Hi")
        >>> trial = SessionManager(store).fork(agent, "a", new_session_id="b", title="A trial")
        >>> SessionManager(store).get("b").title, len(trial.history())
        ('A trial', 2)
        """
        self._check_store(agent)
        key = self._sessions.fork(session_id, from_message=from_message, title=title, new_key=new_session_id)
        return agent.chat_session(key)

    # --- changing: none of these disturbs a running turn ---

    def rename(self, session_id: str, title: str) -> SessionInfo:
        """Give a session a title, which beats automatic ones for ever. Raises SessionNotFound, UsageError.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> SessionManager(store).rename("a", "Nightly export").title
        'Nightly export'
        """
        self._sessions.rename(session_id, title)
        return self.get(session_id)

    def tag(self, session_id: str, *tags: str) -> SessionInfo:
        """Add tags, of one word each. Raises SessionNotFound, UsageError.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> SessionManager(store).tag("a", "billing", "urgent").tags
        ('billing', 'urgent')
        """
        self._sessions.tag(session_id, add=tags)
        return self.get(session_id)

    def untag(self, session_id: str, *tags: str) -> SessionInfo:
        """Remove tags; without any, all of them. Raises SessionNotFound.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> manager = SessionManager(store)
        >>> _ = manager.tag("a", "billing", "urgent")
        >>> manager.untag("a", "urgent").tags, manager.untag("a").tags
        (('billing',), ())
        """
        self._sessions.tag(session_id, remove=tags or self.get(session_id).tags)
        return self.get(session_id)

    def archive(self, session_id: str) -> SessionInfo:
        """Put a session out of the usual list. Raises SessionNotFound.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> SessionManager(store).archive("a").archived
        True
        """
        self._sessions.archive(session_id)
        return self.get(session_id)

    def unarchive(self, session_id: str) -> SessionInfo:
        """Put it back; sending to it does so as well. Raises SessionNotFound.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> _ = SessionManager(store).archive("a")
        >>> SessionManager(store).unarchive("a").archived
        False
        """
        self._sessions.unarchive(session_id)
        return self.get(session_id)

    # --- removing ---

    def delete(self, session_id: str) -> None:
        """Move a session to the trash. Raises SessionNotFound, SessionHeld while a turn runs in it, StoreUnavailable
        for a store that can't delete.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> SessionManager(store).delete("a")
        >>> SessionManager(store).list_sessions()
        []
        """
        self._sessions.delete(session_id)

    def restore(self, session_id: str | None = None) -> SessionInfo:
        """Bring a deleted session back, by id or title; None: the one deleted last.

        When its id is taken meanwhile, it comes back as a copy under a new one. Raises SessionNotFound.

        >>> from shipchat import Agent, InMemorySessionStore, SessionManager
        >>> from shipchat.testing.scripted import ScriptedProvider
        >>> store = InMemorySessionStore()
        >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
        >>> manager = SessionManager(store)
        >>> manager.delete("a")
        >>> manager.restore("a").session_id
        'a'
        """
        return self.get(self._sessions.restore(session_id))

    # --- inside ---

    def _check_store(self, agent: Agent) -> None:
        if not same_store(self.session_store, agent.session_store):
            raise UsageError(
                "the agent and the manager have different stores",
                advice=("Give both the same one: Agent(session_store=store), SessionManager(store).",),
            )
