"""Sessions of a store as plain functions, for programs that want no manager."""

from shipchat.core.errors import UsageError
from shipchat.core.messages import Message
from shipchat.core.protocols import SessionStore
from shipchat.sdk.info import SessionInfo
from shipchat.sdk.manager import SessionManager
from shipchat.sdk.runtime import full_store
from shipchat.sessions.session_manager import SessionManager as Sessions


def list_sessions(
    store: SessionStore | None = None,
    *,
    limit: int | None = None,
    offset: int = 0,
    tag: str | None = None,
    archived: bool | None = False,
) -> list[SessionInfo]:
    """Return sessions, newest first, `limit` of them after the first `offset`; `archived` of None lists both kinds.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import list_sessions
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> [(info.session_id, info.summary, info.tags) for info in list_sessions(store, limit=10)]
    [('a', 'Hi', ())]
    """
    _check_page(limit, offset)
    tags = () if tag is None else (tag,)
    last = None if limit is None else offset + limit
    return SessionManager(store).list_sessions(tags=tags, archived=archived, limit=last)[offset:]


def get_session_info(store: SessionStore | None, session_id: str) -> SessionInfo:
    """Return one session. Raises SessionNotFound.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import get_session_info
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> get_session_info(store, "a").message_count
    2
    """
    return SessionManager(store).get(session_id)


def get_session_messages(
    store: SessionStore | None,
    session_id: str,
    *,
    limit: int | None = None,
    offset: int = 0,
    after: int | str | None = None,
) -> list[Message]:
    """Return messages of the current path, first to last: `limit` of them after the first `offset`.

    `after` is a position or the id of a message on the path instead: those that follow it. Raises SessionNotFound,
    SessionDamaged, MessageNotFound (with the valid range), UsageError.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import get_session_messages
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> [message.text for message in get_session_messages(store, "a", limit=1)]
    ['Hi']
    >>> [message.text for message in get_session_messages(store, "a", after=1)]
    ['Hello.']
    """
    _check_page(limit, offset)
    session = Sessions(full_store(store)).open(session_id)
    if after is not None:
        if offset:
            raise UsageError("after and offset both say where to begin: give one of them")
        found = session.find_message(after)
        place = session.position_of(found.id)
        if place is None:
            raise UsageError(f"message {found.id} is not on the current path of session {session.key}")
        offset = place
    last = None if limit is None else offset + limit
    return list(session.messages(offset + 1, last))


def fork_session(
    store: SessionStore | None,
    session_id: str,
    *,
    title: str | None = None,
    from_message: int | str | None = None,
    new_session_id: str | None = None,
) -> str:
    """Copy a session up to and including a message (a position or an id; None: all of it), return the copy's id.

    Raises MessageNotFound (with the valid range), SessionNotFound, SessionExists, SessionDamaged.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import fork_session
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> fork_session(store, "a", from_message=1, title="A trial")
    'a-fork'
    """
    sessions = Sessions(full_store(store))
    return sessions.fork(session_id, from_message=from_message, title=title, new_key=new_session_id)


def rename_session(store: SessionStore | None, session_id: str, title: str) -> SessionInfo:
    """Give a session a title. Raises SessionNotFound, UsageError.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import rename_session
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> rename_session(store, "a", "Greeting").title
    'Greeting'
    """
    return SessionManager(store).rename(session_id, title)


def tag_session(store: SessionStore | None, session_id: str, tag: str | None) -> SessionInfo:
    """Add a tag, of one word; None takes all tags away. Raises SessionNotFound, UsageError.

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import tag_session
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> tag_session(store, "a", "billing").tags, tag_session(store, "a", None).tags
    (('billing',), ())
    """
    manager = SessionManager(store)
    return manager.untag(session_id) if tag is None else manager.tag(session_id, tag)


def delete_session(store: SessionStore | None, session_id: str) -> None:
    """Move a session to the trash, from which `SessionManager.restore` brings it back.

    Raises SessionNotFound, SessionHeld, StoreUnavailable (a store that can't delete).

    >>> from shipchat import Agent, InMemorySessionStore
    >>> from shipchat.sdk import delete_session, list_sessions
    >>> from shipchat.testing.scripted import ScriptedProvider
    >>> store = InMemorySessionStore()
    >>> _ = Agent(provider=ScriptedProvider(["Hello."]), session_store=store, session_id="a").run("Hi")
    >>> delete_session(store, "a")
    >>> list_sessions(store)
    []
    """
    SessionManager(store).delete(session_id)


def _check_page(limit: int | None, offset: int) -> None:
    if (limit is not None and limit < 0) or offset < 0:
        raise UsageError("limit and offset can't be negative")
