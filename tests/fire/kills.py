"""Programs in real use are killed at random moments: nothing acknowledged is lost, doubled, unreadable or sent twice."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from shipchat.core.entries import MessageEntry
from shipchat.core.session import session_from
from shipchat.stores.file import FileSessionStore
from tests.fire.operations import leftovers, next_start

CHECKOUT = Path(__file__).parents[2]
DEADLINE = 30.0
ROUNDS_A_KEY = 40
"""Kills after which another session is talked in, so that no file grows for ever."""


@dataclass
class Crowd:
    """The process that forks the others, and what they acknowledged, by word."""

    process: "subprocess.Popen[bytes]"
    said: defaultdict[str, list[list[str]]] = field(default_factory=lambda: defaultdict(list))
    pids: dict[str, int] = field(default_factory=dict)
    _rest: bytes = b""

    def start(self, what: str, key: str, name: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what} {key} {name}\n".encode())
        self.process.stdin.flush()
        deadline = time.monotonic() + DEADLINE
        while name not in self.pids:
            assert time.monotonic() < deadline, f"{name} did not begin"
            self.listen(0.01)

    def listen(self, seconds: float) -> None:
        """Take in what is said within this time."""
        assert self.process.stdout is not None
        ends = time.monotonic() + seconds
        while select.select([self.process.stdout], [], [], max(0.0, ends - time.monotonic()))[0]:
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            assert chunk, "the process that forks the others ended"
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                word, *more = line.decode().split(" ")
                assert word != "BUG", line
                self.said[word].append(more)
                if word == "began":
                    self.pids[more[0]] = int(more[1])

    def kill(self, name: str) -> None:
        pid = self.pids.pop(name)
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                self.listen(0)
                return
            self.listen(0.001)
        raise AssertionError(f"{name} does not die")


@contextmanager
def crowd(root: Path, log: Path) -> Iterator[Crowd]:
    """Start the process that forks; all of them are gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fire.worker", str(root), str(log)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    made = Crowd(process)
    try:
        yield made
    finally:
        for pid in made.pids.values():
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.communicate()


def random_kills(place: Path, kills: int, seed: int = 812) -> str:
    """Kill talkers and, now and then, those who change metadata beside them; return the figure."""
    root, log = place / "sessions", place / "requests.jsonl"
    store = FileSessionStore(root)
    chance = random.Random(seed)
    with crowd(root, log) as people:
        for number in range(kills):
            key = f"k{number // ROUNDS_A_KEY}"
            if number % ROUNDS_A_KEY == 0:
                for name in [name for name in people.pids if name.startswith("meta")]:
                    people.kill(name)
                _look_over(store, people)
            people.start("talk", key, f"talker{number}")
            for side in range(2):
                if not any(name.startswith(f"meta{side}-") for name in people.pids):
                    people.start("metadata", key, f"meta{side}-{number}")
            people.listen(chance.uniform(0.0, 0.3))
            people.kill(f"talker{number}")
            if chance.random() < 0.2:
                people.kill(next(name for name in people.pids if name.startswith("meta")))
            record = store.load(key) if Path(store.path(key)).exists() else None
            if record is not None:
                assert [name for name, count in Counter(_ids(record)).items() if count > 1] == []
    _look_over(store, people)
    _never_twice(log)
    next_start(root)
    assert leftovers(root) == []
    said = {word: len(lines) for word, lines in people.said.items()}
    assert (
        min(said.get(word, 0) for word in ("message", "queued", "tagged", "titled", "forked", "deleted")) > 0
    )
    return (
        f"{kills} kills: {said['message']} messages, {said['queued']} queued prompts, {said['tagged']} tags, "
        f"{said['titled']} titles, {said['forked']} forks, {said['deleted']} deletions acknowledged; 0 lost, 0 doubled, "
        "0 unreadable, 0 queued prompts sent twice"
    )


def _ids(record: object) -> list[str]:
    return [entry.id for entry in getattr(record, "entries", ())]


def _look_over(store: FileSessionStore, people: Crowd) -> None:
    """Check all that was acknowledged against all that is on disk."""
    said = people.said
    rows = {row.key: row for row in store.summaries()}
    assert [row.damage for row in rows.values() if row.damage is not None] == []
    by_key: dict[str, set[str]] = defaultdict(set)
    for key, message in [*said["message"], *said["queued"]]:
        by_key[key].add(message)
    for key, wanted in by_key.items():
        record = store.load(key)
        assert record is not None, key
        there = {entry.id for entry in record.entries if isinstance(entry, MessageEntry)}
        draft = store.read_turn_draft(key)
        waiting = {prompt.id for prompt in draft.queue} if draft else set()
        assert wanted - there - waiting == set(), key
        session = session_from(record)
        assert {tag for of, tag in said["tagged"] if of == key} - set(session.tags) == set()
        titles = {session.title, *session.old_titles}
        assert {title for of, title in said["titled"] if of == key} - titles == set()
    for key, length in said["forked"]:
        assert rows[key].messages == int(length), key
    trashed = {row.key for row in store.trashed()}
    for (key,) in said["made"]:
        assert key in rows or key in trashed, key
    for (key,) in said["restored"]:
        assert key in rows, key


def _never_twice(log: Path) -> None:
    """No queued prompt was what the model was asked for twice, ended or not."""
    asked: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        last = json.loads(line)["sent"].rpartition("user: ")[2]
        asked[last.strip()] += 1
    assert {text: count for text, count in asked.items() if count > 1} == {}
