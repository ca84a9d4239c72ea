"""Many programs send to one session at the same instant: exactly one wins, the others are told who."""

import re
from pathlib import Path

from tests.cli.program import Program
from tests.fire import beside
from tests.fire import holds as racing

ROUNDS = 20
SENDERS = 16


def many_senders(place: Path) -> str:
    """Run 20 rounds of 16 senders; return the figure. Raises AssertionError."""
    program = Program(place)
    program.script([{"chunks": ["ok"], "first_delay": 8}])
    for number in range(ROUNDS):
        racers = [program.start("send", "-s", f"round{number}", f"prompt {n}") for n in range(SENDERS)]
        ended = [(racer, *racer.communicate(timeout=120)) for racer in racers]
        won = [racer for racer, _, _ in ended if racer.returncode == 0]
        assert len(won) == 1, [(racer.returncode, err) for racer, _, err in ended]
        for racer, out, err in ended:
            if racer is not won[0]:
                assert racer.returncode == 4, err
                assert out == b"", out
                assert re.search(rb"held by pid %d " % won[0].pid, err), err
        assert len(program.texts(f"round{number}")) == 2
    return f"{ROUNDS} rounds of {SENDERS} senders: one winner each, {ROUNDS * (SENDERS - 1)} refused by name"


def holds(place: Path) -> str:
    """Let 2 to 16 processes race for a hold, 200 rounds."""
    return racing.race(place / "sessions", 200)


def killed_holders(place: Path) -> str:
    """Kill 50 holders and take the hold at once."""
    return racing.killed_holders(place / "sessions", 50)


def forks(place: Path) -> str:
    """Fork 500 times while the holder saves at full speed."""
    return beside.forks(place / "sessions", 500)


def listings(place: Path) -> str:
    """Take a hold 2,000 times while others list without a pause."""
    return beside.listings(place / "sessions", 2000)
