"""`make torture`: the long form of what the tests prove in small. Each proof prints its figure; any failure ends it."""

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.torture import kills, races

PROOFS: dict[str, Callable[[Path], str]] = {
    "races": races.many_senders,
    "kills": kills.random_kills,
}


def main(names: list[str]) -> None:
    """Run the proofs with these names (none: all of them)."""
    for tool in ("strace", "tmux"):
        if shutil.which(tool) is None:
            print(f"note: {tool} is not on this machine; proofs that need it are not run")
    for name in names or PROOFS:
        with tempfile.TemporaryDirectory(prefix=f"shipchat-{name}-") as place:
            print(f"{name}: {PROOFS[name](Path(place))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
