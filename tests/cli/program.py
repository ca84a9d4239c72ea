"""The installed program in a process of its own, with a home, a data directory and a scripted model of its own."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

DEADLINE = 30.0
"""Seconds that anything may take on a busy machine."""


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error that --json printed on standard error."""
        return json.loads(self.err.splitlines()[-1])["error"]

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@dataclass
class Program:
    """Runs `python -m shipchat`; `place` is a temporary directory."""

    place: Path
    env: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = (sys.executable, "-m", "shipchat")

    def __post_init__(self) -> None:
        (self.place / "cwd").mkdir()
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.env = {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUTF8": "1",
            "HOME": str(self.place / "home"),
            "SHIPCHAT_DATA_DIR": str(self.place / "data"),
            "SHIPCHAT_CONFIG_DIR": str(self.place / "config"),
            "SHIPCHAT_EXTRA_PROVIDERS": "scripted=shipchat.testing.scripted:from_environment",
            "SHIPCHAT_TEST_SCRIPT": str(self.place / "script.json"),
            "SHIPCHAT_DEFAULT_MODEL": "scripted/echo",
            "SHIPCHAT_SYSTEM": "S",
            "SHIPCHAT_DISCOVER": "no",
        } | self.env
        self.script([{"echo": True}])

    @property
    def data(self) -> Path:
        return self.place / "data"

    @property
    def cwd(self) -> Path:
        return self.place / "cwd"

    def file(self, key: str) -> Path:
        """The file of a session."""
        return self.data / "sessions" / f"{key}.json"

    def script(self, replies: Sequence[Mapping[str, Any]], **more: Any) -> None:
        """Let the model say this from now on, the last reply again and again."""
        value = {"replies": replies, "repeat_last": True} | more
        (self.place / "script.json").write_text(json.dumps(value), encoding="utf-8")

    def start(
        self, *arguments: str | bytes, env: Mapping[str, str | None] | None = None, **more: Any
    ) -> "subprocess.Popen[bytes]":
        """Start the program; a variable of None is taken out of its environment."""
        changed = {**self.env, **(env or {})}
        options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "cwd": self.cwd} | more
        return subprocess.Popen(
            [*self.command, *arguments],
            env={name: value for name, value in changed.items() if value is not None},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def run(
        self,
        *arguments: str | bytes,
        stdin: str | bytes | None = None,
        env: Mapping[str, str | None] | None = None,
        **more: Any,
    ) -> Result:
        """Run the program to its end; `stdin` is piped in, without one it is /dev/null."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        if data is not None:
            more["stdin"] = subprocess.PIPE
        with self.start(*arguments, env=env, **more) as process:
            out, err = process.communicate(data, timeout=DEADLINE)
        return Result(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def good(self, *arguments: str | bytes, **more: Any) -> Result:
        """Run the program, which must succeed."""
        result = self.run(*arguments, **more)
        assert result.code == 0, result
        return result

    def texts(self, key: str) -> list[str]:
        """The texts of a session's messages."""
        return [message["text"] for message in self.good("show", key, "--json").json["messages"]]

    def keys(self) -> list[str]:
        """The keys that `list --all` prints."""
        return [row["key"] for row in self.good("list", "--all", "--json").json]


def read_until(process: "subprocess.Popen[bytes]", wanted: bytes) -> bytes:
    """Return what the process printed up to and including `wanted`, which must come in time."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    seen = b""
    ends = time.monotonic() + DEADLINE
    while wanted not in seen:
        ready, _, _ = select.select([descriptor], [], [], max(ends - time.monotonic(), 0))
        assert ready, f"{wanted!r} did not come; {seen!r} did"
        chunk = os.read(descriptor, 65536)
        assert chunk, f"{wanted!r} did not come before the end; {seen!r} did"
        seen += chunk
    return seen


def end(process: "subprocess.Popen[bytes]", number: int = signal.SIGKILL) -> Result:
    """Send a signal and wait for the end."""
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)
    return Result(process.returncode, out.decode(), err.decode())
