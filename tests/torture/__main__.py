"""`make torture`: the long form of what the tests prove in small. Each proof prints its figure; any failure ends it.

`python -m tests.torture [NAMES]` runs those named, all without names; about half an hour on two cores.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.torture import compaction, damage, disk, kills, races

PROOFS: dict[str, Callable[[Path], str]] = {
    "faults": disk.faults,
    "turns": disk.turns,
    "strace": disk.strace,
    "power": disk.power,
    "mutations": damage.mutations,
    "holds": races.holds,
    "killed-holders": races.killed_holders,
    "senders": races.many_senders,
    "forks": races.forks,
    "listings": races.listings,
    "kills": kills.real_use,
    "killed-commands": kills.random_kills,
    "compaction": compaction.sixty_turns,
}


def main(names: list[str]) -> None:
    """Run the proofs with these names (none: all of them)."""
    unknown = [name for name in names if name not in PROOFS]
    if unknown:
        sys.exit(f"there is no proof called {unknown[0]}; there are: {', '.join(PROOFS)}")
    for tool in ("strace", "tmux"):
        if shutil.which(tool) is None:
            print(f"note: {tool} is not on this machine; proofs that need it are not run")
    for name in names or PROOFS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"shipchat-{name}-") as place:
            print(f"{name}: {PROOFS[name](Path(place))} ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
