"""Faults that users of other chat programs reported, tried here where no other test already does.

The number of a case is that of our own list of them; `test_case_list` knows which test stands for which.
"""

import asyncio
import errno
import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from shipchat.core.entries import MessageEntry, SessionRecord
from shipchat.core.errors import SessionDamaged, SessionExists
from shipchat.core.messages import AttachmentPart, Json, TextPart, UserMessage
from shipchat.formats.document import encode_session
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file import FileSessionStore
from shipchat.stores.file import disk as disk_module
from shipchat.stores.file import locks as locks_module
from shipchat.stores.file.flock import LocksUnsupported
from shipchat.testing.samples import header, prompt, reply, title
from shipchat.testing.scripted import Reply, ScriptedProvider
from tests.cli.program import DEADLINE, Program, end, read_until
from tests.fire.operations import RECORD, whole
from tests.fire.shim import Fault, shim
from tests.fire.turns import chat_on


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    return FileSessionStore(tmp_path / "sessions")


# --- lost, damaged, half written ---


def test_a_damaged_draft_stops_nothing_and_is_set_aside(program: Program) -> None:
    """Case 4: a side file that is damaged."""
    program.good("send", "-s", "k", "one")
    drafts = program.data / "sessions" / ".drafts"
    for name in ("k.turn.json", "k.turn.live.json"):
        (drafts / name).write_bytes(b'{"a":')
    program.good("show", "k")
    program.good("send", "-s", "k", "two")
    assert program.texts("k")[2] == "two"
    set_aside = sorted(path.name for path in (program.data / "sessions" / ".trash").iterdir())
    assert [name.rpartition(".")[2] for name in set_aside] == ["draft", "draft"]


def test_temporary_names_are_unique_and_nothing_is_left(store: FileSessionStore) -> None:
    """Case 8: two writers never publish each other's half of a file."""
    with shim(store.root) as seen:
        store.create(RECORD)
        for number in range(50):
            store.create(replace(RECORD, header=header(f"n{number}")))
            store.fork("k", header(f"f{number}"), ["a"], [])
            store.write_turn_draft("k", None, durable=True)
    made = [call.path for call in seen.calls if call.name == "open" and call.path.endswith(".tmp")]
    assert len(made) == len(set(made)) == 101
    assert [name for name in os.listdir(store.root) if name.endswith(".tmp")] == []


def test_an_entry_that_is_there_is_acknowledged_and_not_written_twice(store: FileSessionStore) -> None:
    """Case 10: one id, once; and what an earlier try may not have made durable is made durable."""
    _, cursor = store.create(RECORD), store.open("k")[1]
    store.append("k", [prompt("c", "b")], cursor, exclusive=True)
    before = Path(store.path("k")).read_bytes()
    with shim(store.root) as seen:
        store.append("k", [prompt("c", "b")], store.open("k")[1], exclusive=True)
    assert Path(store.path("k")).read_bytes() == before
    assert {"fsync", "fdatasync"} & {call.name for call in seen.calls}


def test_a_write_that_failed_and_could_not_be_taken_back_is_written_again(store: FileSessionStore) -> None:
    """Case 14: never merely waited for again."""
    store.create(RECORD)
    cursor = store.open("k")[1]
    with shim(store.root) as counted:
        cursor = store.append("k", [title("t0", "x")], cursor, exclusive=False).cursor
    first = next(n for n, call in enumerate(counted.calls) if call.name in ("fdatasync", "fsync"))
    with (
        shim(store.root, Fault(first, errno.EIO, lasting=True)),
        pytest.raises(Exception, match="NOT SAVED"),
    ):
        store.append("k", [title("t1", "y")], cursor, exclusive=False)
    with shim(store.root) as seen:
        store.append("k", [title("t1", "y")], cursor, exclusive=False)
    written = [place for place, call in enumerate(seen.calls) if call.name == "pwrite"]
    synced = [place for place, call in enumerate(seen.calls) if call.name in ("fdatasync", "fsync")]
    assert written
    assert synced[-1] > written[-1]


def test_ctrl_c_three_times_leaves_a_session_that_is_listed_and_goes_on(program: Program) -> None:
    """Case 17."""
    program.script([{"chunks": ["begun", *["…"] * 1000], "delay": 0.02}])
    process = program.start("send", "-s", "k", "one")
    read_until(process, b"begun")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    result = end(process, signal.SIGINT)
    assert result.code == 130, result
    assert "Traceback" not in result.err
    program.script([{"chunks": ["later"]}])
    assert program.keys() == ["k"]
    program.good("send", "-s", "k", "two")
    shown = program.good("show", "k", "--json").json["messages"]
    assert [(one["role"], one.get("status")) for one in shown] == [
        ("user", None),
        ("assistant", "interrupted"),
        ("user", None),
        ("assistant", "complete"),
    ]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
def test_what_can_not_be_read_is_never_called_missing_or_made_anew(
    store: FileSessionStore, code: int
) -> None:
    """Case 19."""
    whole(store)
    before = Path(store.path("k")).read_bytes()
    with shim(store.path("k"), Fault(0, code)), pytest.raises(SessionDamaged) as caught:
        store.load("k")
    assert (caught.value.path, caught.value.reason) == (store.path("k"), os.strerror(code).lower())
    with pytest.raises(SessionExists):
        store.create(RECORD)
    assert Path(store.path("k")).read_bytes() == before


def test_a_new_session_shows_nothing_of_one_that_was_deleted(store: FileSessionStore) -> None:
    """Case 20: neither its words nor its drafts, under the same key."""
    whole(store)
    store.delete("k")
    assert store.load("k") is None
    assert store.read_turn_draft("k") is None
    window = store.open_window("k")
    assert window.text == ""
    window.close()
    store.create(SessionRecord(header("k"), (prompt("z"),)))
    assert store.read_turn_draft("k") is None
    assert store.load("k") == SessionRecord(header("k"), (prompt("z"),))


# --- two at once ---


def test_one_that_starts_while_another_leaves_is_held_or_clean(program: Program) -> None:
    """Case 25."""
    program.script([{"chunks": ["ok"]}])
    codes = []
    for number in range(3):
        first = program.start("send", "-s", "k", f"first {number}")
        read_until(first, b"ok")
        codes.append(program.run("send", "-s", "k", f"second {number}").code)
        assert end_of(first) == 0
    assert set(codes) <= {0, 4}
    document = json.loads(program.file("k").read_bytes())
    found = [entry["id"] for entry in document["entries"] if entry["type"] == "message"]
    assert len(found) == len(set(found)) == 2 * (3 + codes.count(0))


def end_of(process: "subprocess.Popen[bytes]") -> int:
    process.communicate(timeout=DEADLINE)
    return process.returncode


def test_a_file_system_without_locks_is_said_and_not_guessed(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 31."""

    def none_here(*_: object, **__: object) -> bool:
        raise LocksUnsupported("No locks available")

    monkeypatch.setattr(locks_module, "try_lock", none_here)
    store.create(RECORD)
    store.hold("k", "x").release()
    assert store.warning is not None
    assert "no working locks (No locks available)" in store.warning
    assert store.load("k") == RECORD


def test_a_rename_that_a_scanner_refuses_is_tried_again_for_a_while(
    store: FileSessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 35: as on Windows."""
    Path(store.root).mkdir()
    monkeypatch.setattr(disk_module, "_WINDOWS", True)
    real, refusals = os.replace, [0]

    def refuse(source: str, target: str) -> None:
        if refusals[0] > 0:
            refusals[0] -= 1
            raise PermissionError(errno.EACCES, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    old, new = (Path(store.root) / name for name in ("old", "new"))
    old.write_text("old")
    new.write_text("new")
    refusals[0] = 2
    disk_module.replace(str(new), str(old))
    assert old.read_text() == "new"
    new.write_text("newer")
    refusals[0] = 10
    began = time.monotonic()
    with pytest.raises(PermissionError):
        disk_module.replace(str(new), str(old))
    assert time.monotonic() - began < 5
    assert (old.read_text(), new.read_text()) == ("new", "newer")


# --- picking ---


def test_the_newest_is_what_was_just_sent(program: Program) -> None:
    """Cases 37, 40: `-` and `list` mean the same session."""
    program.good("send", "-s", "older", "one")
    made = program.good("send", "two").err
    newest = program.keys()[0]
    assert newest in made
    assert newest != "older"
    assert program.good("show", "-", "--json").json["key"] == newest
    shown = program.good("resume", "--last", stdin="")
    assert "two" in shown.out


def test_times_are_compared_as_instants(store: FileSessionStore) -> None:
    """Case 41: the text of the first is the greater one, its instant is the earlier; the clock may go back."""
    east = datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    later = datetime(2025, 12, 31, 23, 0, tzinfo=UTC)
    for key, at in (("first", east), ("second", later)):
        message = UserMessage(id="a", parent=None, at=at, parts=(TextPart(key),))
        back = UserMessage(id="b", parent="a", at=at - timedelta(days=400), parts=(TextPart("back"),))
        store.create(SessionRecord(header(key), (MessageEntry(message=message), MessageEntry(message=back))))
    rows = SessionManager(store).list_sessions()
    assert [row.key for row in rows] == ["second", "first"]
    assert [row.updated for row in rows] == [later, east]
    session = SessionManager(store).open("first")
    assert [message.text for message in session.messages()] == ["first", "back"]


async def test_ten_times_interrupted_and_resumed_each_message_is_there_once(tmp_path: Path) -> None:
    """Case 46."""
    for cycle in range(10):
        gate = asyncio.Event()
        chat = chat_on(tmp_path, ScriptedProvider([Reply(("half ", gate)), "whole"], repeat_last=True))
        async for event in chat.send(f"cut {cycle}"):
            if event.type == "text_delta":
                chat.interrupt()
        for number in range(2):
            async for _ in chat.send(f"{cycle}.{number}"):
                pass
        await chat.close()
    record = FileSessionStore(tmp_path).load("k")
    assert record is not None
    found = [entry.id for entry in record.entries if isinstance(entry, MessageEntry)]
    assert len(found) == len(set(found)) == 10 * 6


async def test_fifty_turns_are_there_before_one_types(program: Program) -> None:
    """Cases 13, 47: all of the history, and the place in it."""
    chat = chat_on(program.data / "sessions", ScriptedProvider(["reply"], repeat_last=True))
    for number in range(50):
        async for _ in chat.send(f"prompt {number}"):
            pass
    await chat.close()
    row = (await asyncio.to_thread(program.good, "list", "--json")).json[0]
    assert row["messages"] == 100
    resumed = await asyncio.to_thread(program.run, "resume", "k", stdin="")
    assert "prompt 49" in resumed.out
    assert len(await asyncio.to_thread(program.texts, "k")) == 100


def test_paths_and_settings_in_a_session_file_are_kept_and_never_used(store: FileSessionStore) -> None:
    """Cases 50, 53."""
    extra: dict[str, Json] = {
        "workspace": "/",
        "path": "../../pwned",
        "base_url": "http://evil.example",
        "unknown": [1, None],
    }
    entry = title("t", "x")
    entry = replace(entry, custom={"x-cwd": "/etc", "x-export": "../../pwned"})
    record = SessionRecord(replace(header("k"), extra=extra), (prompt("a"), entry))
    store.create(record)
    assert store.load("k") == record
    data = json.loads(Path(store.path("k")).read_bytes())
    assert data["workspace"] == "/"
    store.append("k", [reply("b", "a")], store.open("k")[1], exclusive=True)
    again = store.load("k")
    assert again is not None
    assert again.header.extra == extra
    gone = store.delete("k")
    store.restore(gone.trash_id, key="other")
    assert {path.name for path in Path(store.root).iterdir()} == {".locks", ".drafts", ".trash", "other.json"}


# --- size, secrets ---


def test_ten_large_pictures_leave_the_session_small(store: FileSessionStore) -> None:
    """Case 73: an attachment is a file beside the sessions, and a reference in them."""
    parts = tuple(AttachmentPart(f"{n:064x}", f"{n}.png", "image/png", 2 << 20) for n in range(10))
    message = UserMessage(id="a", parent=None, at=datetime.now(UTC), parts=parts)
    data = encode_session(header("k"), (MessageEntry(message=message),))
    assert len(data) < 10_000


def test_a_key_is_in_no_file_and_no_output_of_a_run_that_fails(program: Program) -> None:
    """Case 116."""
    secret = "sk-CANARY-0123456789"
    env = {
        "OPENAI_API_KEY": secret,
        "ANTHROPIC_API_KEY": secret,
        "OPENAI_BASE_URL": f"http://user:{secret}@127.0.0.1:9/v1?key={secret}",
    }
    told = ""
    for model, output in (("openai/gpt-4o", "events"), ("no-such/model", "text")):
        result = program.run("send", "-s", "k", "hi", "-m", model, "-o", output, env=env)
        assert result.code in (2, 7, 8), result
        told += result.out + result.err
    told += program.good("config", "show", env=env).out
    assert "CANARY" not in told
    for path in program.place.rglob("*"):
        if path.is_file():
            assert b"CANARY" not in path.read_bytes(), path
