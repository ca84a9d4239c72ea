"""One llama.cpp process for one model: starting it, reaching it, telling how it died, stopping it.

A process of its own, so that a crash in native code ends a reply and not the program, and so that its threads never
wait for ours. What is asked of it is `local_chat`'s affair; when to start which one is `local`'s.
"""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

import httpx2
import msgspec

from shipchat.core.errors import ModelMissing, ProviderUnavailable

START_SECONDS: Final = 120.0
"""How long loading may take: SmolLM2 needs under a second, a model of many gigabytes on a slow disk a minute."""

STOP_SECONDS: Final = 3.0
"""How long an orderly end may take (0.1 s is usual) before the process is killed."""

SILENCE_SECONDS: Final = 60.0
"""Longest silence of a living server: it sends a comment every 5 s, also while it reads a long prompt."""

DEATH_SECONDS: Final = 0.2
"""How long to wait for a process to be gone when its connection has broken: that shows a moment earlier."""

BATCH: Final = 64
"""Tokens of a prompt read in one go. llama.cpp notices that a caller has left only between batches: at its default
of 2,048 a cancelled request kept the server busy for 27 s, at 64 for under 1 s; reading is as fast (measured)."""

PREFIX_CACHE_MIB: Final = 256
"""Memory for the prompt prefixes of other conversations. llama.cpp's default is 8 GiB."""

_SOCKET_PATH_BYTES: Final = 100  # the kernel's limit is 104 with the closing NUL on macOS, 108 on Linux
_SOCKET_NAME: Final = "s.sock"  # llama.cpp takes a host for a unix socket by this ending
_LAST_WORDS: Final = 300  # characters of the worker's last line that an error repeats
_WORKER: Final = Path(__file__).with_name("local_worker.py")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What to serve: a model file, its context in tokens, threads, and where sockets may be made.

    `over_tcp` listens on the loopback interface with a random key, where there are no unix sockets.
    """

    model: Path
    context: int
    runtime_directory: Path | None = None
    threads: int = max(1, (os.cpu_count() or 2) - 1)
    over_tcp: bool = sys.platform == "win32"


class _Ready(msgspec.Struct):
    ready: str | None = None
    error: str | None = None


def check_runtime() -> None:
    """Raise ModelMissing, with the command that helps, when what runs local models is not installed."""
    if find_spec("xllamacpp") is None:
        raise ModelMissing(
            "the local model needs the extra: pip install 'shipchat[local]'",
            advice=("In a checkout: pip install '.[local]', in the environment that shipchat runs in.",),
        )


class LocalServer:
    """A running llama.cpp. Made by `start`, reached through `client`, ended by `stop` or with this process."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.window = settings.context
        self._process: subprocess.Popen[str] | None = None
        self._client: httpx2.AsyncClient | None = None
        self._directory: Path | None = None
        self._errors: deque[str] = deque(maxlen=20)
        self._reader: threading.Thread | None = None
        self._stopping = False

    @property
    def client(self) -> httpx2.AsyncClient:
        """What reaches it; only after `start`."""
        if self._client is None:
            raise RuntimeError("the server has not been started")
        return self._client

    @property
    def pid(self) -> int | None:
        """The process id, None before it was started."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and lives."""
        return self._client is not None and self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start the process and wait until it answers.

        Raises ModelMissing when llama.cpp is not installed, ProviderUnavailable when it does not start.
        """
        api_key = secrets.token_urlsafe(32) if self.settings.over_tcp else None
        launch = asyncio.ensure_future(asyncio.to_thread(self._launch, api_key))
        try:
            self._client = _client(await asyncio.shield(launch), api_key)
            self.window = await self._real_window(self._client)
        except BaseException:
            self._stopping = True
            if self._process is not None:
                self._process.kill()  # which ends the thread that waits for its answer
            await asyncio.wait({launch})
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the process and remove its socket; twice is once."""
        self._stopping = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        await asyncio.to_thread(self._end)

    async def death(self) -> str | None:
        """Return how the process ended, with its last words; None while it lives (waits at most DEATH_SECONDS)."""
        process = self._process
        if process is None or self._stopping:
            return "it was stopped"

        def wait() -> str | None:
            try:
                code = process.wait(timeout=DEATH_SECONDS)
            except subprocess.TimeoutExpired:
                return None
            if self._reader is not None:
                self._reader.join(timeout=0.5)
            how = f"killed by signal {-code}" if code < 0 else f"ended with code {code}"
            words = self._last_words()
            return f"{how}: {words}" if words else how

        return await asyncio.to_thread(wait)

    def _launch(self, api_key: str | None) -> str:
        check_runtime()
        settings = self.settings
        socket = None if settings.over_tcp else self._socket_path()
        order = {
            "model": str(settings.model),
            "context": settings.context,
            "batch": BATCH,
            "cache": PREFIX_CACHE_MIB,
            "threads": settings.threads,
            "socket": None if socket is None else str(socket),
            "api_key": api_key,
        }
        # -P: nothing is imported from the working directory. A session of its own: Ctrl-C is not for it.
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter and file
            [sys.executable, "-P", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._process = process
        if self._stopping:  # stopped before there was anything to stop
            process.kill()
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise RuntimeError("pipes were asked for")
        self._reader = threading.Thread(
            target=self._listen, args=(stderr,), name="local-model-errors", daemon=True
        )
        self._reader.start()
        with contextlib.suppress(OSError):  # it died already; the answer below says so
            stdin.write(json.dumps(order) + "\n")
            stdin.flush()
        return self._answer(process, stdout)

    def _answer(self, process: "subprocess.Popen[str]", stdout: IO[str]) -> str:
        with _deadline(process):
            line = stdout.readline()
        try:
            answer = msgspec.json.decode(line, type=_Ready)
        except msgspec.DecodeError:
            answer = _Ready()
        if answer.ready is not None:
            return answer.ready
        if answer.error is None:
            process.kill()
            process.wait()
            if self._reader is not None:
                self._reader.join(timeout=0.5)
        reason = answer.error or self._last_words() or f"no answer (code {process.returncode})"
        raise ProviderUnavailable(
            f"the local model did not start: {reason[:_LAST_WORDS]} ({self.settings.model})",
            advice=(
                "If the file is damaged, fetch it again: shipchat models remove, then shipchat models pull.",
            ),
        )

    def _socket_path(self) -> Path:
        candidates = [
            self.settings.runtime_directory,
            os.environ.get("XDG_RUNTIME_DIR"),
            tempfile.gettempdir(),
            "/tmp",  # noqa: S108 -- only to make a private directory in it
        ]
        for candidate in candidates:
            if (
                not candidate
                or len(os.fsencode(candidate)) + len("/shipchat-12345678/" + _SOCKET_NAME)
                > _SOCKET_PATH_BYTES
            ):
                continue
            with contextlib.suppress(OSError):
                self._directory = Path(tempfile.mkdtemp(prefix="shipchat-", dir=candidate))
                return self._directory / _SOCKET_NAME
        raise ProviderUnavailable(
            "the local model did not start: no directory for its socket",
            advice=("Set TMPDIR to a directory with a short path that you can write to.",),
        )

    def _listen(self, stderr: IO[str]) -> None:
        with contextlib.suppress(ValueError):  # closed under us by `_end`
            for line in stderr:
                if line.strip():
                    self._errors.append(line.strip())

    def _last_words(self) -> str:
        return self._errors[-1][:_LAST_WORDS] if self._errors else ""

    async def _real_window(self, client: httpx2.AsyncClient) -> int:
        """Return the context that the server really has: it never has more than the model was trained for."""
        try:
            answer = await client.get("/props")
            return int(msgspec.json.decode(answer.content)["default_generation_settings"]["n_ctx"])
        except (httpx2.HTTPError, msgspec.DecodeError, KeyError, TypeError, ValueError):
            return self.settings.context

    def _end(self) -> None:
        process = self._process
        if process is not None:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if self._reader is not None:
                self._reader.join(timeout=STOP_SECONDS)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)


@contextlib.contextmanager
def _deadline(process: "subprocess.Popen[str]") -> Iterator[None]:
    """Kill `process` when the block takes longer than START_SECONDS, which ends a read from it."""
    timer = threading.Timer(START_SECONDS, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _client(address: str, api_key: str | None) -> httpx2.AsyncClient:
    # No kept connections: the server closes idle ones at will, and a new one to this machine costs nothing. No
    # environment: a proxy has no business between us and our own process. The bare SSL context trusts nobody and
    # is never used; the default one takes 20 ms to fill.
    transport = httpx2.AsyncHTTPTransport(
        uds=address.removeprefix("unix://") if address.startswith("unix://") else None,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        trust_env=False,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
    )
    return httpx2.AsyncClient(
        transport=transport,
        base_url="http://local" if api_key is None else address,
        headers={"accept-encoding": "identity"} | ({"authorization": f"Bearer {api_key}"} if api_key else {}),
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=5.0),
        trust_env=False,
    )
