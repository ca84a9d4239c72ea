"""Whole turns on a disk that fails at any call: the reply stays in memory, NOT SAVED is said, the next save succeeds."""

import asyncio
import itertools
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shipchat.core.errors import ShipchatError
from shipchat.core.events import Notice, SessionEvent, TurnCompleted, TurnFailed
from shipchat.core.messages import TextPart
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.file import FileSessionStore
from shipchat.testing.scripted import ScriptedProvider
from tests.fire.shim import Fault, shim
from tests.sessions.conftest import ScriptedModels

REPLY = "precious " * 100


@dataclass
class TurnFigure:
    """How turns on a failing disk ended."""

    turns: int = 0
    refused: int = 0
    unsaved: int = 0
    completed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.turns} turns with a fault each: {self.refused} refused before the model was asked, {self.unsaved} "
            f"kept in memory and saved later, {self.completed} completed; 0 lost, 0 doubled"
        )


def chat_on(place: Path, provider: ScriptedProvider) -> ChatSession:
    return ChatSession(
        FileSessionStore(place),
        "k",
        models=ScriptedModels(provider),
        options=ChatOptions(default_model="scripted/one"),
    )


async def _turn(chat: ChatSession, prompt: str) -> list[SessionEvent]:
    return [event async for event in chat.send(prompt)]


def count_calls(place: Path) -> int:
    """Return how many calls one turn makes about."""
    with shim(place) as seen:
        asyncio.run(_turn(chat_on(place, ScriptedProvider([REPLY])), "go"))
    return len(seen.calls)


def prove_turns(base: Path, errnos: Sequence[int], figure: TurnFigure, *, lasting: Sequence[bool]) -> None:
    """Let a turn fail at each of its calls. Raises AssertionError."""
    template = base / "template"
    asyncio.run(_turn(chat_on(template, ScriptedProvider(["before"])), "first"))
    scratch = base / "scratch"
    shutil.copytree(template, scratch)
    code = itertools.cycle(errnos)
    for number in range(count_calls(scratch)):
        for stays in lasting:
            place = base / "place"
            shutil.copytree(template, place)
            asyncio.run(_one(place, Fault(number, next(code), lasting=stays), figure))
            shutil.rmtree(place)


async def _one(place: Path, fault: Fault, figure: TurnFigure) -> None:
    figure.turns += 1
    provider = ScriptedProvider([REPLY, "later"], repeat_last=True)
    chat = chat_on(place, provider)
    events: list[SessionEvent] = []
    refused: ShipchatError | None = None
    with shim(place, fault):
        try:
            async for event in chat.send("go"):
                events += [event]
        except ShipchatError as error:
            refused = error
    assert chat._store.holder("k") is None, str(fault)
    if refused is not None:
        figure.refused += 1
        assert provider.requests == [], f"{fault}: asked although the prompt was not stored"
        assert refused.exit_code in (5, 6), f"{fault}: {refused}"
    else:
        _check_told(chat, events, fault, figure)
        assert await chat.retry_save(), str(fault)
    await _turn(chat, "afterwards")
    await chat.close()
    record = FileSessionStore(place).load("k")
    assert record is not None
    texts = [
        part.text
        for entry in record.entries
        for part in getattr(getattr(entry, "message", None), "parts", ())
        if isinstance(part, TextPart)
    ]
    mine = ["go", REPLY] if refused is None else []
    # A prompt that was called not saved may be there all the same when taking it back failed too; never twice.
    if refused is not None and "go" in texts:
        texts.remove("go")
    said = "later" if refused is None else REPLY
    assert texts == ["first", "before", *mine, "afterwards", said], f"{fault}: {texts}"
    assert await asyncio.to_thread(FileSessionStore(place).read_turn_draft, "k") is None


def _check_told(chat: ChatSession, events: list[SessionEvent], fault: Fault, figure: TurnFigure) -> None:
    last = events[-1]
    if isinstance(last, TurnCompleted):
        figure.completed += 1
        assert chat.saved, str(fault)
        return
    assert isinstance(last, TurnFailed), f"{fault}: {last}"
    figure.unsaved += 1
    assert (last.saved, last.exit_code) == (False, 6), f"{fault}: {last}"
    assert last.reply is not None
    assert last.reply.text == REPLY
    assert [*chat.session.messages()][-1].text == REPLY, str(fault)
    notices = [event for event in events if isinstance(event, Notice) and event.about == "not_saved"]
    assert len(notices) == 1, str(fault)
    assert "NOT SAVED" in notices[0].message, str(fault)
