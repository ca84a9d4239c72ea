"""Races for a hold between processes that stay alive, and holders that are killed: `python -m tests.fire.holds ROOT`."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shipchat.core.errors import SessionHeld
from shipchat.core.protocols import Hold
from shipchat.stores.file import FileSessionStore
from tests.fire.worker import say

CHECKOUT = Path(__file__).parents[2]
DEADLINE = 30.0


def main(root: str) -> None:
    """For each line `take KEY` or `free`: say who won it, who had it, or that it is free."""
    store = FileSessionStore(root)
    held: Hold | None = None
    say("ready", os.getpid())
    for line in sys.stdin:
        match line.split():
            case ["take", key]:
                try:
                    held = store.hold(key, "racer")
                    say("won", os.getpid())
                except SessionHeld as error:
                    say("lost", error.holder.pid if error.holder else "?")
            case _:
                if held is not None:
                    held.release()
                held = None
                say("free")


class Racer:
    """One such process."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fire.holds", str(root)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def tell(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{words}\n".encode())
        self.process.stdin.flush()

    def heard(self) -> list[str]:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], DEADLINE)[0], "it says nothing"
        return self.process.stdout.readline().decode().split()


@contextmanager
def racers(root: Path, count: int) -> Iterator[list[Racer]]:
    """Start `count` racers; they are gone afterwards."""
    started = [Racer(root) for _ in range(count)]
    try:
        for racer in started:
            assert racer.heard()[0] == "ready"
        yield started
    finally:
        for racer in started:
            racer.process.kill()
            racer.process.communicate()


def race(place: Path, rounds: int) -> str:
    """Let 2 to 16 processes race for one hold, in two spellings of its key; return the figure."""
    refused = named = 0
    with racers(place, 16) as all_of_them:
        inodes = _lock_inodes(place)
        for number in range(rounds):
            group = all_of_them[: 2 + number * 7 % 15]
            for place_, racer in enumerate(group):
                racer.tell(f"take {'Race' if place_ % 2 else 'race'}")
            answers = [racer.heard() for racer in group]
            won = [who for word, who in answers if word == "won"]
            assert len(won) == 1, answers
            lost = [who for word, who in answers if word == "lost"]
            refused += len(lost)
            named += sum(who == won[0] for who in lost)
            inodes = inodes or _lock_inodes(place)
            for racer in group:
                racer.tell("free")
            assert {racer.heard()[0] for racer in group} == {"free"}
            assert _lock_inodes(place) == inodes, "a lock file was replaced"
    assert named >= refused * 0.99, (
        named,
        refused,
    )  # one that came before the text was written knows no name
    return f"{rounds} rounds of 2 to 16 processes: one winner each, {refused} refused, {named} of them told by whom"


def _lock_inodes(place: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in place.glob(".locks/race.hold")}


def killed_holders(place: Path, rounds: int) -> str:
    """Kill a holder and take its hold at once; return the figure."""
    worst = 0.0
    store = FileSessionStore(place)
    for _ in range(rounds):
        with racers(place, 1) as (racer,):
            racer.tell("take k")
            assert racer.heard()[0] == "won"
            began = time.monotonic()
            racer.process.send_signal(signal.SIGKILL)
            while True:
                try:
                    store.hold("k", "next").release()
                    break
                except SessionHeld:
                    assert time.monotonic() - began < DEADLINE
            worst = max(worst, time.monotonic() - began)
    assert worst < 0.1 * LEEWAY, worst
    return f"{rounds} holders killed: free within {worst * 1000:.0f} ms at worst, death included"


LEEWAY = 5
"""How much slower than on an idle machine a busy one may be."""

if __name__ == "__main__":
    main(*sys.argv[1:])
