"""Keys and titles that try to be paths, options, escapes or commands, through every operation."""

import contextlib
import os
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import (
    SessionDamaged,
    SessionExists,
    SessionKeyInvalid,
    SessionNotFound,
    ShipchatError,
    UsageError,
)
from shipchat.core.keys import why_invalid
from shipchat.core.safe_text import safe_text
from shipchat.sessions.session_manager import SessionManager
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, prompt
from tests.fire.operations import DRAFT

HOSTILE = [
    "",
    ".",
    "..",
    "/",
    "../../pwned",
    "/etc/passwd",
    "a/../../pwned",
    "..\\..\\pwned",
    "C:\\pwned",
    "\\\\host\\share",
    "~",
    "~root/.ssh/authorized_keys",
    "$HOME/pwned",
    "$(touch pwned)",
    "`touch pwned`",
    '"; touch pwned; "',
    "a; rm -rf ~",
    "a|b",
    "a\0b",
    "a\nb",
    "a\r\nb",
    "a\x1b]52;c;aGk=\x07",
    "a\x1b[2J",
    "\u202epwned",
    "\u2066a",
    "\ud83d",
    "CON",
    "nul.txt",
    "com1",
    "trailing.",
    " leading",
    "trailing ",
    "k.json",
    "k.JSON",
    ".hidden",
    "-rf",
    "--help",
    "x" * 129,
    "x" * 5000,
    "[/b] [TODO]",
    "%2e%2e%2fpwned",
    unicodedata.normalize("NFD", "café"),
    "日本語",
    "a*b?",
    "{}.json",
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def everything(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


BY_KEY: dict[str, Callable[[FileSessionStore, str], object]] = {
    "create": lambda store, key: store.create(SessionRecord(header(key), (prompt("a"),))),
    "load": lambda store, key: store.load(key),
    "save": lambda store, key: store.save(SessionRecord(header(key), (prompt("a"),))),
    "open": lambda store, key: store.open(key),
    "fork to": lambda store, key: store.fork("k", header(key), ["a"], []),
    "fork of": lambda store, key: store.fork(key, header("new"), ["a"], []),
    "summary": lambda store, key: store.summary(key),
    "salvage": lambda store, key: store.salvage(key),
    "plan_repair": lambda store, key: store.plan_repair(key),
    "hold": lambda store, key: store.hold(key, "x").release(),
    "holder": lambda store, key: store.holder(key),
    "draft": lambda store, key: store.write_turn_draft(key, DRAFT, durable=True),
    "read draft": lambda store, key: store.read_turn_draft(key),
    "window": lambda store, key: store.open_window(key),
    "delete": lambda store, key: store.delete(key),
    "purge": lambda store, key: store.purge(key),
    "path": lambda store, key: store.path(key),
}


@pytest.mark.parametrize("key", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_key_reaches_nothing(place: Path, key: str) -> None:
    """Cases 49, 50, 118."""
    store = FileSessionStore(place / "data")
    store.create(SessionRecord(header("k"), (prompt("a"),)))
    store.hold("k", "x").release()
    before = everything(place)
    assert why_invalid(key) is not None, "this key is harmless: choose another"
    for operation in BY_KEY.values():
        with pytest.raises(SessionKeyInvalid):
            operation(store, key)
    for trash in (key, f"{key}.20260101T000000.000000Z", f"../{key}"):
        for again in (None, "restored", key):
            with pytest.raises((SessionNotFound, SessionKeyInvalid)):
                store.restore(trash, key=again)
        with pytest.raises(SessionNotFound):
            store.erase(trash)
    gone = store.delete("k")
    with pytest.raises(SessionKeyInvalid):
        store.restore(gone.trash_id, key=key)
    store.restore(gone.trash_id)
    assert everything(place) - before <= {f"data/.locks/{name}" for name in ("k.hold", "k.write")}


@pytest.mark.parametrize("title", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_title_is_text_in_every_operation(place: Path, title: str) -> None:
    """Cases 49, 80, 118: a title is free text, names no file and comes back as it is shown."""
    store = FileSessionStore(place / "data")
    manager = SessionManager(store)
    try:
        key = manager.create(title=title)
    except UsageError:
        assert not title.strip() or len(title) > 1000
        return
    shown = manager.open(key).title
    assert "\n" not in shown
    assert "\x1b" not in safe_text(shown)
    manager.rename(key, "other")
    manager.rename(key, title)
    with contextlib.suppress(UsageError):
        manager.tag(key, add=[title])
    manager.archive(key)
    manager.unarchive(key)
    fork = manager.fork(key, title=title)
    again = manager.fork(key)
    for name in (fork, again, key):
        manager.delete(name)
    for name in (again, fork, key):
        assert manager.restore(name) == name
    assert manager.open(key).title == shown
    with contextlib.suppress(ShipchatError):  # it may be ambiguous; it is never a path
        manager.resolve(title)
    names = everything(place)
    assert {name for name in names if not name.startswith("data")} == {"cwd"}
    inside = {Path(name).name for name in names if name.startswith("data/")}
    assert all(name.startswith((".", key, fork, again)) for name in inside), inside


def test_hostile_file_names_beside_the_sessions_are_named_and_left_alone(place: Path) -> None:
    store = FileSessionStore(place / "data")
    store.create(SessionRecord(header("k"), (prompt("a"),)))
    data = Path(store.path("k")).read_bytes()
    made = 0
    for name in HOSTILE:
        file = f"{name}.json"
        if "/" in name or "\0" in name or len(name) > 200 or name == "\ud83d" or name.startswith("."):
            continue
        (place / "data" / file).write_bytes(data)
        made += 1
    rows = list(store.summaries())
    odd = [row for row in rows if row.damage is not None]
    assert len(rows) == made + (0 if (place / "data" / ".json").exists() else 1)
    assert all(row.damage is not None and "can't be a session key" in row.damage.reason for row in odd)
    assert store.keys() == ["k"]
    for row in odd:
        with pytest.raises((SessionKeyInvalid, SessionDamaged, SessionNotFound)):
            store.delete(row.key)
    with pytest.raises(SessionExists):
        store.create(SessionRecord(header("K"), (prompt("a"),)))


def test_under_umask_0_everything_is_the_users_alone(place: Path) -> None:
    """Case 115: sessions, locks, drafts, the trash, copies of torn and damaged files, leftovers of the killed."""
    from shipchat.testing.samples import title
    from tests.fire.operations import ERASING, OPERATIONS
    from tests.fire.shim import Fault, shim

    before = os.umask(0)
    try:
        for number, operation in enumerate((*OPERATIONS, *ERASING)):
            root = place / f"data{number}"
            operation.before(FileSessionStore(root))
            with shim(root, Fault(12)), contextlib.suppress(ShipchatError):
                operation.act(FileSessionStore(root))
            FileSessionStore(root).create(SessionRecord(header("z"), (prompt("a"), title("t", "x"))))
    finally:
        os.umask(before)
    modes = {
        path: stat.S_IMODE(path.lstat().st_mode)
        for number in range(len(OPERATIONS) + len(ERASING))
        for path in (place / f"data{number}", *(place / f"data{number}").rglob("*"))
    }
    assert len(modes) > 150
    assert {
        str(path): oct(mode) for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)
    } == {}
