"""Programs that are killed: `python -m tests.fire.worker ROOT LOG` forks one for each line it reads, `WHAT KEY NAME`.

Each acknowledgement is one line on standard output, written in one call. Forked from a process that has imported
everything, they begin within a millisecond; they end by being killed, or at the end of standard input.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from shipchat.core.errors import SessionHeld, ShipchatError
from shipchat.core.events import MessageSaved, ReplyStarted, SessionEvent, TextDelta
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file import FileSessionStore
from shipchat.testing.scripted import Pause, Reply, ScriptedProvider
from tests.sessions.conftest import ScriptedModels

REPLY = Reply(tuple(step for n in range(12) for step in (f"word{n} " * 30, Pause(0.002))))


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Talker:
    """Sends, streams, queues, rewinds, forks, deletes and restores, as chance has it."""

    def __init__(self, store: FileSessionStore, key: str, name: str, log: Path) -> None:
        provider = ScriptedProvider([REPLY], repeat_last=True, log=log)
        options = ChatOptions(default_model="scripted/one", program=name)
        self.chat = ChatSession(store, key, models=ScriptedModels(provider), options=options)
        self.manager = SessionManager(store)
        self.key = key
        self.name = name
        self.chance = random.Random(name)
        self.numbers = iter(range(10**9))

    async def run(self) -> None:
        say("began", self.name, os.getpid())
        while True:
            try:
                await self.chance.choice((self.talk, self.talk, self.talk, self.fork, self.trash))()
            except SessionHeld:
                say("held", self.name)

    async def talk(self) -> None:
        interrupts = self.chance.random() < 0.2
        await self.follow(self.chat.send(f"{self.name}-{next(self.numbers)}"), interrupts=interrupts)
        while self.chat.queue:
            await self.follow(self.chat.send_queued(), interrupts=False)

    async def follow(self, events: AsyncGenerator[SessionEvent], *, interrupts: bool) -> None:
        async for event in events:
            match event:
                case MessageSaved(saved=message):
                    say("message", self.key, message.id)
                case ReplyStarted() if self.chance.random() < 0.5 and len(self.chat.queue) < 3:
                    queued = await self.chat.enqueue(f"queued-{self.name}-{next(self.numbers)}")
                    say("queued", self.key, queued.id)
                case TextDelta() if interrupts and self.chance.random() < 0.2:
                    self.chat.interrupt()
                case _:
                    pass

    async def fork(self) -> None:
        if not self.chat.session.path:
            return
        made = await asyncio.to_thread(self.manager.fork, self.key)
        say("forked", made, len(self.manager.open(made).path))

    async def trash(self) -> None:
        own = f"own-{self.name}-{next(self.numbers)}"
        self.manager.create(own, title=own)
        say("made", own)
        gone = self.manager.delete(own)
        say("deleted", own)
        if self.chance.random() < 0.5:
            self.manager.restore(gone.trash_id)
            say("restored", own)


def metadata(store: FileSessionStore, key: str, name: str, _: Path) -> None:
    """Rename, tag and archive for ever, whoever holds the session."""
    say("began", name, os.getpid())
    manager = SessionManager(store)
    for number in range(10**9):
        text = f"{name}-{number}"
        try:
            match number % 4:
                case 0:
                    manager.rename(key, text)
                    say("titled", key, text)
                case 1:
                    manager.archive(key)
                case _:
                    manager.tag(key, add=[text])
                    say("tagged", key, text)
        except ShipchatError as error:
            say("error", name, error.code)
        time.sleep(0.004)  # a fast user, but no flood


def talk(store: FileSessionStore, key: str, name: str, log: Path) -> None:
    asyncio.run(Talker(store, key, name, log).run())


def main(root: str, log: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    deeds = {"talk": talk, "metadata": metadata}
    for line in sys.stdin:
        what, key, name = line.split()
        if os.fork() == 0:
            try:
                deeds[what](FileSessionStore(root), key, name, Path(log))
            finally:
                say("BUG", name, repr(sys.exc_info()[1]))
                os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
