"""The same faults from outside, on the real system calls of a real process: `python -m tests.fire.traced ROOT NAME`.

As `faults`, but with `strace -e inject`; slower (a process each), and free of any doubt about the shim.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from shipchat.core.errors import ShipchatError
from shipchat.stores.file import FileSessionStore
from tests.fire.operations import OPERATIONS, Operation, Places, leftovers, next_start, state

CHECKOUT = Path(__file__).parents[2]
# Those that change something. Starting Python makes none of them, so the n-th is the n-th of the operation.
CALLS = (
    "pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat"
)
DEADLINE = 60.0


def works() -> bool:
    """Return whether processes can be traced here."""
    if shutil.which("strace") is None:
        return False
    tried = subprocess.run(
        ["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def _run(place: Path, operation: Operation, inject: str | None) -> "subprocess.CompletedProcess[str]":
    traced = ["strace", "-f", "-qq", "-o", f"{place}.trace", "-e", f"trace={CALLS}"]
    if inject is not None:
        traced += ["-e", f"inject={inject}"]
    return subprocess.run(
        [*traced, sys.executable, "-B", "-m", "tests.fire.traced", str(place), operation.name],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


def prove_traced(base: Path, names: Sequence[str], faults: Sequence[str]) -> str:
    """Let each call of these operations suffer each fault (`signal=SIGKILL`, `error=EIO`); return the figure."""
    tried = 0
    for operation in OPERATIONS:
        if operation.name not in names:
            continue
        with Places(base / "traced", operation) as places:
            place = places.fresh()
            states = [state(places.fresh())]
            for act in operation.between:
                between = places.fresh()
                act(FileSessionStore(between))
                states.append(state(between))
            done = _run(place, operation, None)
            assert (done.returncode, done.stdout) == (0, "done\n"), done
            states.append(state(place))
            trace = Path(f"{place}.trace").read_text(encoding="utf-8")
            counts = Counter(re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE))
            for one in states:
                del one["kept"]
            for call, count in counts.items():
                for number in range(1, count + 1):
                    for fault in faults:
                        _one(places.fresh(), operation, f"{call}:{fault}:when={number}", states)
                        tried += 1
    return f"{tried} faults at the system calls of {len(names)} operations: each left old or new"


def _one(place: Path, operation: Operation, inject: str, states: Sequence[dict[str, object]]) -> None:
    where = f"{operation.name}: {inject}"
    ended = _run(place, operation, inject)
    next_start(place)
    after = state(place)
    del after["kept"]
    assert after in states, f"{where}: neither old nor new: {after}"
    if ended.stdout == "done\n":
        assert after == states[-1] or operation.lenient, where
    elif "SIGKILL" not in inject:
        assert "NOT SAVED" in ended.stdout, f"{where}: {ended}"
    assert leftovers(place) == [], where
    shutil.rmtree(place)


def main(root: str, name: str) -> None:
    """Do one operation and say how it went."""
    (operation,) = (one for one in OPERATIONS if one.name == name)
    try:
        operation.act(FileSessionStore(root))
    except ShipchatError as error:
        print(error)
    else:
        print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
