"""Odd environments, thirty and more: the right exit code, no traceback, nothing made where one stands."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import DEADLINE, Program

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a thing of Linux")
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 42_424
"""A user id that no user database knows."""

# Another user, who may still read everything: the interpreter may be in a directory of root's.
READ = ("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search")
SETPRIV = ("setpriv", "--reuid", str(NOBODY), "--clear-groups", *READ)

SEND = ("send", "-s", "k", "hi \U0001f600")
DEFAULTS: dict[str, str | None] = {"SHIPCHAT_DATA_DIR": None, "XDG_DATA_HOME": None}


@dataclass(frozen=True)
class Odd:
    """One environment: what is set, done before, given to Popen, run; and the codes that are right."""

    env: Mapping[str, str | None] = field(default_factory=dict)
    arguments: tuple[str, ...] = SEND
    codes: tuple[int, ...] = (0,)
    prepare: Callable[[Path], object] = repr
    popen: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    as_nobody: bool = False
    said: str = ""


def closed(*descriptors: int) -> Mapping[str, Any]:
    def close() -> None:
        for descriptor in descriptors:
            with suppress(OSError):
                os.close(descriptor)

    return {"preexec_fn": close}


def deep(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to(place / "real")


def a_file(place: Path) -> None:
    (place / "file").write_text("")


def config(data: bytes) -> Callable[[Path], object]:
    def prepare(place: Path) -> None:
        (place / "config").mkdir()
        (place / "config" / "config.toml").write_bytes(data)

    return prepare


def foreign(place: Path) -> None:
    (place / "theirs").mkdir()
    os.chown(place / "theirs", NOBODY + 1, -1)


def no_writing(place: Path) -> None:
    (place / "locked").mkdir(mode=0o500)


ODD: dict[str, Odd] = {
    "HOME is /": Odd({**DEFAULTS, "HOME": "/"}, codes=(6,), said="HOME is '/'"),
    "HOME is relative": Odd({**DEFAULTS, "HOME": "relative"}, codes=(6,), said="no home directory"),
    "HOME is a tilde": Odd({**DEFAULTS, "HOME": "~"}, codes=(6,)),
    "HOME is empty": Odd({**DEFAULTS, "HOME": ""}, codes=(6,)),
    "HOME is not there": Odd({**DEFAULTS, "HOME": "PLACE/none/yet"}),
    "HOME is a file": Odd({**DEFAULTS, "HOME": "PLACE/file"}, codes=(6,), prepare=a_file, said="PLACE/file"),
    "HOME unset, no such user": Odd({**DEFAULTS, "HOME": None}, codes=(6,), as_nobody=True),
    "no such user": Odd({**DEFAULTS, "HOME": "PLACE/home"}, as_nobody=True),
    "HOME read-only": Odd(
        {**DEFAULTS, "HOME": "PLACE/locked"}, codes=(6,), prepare=no_writing, as_nobody=True, said="denied"
    ),
    "XDG_DATA_HOME relative": Odd({**DEFAULTS, "XDG_DATA_HOME": "here"}),
    "XDG_DATA_HOME empty": Odd({**DEFAULTS, "XDG_DATA_HOME": ""}),
    "XDG_CONFIG_HOME relative": Odd({"SHIPCHAT_CONFIG_DIR": None, "XDG_CONFIG_HOME": "here"}),
    "data relative": Odd({"SHIPCHAT_DATA_DIR": "here"}, codes=(6,), said="not an absolute path"),
    "data is a file": Odd(
        {"SHIPCHAT_DATA_DIR": "PLACE/file"}, codes=(6,), prepare=a_file, said="not a directory"
    ),
    "data below a file": Odd(
        {"SHIPCHAT_DATA_DIR": "PLACE/file/x"}, codes=(6,), prepare=a_file, said="PLACE/file/x"
    ),
    "data is a link": Odd({"SHIPCHAT_DATA_DIR": "PLACE/link"}, prepare=deep),
    "data with dots": Odd({"SHIPCHAT_DATA_DIR": "PLACE/data/../data"}),
    "data is theirs": Odd(
        {"SHIPCHAT_DATA_DIR": "PLACE/theirs"}, codes=(6,), prepare=foreign, said="another user"
    ),
    "config relative": Odd({"SHIPCHAT_CONFIG_DIR": "here"}, codes=(6,)),
    "config is no text": Odd(codes=(2,), prepare=config(b"\xff\xfe"), said="config.toml"),
    "config is half": Odd(codes=(2,), prepare=config(b'{"a":'), said="config.toml"),
    "config of NULs": Odd(codes=(2,), prepare=config(bytes(2)), said="config.toml"),
    "LANG is C": Odd({"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "LANG is nonsense": Odd({"LANG": "xx_YY.none", "LC_ALL": "xx_YY.none"}),
    "ascii": Odd({"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}),
    "latin-1": Odd({"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "LC_ALL": "C"}),
    "strict ascii": Odd({"PYTHONIOENCODING": "ascii:strict"}),
    "TERM is dumb": Odd({"TERM": "dumb"}),
    "TERM is nonsense": Odd({"TERM": "no-such-terminal"}, ("list",)),
    "COLUMNS is 1": Odd({"COLUMNS": "1", "LINES": "1"}, ("list",)),
    "COLUMNS is no number": Odd({"COLUMNS": "wide"}, ("list",)),
    "TZ is nonsense": Odd({"TZ": "Nowhere/At_All"}),
    "TMPDIR is not there": Odd({"TMPDIR": "/none/such"}),
    "stdin closed": Odd(popen=closed(0)),
    "stdout closed": Odd(popen=closed(1)),
    "stderr closed": Odd(popen=closed(2)),
    "all closed": Odd(popen=closed(0, 1, 2)),
    "stdin silent": Odd(popen={"stdin": subprocess.PIPE}),
    "umask 0777": Odd(popen={"umask": 0o777}),
    "no file may grow": Odd(codes=(6,), limits={resource.RLIMIT_FSIZE: 0}, said="NOT SAVED"),
    "files of 100 bytes": Odd(codes=(6,), limits={resource.RLIMIT_FSIZE: 100}, said="NOT SAVED"),
    "24 open files": Odd(limits={resource.RLIMIT_NOFILE: 24}),
    "8 open files": Odd(limits={resource.RLIMIT_NOFILE: 8}, codes=(0, 1, 6)),
    "512 MB of memory": Odd(limits={resource.RLIMIT_AS: 512 << 20}),
    "no core, small stack": Odd(limits={resource.RLIMIT_CORE: 0, resource.RLIMIT_STACK: 1 << 20}),
}


def _can_be_nobody() -> bool:
    if shutil.which(SETPRIV[0]) is None:
        return False
    return subprocess.run([*SETPRIV, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@LINUX
@pytest.mark.parametrize("name", ODD)
def test_an_odd_environment_is_met_in_order(program: Program, name: str) -> None:
    """Cases 100, 101, 103, 106, 107; and case 4 for a config file that is damaged."""
    odd = ODD[name]
    place = str(program.place)
    if (odd.as_nobody or "theirs" in name) and not ROOT:
        pytest.skip("only root can set this up")
    if odd.as_nobody and not _can_be_nobody():
        pytest.skip("no setpriv here, or no right to it")
    odd.prepare(program.place)
    env = {key: value.replace("PLACE", place) if value else value for key, value in odd.env.items()}
    before = odd.popen.get("preexec_fn")

    def begin() -> None:
        for limit, most in odd.limits.items():
            resource.setrlimit(limit, (most, most))
        if before is not None:
            before()

    if odd.as_nobody:
        for path in (program.place, *program.place.rglob("*")):
            os.chown(path, NOBODY, -1)
        program.command = (*SETPRIV, *program.command)
    process = program.start(*odd.arguments, env=env, **{**odd.popen, "preexec_fn": begin})
    try:
        if odd.popen.get("stdin") is subprocess.PIPE:
            assert process.stdin is not None
            silent, process.stdin = process.stdin, None  # stays open, says nothing
            out, err = process.communicate(timeout=DEADLINE)
            silent.close()
        else:
            out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
    told = out.decode("utf-8", "replace") + err.decode("utf-8", "replace")
    assert process.returncode in odd.codes, told
    assert "Traceback" not in told
    assert odd.said.replace("PLACE", place) in told
    if process.returncode in (2, 6):
        assert err.decode().startswith("shipchat: "), told
        assert len(err.splitlines()) <= 4, told
    assert os.listdir(program.cwd) == []


@LINUX
def test_a_directory_that_is_gone_is_no_place_to_stand_but_does_no_harm(program: Program) -> None:
    """Case 107."""
    gone = program.place / "gone"
    gone.mkdir()
    result = program.run(*SEND, cwd=gone, preexec_fn=lambda: os.rmdir(gone))
    assert result.code == 0, result
    assert program.texts("k")[0] == SEND[-1]
