"""The queue on disk: acknowledged only once it is there, and never at the cost of a reply that was cut off."""

import asyncio
from pathlib import Path

import pytest

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.core.errors import StoreUnavailable
from shipchat.core.events import TextDelta
from shipchat.core.messages import TextPart
from shipchat.sessions.chat_session import ChatSession
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import START
from shipchat.testing.scripted import Reply, ScriptedProvider
from tests.fire.shim import Fault, shim
from tests.fire.turns import chat_on

HALF = ReplyDraft("half", None, "m", START, (TextPart("half a reply"),))


def prompt(name: str) -> QueuedPrompt:
    return QueuedPrompt(name, START, name)


async def test_a_prompt_is_queued_only_once_it_is_on_disk(tmp_path: Path) -> None:
    gate = asyncio.Event()
    chat = chat_on(tmp_path, ScriptedProvider([Reply((TextDelta("a"), gate)), "b"], repeat_last=True))
    begun = asyncio.Event()

    async def follow() -> None:
        async for event in chat.send("go"):
            if isinstance(event, TextDelta):
                begun.set()

    task = asyncio.create_task(follow())
    await begun.wait()
    with shim(tmp_path, Fault(0, 28, lasting=True)), pytest.raises(StoreUnavailable, match="NOT SAVED"):
        await chat.enqueue("lost?")
    assert not chat.queue
    kept = await chat.enqueue("kept")
    draft = FileSessionStore(tmp_path).read_turn_draft("k")
    assert draft is not None
    assert draft.queue == (kept,)
    assert chat.queue == draft.queue
    gate.set()
    await task
    await chat.close()


async def test_changing_the_queue_of_an_idle_session_keeps_a_reply_that_was_cut_off(tmp_path: Path) -> None:
    store = FileSessionStore(tmp_path)
    first = chat_on(tmp_path, ScriptedProvider(["whole"], repeat_last=True))
    async for _ in first.send("go"):
        pass
    left = TurnDraft(HALF, (prompt("one"), prompt("two")))
    store.write_turn_draft("k", left, durable=True)  # as a program that was killed leaves it
    chat = chat_on(tmp_path, ScriptedProvider(["later"], repeat_last=True))
    mine = await chat.enqueue("mine")
    draft = store.read_turn_draft("k")
    assert draft == TurnDraft(HALF, (*left.queue, mine))
    await chat.set_queue(left.queue)
    await chat.set_queue(left.queue[1:])
    assert store.read_turn_draft("k") == TurnDraft(HALF, left.queue[1:])
    async for _ in chat.send("next"):
        pass
    assert [message.text for message in chat.session.messages()][-3:] == ["half a reply", "next", "later"]
    assert chat.queue == left.queue[1:]


async def test_a_reply_that_is_kept_nowhere_is_told_while_it_comes(tmp_path: Path) -> None:
    """Case 14: the draft of a reply can't be written; the disk works again before the reply ends."""
    gates = [asyncio.Event(), asyncio.Event()]
    chat = chat_on(tmp_path, ScriptedProvider([Reply(("a ", gates[0], "b ", gates[1], "c"))]))
    told: list[str] = []
    stream = chat.send("go")
    async for event in stream:
        if event.type == "turn_started":
            break
    with shim(tmp_path, Fault(0, 28, lasting=True)):
        async for event in stream:
            told.append(event.type)
            if event.type == "text_delta" and told.count("text_delta") == 1:
                await keeper_fails(chat)
                gates[0].set()
            if told.count("text_delta") == 2:
                break
    gates[1].set()
    told += [event.type async for event in stream]
    assert told.count("notice") == 1
    assert told.index("notice") < len(told) - 1 - told[::-1].index("text_delta")
    assert told[-1] == "turn_completed"
    assert chat.saved
    await chat.close()


async def keeper_fails(chat: ChatSession) -> None:
    """Return once the draft could not be written."""
    assert chat._keeper is not None
    while chat._keeper.failure is None:
        await chat._keeper.write(durable=False)
