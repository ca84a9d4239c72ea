"""Sessions as wholes from a program: the manager, the functions, and what they refuse."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from shipchat import (
    Agent,
    FileSessionStore,
    InMemorySessionStore,
    MessageNotFound,
    SessionExists,
    SessionHeld,
    SessionManager,
    SessionNotFound,
    SessionStore,
    StoreUnavailable,
    UsageError,
    model_from_env,
)
from shipchat.sdk import (
    AgentOptions,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    query,
    rename_session,
    tag_session,
)
from shipchat.testing.scripted import ScriptedProvider
from tests.sdk.test_chat import agent_of


@pytest.fixture
def agent(store: SessionStore) -> Agent:
    agent = agent_of("a1", "a2", "later", "later still", store=store, session_id="ticket-812")
    agent.run("First prompt")
    agent.run("Second")
    return agent


def test_a_session_is_told_whole(agent: Agent, store: SessionStore) -> None:
    info = get_session_info(store, "ticket-812")
    history = agent.chat_session().history()
    assert (info.session_id, info.title, info.summary) == ("ticket-812", "First prompt", "First prompt")
    assert (info.tags, info.archived, info.message_count, info.holder, info.damage) == (
        (),
        False,
        4,
        None,
        None,
    )
    assert info.updated_at == history[-1].at
    assert info.created_at <= history[0].at
    assert list_sessions(store) == [info] == SessionManager(store).list_sessions()
    with pytest.raises(SessionNotFound) as caught:
        get_session_info(store, "ticket-813")
    assert caught.value.details["nearest"] == ["ticket-812"]


def test_names_and_tags(agent: Agent, store: SessionStore) -> None:
    assert rename_session(store, "ticket-812", "Export").title == "Export"
    assert tag_session(store, "ticket-812", "billing").tags == ("billing",)
    assert tag_session(store, "ticket-812", "urgent").tags == ("billing", "urgent")
    assert [one.session_id for one in list_sessions(store, tag="urgent")] == ["ticket-812"]
    assert list_sessions(store, tag="nobody") == []
    assert tag_session(store, "ticket-812", None).tags == ()
    assert tag_session(store, "ticket-812", None).tags == ()
    manager = SessionManager(store)
    assert manager.tag("ticket-812", "a", "b").tags == ("a", "b")
    assert manager.untag("ticket-812", "a").tags == ("b",)
    for wrong in ("two words", "", "x" * 101):
        with pytest.raises(UsageError):
            tag_session(store, "ticket-812", wrong)
    with pytest.raises(SessionNotFound):
        rename_session(store, "nobody", "x")


def test_messages_come_in_pages(agent: Agent, store: SessionStore) -> None:
    def page(**where: Any) -> list[str]:
        return [message.text for message in get_session_messages(store, "ticket-812", **where)]

    everything = ["First prompt", "a1", "Second", "a2"]
    ids = [message.id for message in get_session_messages(store, "ticket-812")]
    assert page() == everything
    assert [page(limit=3), page(limit=3, offset=3), page(offset=4), page(limit=0)] == [
        everything[:3],
        ["a2"],
        [],
        [],
    ]
    assert [page(after=1, limit=2), page(after=ids[2]), page(after=4)] == [["a1", "Second"], ["a2"], []]
    for wrong in ({"limit": -1}, {"offset": -1}, {"after": 1, "offset": 1}):
        with pytest.raises(UsageError):
            page(**wrong)
    with pytest.raises(MessageNotFound):
        page(after=5)


@pytest.mark.parametrize("wrong", [0, -1, 5, True, 2.0, "nobody", "0"])
def test_a_fork_from_a_message_that_is_not_there_names_the_range_and_makes_nothing(
    agent: Agent, store: SessionStore, wrong: Any
) -> None:
    manager = SessionManager(store)
    with pytest.raises(MessageNotFound) as caught:
        manager.fork(agent, "ticket-812", from_message=wrong)
    assert caught.value.advice == ("Valid: positions 1 to 4 or a message id.",)
    with pytest.raises(MessageNotFound):
        fork_session(store, "ticket-812", from_message=wrong)
    assert len(manager.list_sessions()) == 1


def test_forks_by_position_by_id_and_whole(agent: Agent, store: SessionStore) -> None:
    ids = [message.id for message in get_session_messages(store, "ticket-812")]
    keys = [
        fork_session(store, "ticket-812", from_message=2, title="Short"),
        fork_session(store, "ticket-812", from_message=ids[2], new_session_id="mine"),
        fork_session(store, "ticket-812"),
    ]
    assert keys == ["ticket-812-fork", "mine", "ticket-812-fork2"]
    assert [[one.id for one in get_session_messages(store, key)] for key in keys] == [ids[:2], ids[:3], ids]
    info = get_session_info(store, "ticket-812-fork")
    assert (info.title, info.forked_from and info.forked_from.position) == ("Short", 2)
    with pytest.raises(SessionExists):
        fork_session(store, "ticket-812", new_session_id="mine")


def test_resume_needs_a_session_and_the_same_store(agent: Agent, store: SessionStore, tmp_path: Path) -> None:
    manager = SessionManager(store)
    assert manager.resume(agent, "ticket-812").send("More").output == "later"
    with pytest.raises(SessionNotFound):
        manager.resume(agent, "nobody")
    other = SessionManager(FileSessionStore(tmp_path / "other"))
    for act in (other.resume, other.fork):
        with pytest.raises(UsageError, match="different stores"):
            act(agent, "ticket-812")


def test_one_directory_is_one_store(tmp_path: Path) -> None:
    agent = agent_of("x", store=FileSessionStore(tmp_path / "s"), session_id="a")
    agent.run("Hi")
    assert len(SessionManager(FileSessionStore(tmp_path / "s")).resume(agent, "a").history()) == 2
    default = Agent(provider=ScriptedProvider(["y"]), session_id="b")
    default.run("Hi")
    assert len(SessionManager().resume(default, "b").history()) == 2


def test_deleted_sessions_come_back_where_the_store_can_delete(agent: Agent, store: SessionStore) -> None:
    manager = SessionManager(store)
    if not hasattr(store, "restore"):
        with pytest.raises(StoreUnavailable, match="OwnStore has no way to delete"):
            delete_session(store, "ticket-812")
        return
    delete_session(store, "ticket-812")
    assert manager.list_sessions(archived=None) == []
    assert manager.restore("ticket-812").message_count == 4
    manager.delete("ticket-812")
    agent_of("new", store=store, session_id="ticket-812").run("New")
    assert manager.restore().session_id == "ticket-812-restored"
    stream = agent_of([asyncio.Event()], store=store).chat_session("ticket-812").stream("Now")
    next(stream)
    with pytest.raises(SessionHeld):
        manager.delete("ticket-812")
    stream.close()


def test_sending_to_an_archived_session_brings_it_back(agent: Agent, store: SessionStore) -> None:
    manager = SessionManager(store)
    assert manager.archive("ticket-812").archived
    assert [manager.list_sessions(), len(manager.list_sessions(archived=True))] == [[], 1]
    agent.run("Hello again")
    assert not manager.get("ticket-812").archived


async def events_of(prompt: str, **options: Any) -> list[Any]:
    return [event async for event in query(prompt=prompt, options=AgentOptions(**options))]


async def test_an_unknown_session_is_not_begun_by_resume(store: SessionStore) -> None:
    with pytest.raises(SessionNotFound):
        await events_of("Hi", session_store=store, resume="nobody", provider=ScriptedProvider(["x"]))
    assert list_sessions(store) == []


@pytest.mark.parametrize(
    "options",
    [
        {"resume": "a", "continue_conversation": True},
        {"fork_session": True},
        {"resume": "a", "session_id": "b"},
        {"continue_conversation": True, "session_id": "b"},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        AgentOptions(**options)


async def test_a_fork_of_nothing_is_a_new_session_and_leaving_a_query_interrupts_it(
    store: SessionStore,
) -> None:
    provider = ScriptedProvider([["kept", asyncio.Event()]])
    options = AgentOptions(
        session_store=store,
        continue_conversation=True,
        fork_session=True,
        session_id="new",
        provider=provider,
    )
    stream = query(prompt="Hi", options=options)
    async for event in stream:
        if event.type == "text_delta":
            break
    await stream.aclose()
    [_, reply] = get_session_messages(store, "new")
    assert (reply.text, getattr(reply, "status", None)) == ("kept", "interrupted")


def test_the_model_comes_from_the_environment_and_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_from_env() == "local/smollm2"
    monkeypatch.setenv("SHIPCHAT_DEFAULT_MODEL", "openai/any")
    assert model_from_env() == "openai/any"


def test_the_settings_of_the_program_hold_for_agents_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_directory: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"echo": true}], "repeat_last": true}')
    monkeypatch.setenv("SHIPCHAT_EXTRA_PROVIDERS", "scripted=shipchat.testing.scripted:from_environment")
    monkeypatch.setenv("SHIPCHAT_TEST_SCRIPT", str(script))
    monkeypatch.setenv("SHIPCHAT_DEFAULT_MODEL", "scripted/one")
    monkeypatch.setenv("SHIPCHAT_SYSTEM", "Be kind.")
    result = Agent(session_store=InMemorySessionStore()).run("Hi")
    assert (result.output, result.message.model) == ("system: Be kind.\nuser: Hi", "scripted/one")
