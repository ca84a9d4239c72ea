"""Attachments on the disk: once each, private, verified, and on the disk before the message that names them."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.errors import StoreUnavailable
from shipchat.exchange.attachments import sweep_unused
from shipchat.stores.blobs import FileBlobs, MemoryBlobs
from shipchat.stores.file.store import FileSessionStore

ROOT = Path(__file__).parents[2]


@given(contents=st.lists(st.binary(max_size=300), max_size=8))
def test_what_is_put_is_read(tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]) -> None:
    directory = tmp_path_factory.mktemp("data") / "blobs"
    hashes: list[str] = []
    for blobs in (FileBlobs(directory), MemoryBlobs()):
        hashes = [blobs.put(data) for data in contents]
        assert hashes == [hashlib.sha256(data).hexdigest() for data in contents]
        assert [blobs.read(one) for one in hashes] == contents
        assert blobs.read("0" * 64) is None
    assert sorted(os.listdir(directory) if contents else []) == sorted(set(hashes))


def test_files_are_private(tmp_path: Path) -> None:
    directory = tmp_path / "data" / "blobs"
    sha256 = FileBlobs(directory).put(b"x")
    assert stat.S_IMODE((directory / sha256).stat().st_mode) == 0o600
    assert [stat.S_IMODE(one.stat().st_mode) for one in (directory, directory.parent)] == [0o700, 0o700]


def test_what_is_not_what_its_name_says_is_not_read_and_is_mended(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path / "blobs")
    sha256 = blobs.put(b"right")
    file = tmp_path / "blobs" / sha256
    file.write_bytes(b"wrong")
    assert blobs.read(sha256) is None
    assert blobs.put(b"right") == sha256
    assert blobs.read(sha256) == b"right"
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert blobs.read(sha256) is None


@pytest.mark.parametrize(
    "name", ["", "..", "../sessions/a.json", "/etc/hostname", "A" * 64, "0" * 63, "\0" * 64]
)
def test_only_a_hash_is_a_name(tmp_path: Path, name: str) -> None:
    assert FileBlobs(tmp_path).read(name) is None


def test_a_blob_put_again_is_young_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path / "blobs")
    sha256 = blobs.put(b"x")
    os.utime(tmp_path / "blobs" / sha256, (1, 1))
    blobs.put(b"x")
    (tmp_path / "sessions").mkdir()
    assert sweep_unused(tmp_path / "blobs", tmp_path / "sessions") == 0
    assert blobs.read(sha256) == b"x"


def test_what_writers_left_half_written_is_swept(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    (tmp_path / ".half.1.aa.tmp").write_bytes(b"half")
    sha256 = blobs.put(b"x")
    assert os.listdir(tmp_path) == [sha256]


def test_a_directory_that_takes_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_bytes(b"a file")
    with pytest.raises(StoreUnavailable, match="NOT SAVED: Not a directory"):
        FileBlobs(tmp_path / "blobs").put(b"x")


def test_memory_looks_behind_and_writes_nothing_there(tmp_path: Path) -> None:
    files = FileBlobs(tmp_path)
    sha256 = files.put(b"public")
    memory = MemoryBlobs(behind=files)
    secret = memory.put(b"private")
    assert (memory.read(sha256), memory.read(secret)) == (b"public", b"private")
    assert os.listdir(tmp_path) == [sha256]


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from shipchat.core.attachments import NewAttachment
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.blobs import FileBlobs
from shipchat.stores.file.store import FileSessionStore
from shipchat.testing.scripted import ScriptedProvider
from tests.sessions.conftest import ScriptedModels

class Dies(FileSessionStore):
    def create(self, record):
        if sys.argv[2] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().create(record)

async def main():
    root = Path(sys.argv[1])
    chat = ChatSession(Dies(root / "sessions"), "a", models=ScriptedModels(ScriptedProvider(["ok"])),
        options=ChatOptions(default_model="scripted/one"), blobs=FileBlobs(root / "blobs"))
    async for event in chat.send("hi", attachments=[NewAttachment("a.txt", "text/plain", b"words")]):
        pass

asyncio.run(main())
"""


def test_killed_between_blob_and_message_harms_nothing(tmp_path: Path) -> None:
    def run(what: str) -> int:
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path), what], check=False, cwd=ROOT, timeout=60
        ).returncode

    sha256 = hashlib.sha256(b"words").hexdigest()
    assert run("die") == -signal.SIGKILL
    assert os.listdir(tmp_path / "blobs") == [sha256]
    store = FileSessionStore(tmp_path / "sessions")
    assert store.keys() == []
    assert run("live") == 0
    assert store.keys() == ["a"]
    # Once nothing names it any more, it goes.
    blob = tmp_path / "blobs" / sha256
    os.utime(blob, (1, 1))
    assert sweep_unused(tmp_path / "blobs", tmp_path / "sessions") == 0
    store.purge("a")
    assert sweep_unused(tmp_path / "blobs", tmp_path / "sessions") == 1
    assert not blob.exists()
