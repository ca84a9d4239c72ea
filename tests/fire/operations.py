"""Everything that changes a session directory, one operation each, and what a directory holds in the end."""

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.core.entries import SessionRecord
from shipchat.core.errors import ShipchatError
from shipchat.core.messages import TextPart
from shipchat.formats.lines import CLOSING
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import START, header, prompt, reply, title

RECORD = SessionRecord(header("k"), (prompt("a"), reply("b", "a", "Because. " * 90), title("t", "Export")))
OTHER = SessionRecord(header("other"), (prompt("a", None, "Another one"),))
DRAFT = TurnDraft(
    ReplyDraft("r", "a", "m", START, (TextPart("half a reply"),)),
    (QueuedPrompt("q", START, "queued"),),
)

Act: TypeAlias = Callable[[FileSessionStore], object]


@dataclass(frozen=True)
class Operation:
    """`before` makes the directory, `act` is what is interrupted; `between` are further states that may be left.

    `lenient`: it may find nothing to do, when it could not see what there is.
    """

    name: str
    act: Act
    before: Act = repr
    between: tuple[Act, ...] = ()
    lenient: bool = False


def whole(store: FileSessionStore) -> None:
    """Make the usual directory: two sessions, one with a draft and unsent text, one in the trash."""
    store.create(RECORD)
    store.create(OTHER)
    store.create(replace(OTHER, header=header("gone")))
    store.write_turn_draft("gone", DRAFT, durable=True)
    window(store, "gone", "unsent of gone")
    store.delete("gone")
    store.write_turn_draft("k", DRAFT, durable=True)
    window(store, "k", "unsent")


def window(store: FileSessionStore, key: str, text: str) -> None:
    opened = store.open_window(key)
    try:
        opened.write(text)
    finally:
        opened.close()


def torn(store: FileSessionStore) -> None:
    whole(store)
    path = Path(store.path("k"))
    path.write_bytes(path.read_bytes()[: -len(CLOSING)] + b',\n{"seq":4,"at":"2026')


def damaged(store: FileSessionStore) -> None:
    whole(store)
    path = Path(store.path("k"))
    path.write_bytes(path.read_bytes().replace(b"Because", b"Perhaps", 1))


def append(*entries: Any, exclusive: bool = True) -> Act:
    def act(store: FileSessionStore) -> object:
        _, cursor = store.open("k")
        return store.append("k", entries, cursor, exclusive=exclusive)

    return act


def save(store: FileSessionStore) -> None:
    stored = store.load("k")
    assert stored is not None
    store.save(replace(stored, entries=(*stored.entries, prompt("s", "b"))))


def held(store: FileSessionStore) -> None:
    store.hold("k", "fire").release()


def trash_id(store: FileSessionStore) -> str:
    return store.trashed()[0].trash_id


LONG = prompt("c", "b", "A prompt of some length. " * 60)

OPERATIONS = (
    Operation("first", lambda store: store.create(RECORD)),
    Operation("create", lambda store: store.create(replace(RECORD, header=header("new"))), whole),
    Operation("append", append(LONG), whole),
    Operation("append two", append(title("x", "X"), LONG), whole, (append(title("x", "X")),)),
    Operation("append to torn", append(LONG), torn),
    Operation("save", save, whole),
    Operation("rename", append(title("n", "New name"), exclusive=False), whole),
    Operation("fork", lambda store: store.fork("k", header("f"), ["a", "b"], [title("f", "Fork")]), whole),
    Operation("delete", lambda store: store.delete("k"), whole),
    Operation("restore", lambda store: store.restore(trash_id(store)), whole),
    Operation("restore as", lambda store: store.restore(trash_id(store), key="again"), whole),
    Operation("hold", held, whole),
    Operation("draft", lambda store: store.write_turn_draft("other", DRAFT, durable=True), whole),
    Operation("live draft", lambda store: store.write_turn_draft("other", DRAFT, durable=False), whole),
    Operation("no draft", lambda store: store.write_turn_draft("k", None, durable=True), whole),
    Operation("unsent", lambda store: window(store, "k", "more words"), whole),
    Operation("unsent no more", lambda store: window(store, "k", ""), whole, lenient=True),
    Operation("repair", lambda store: store.repair(store.plan_repair("k")), damaged),
)

# What erases for good leaves less and less of it: these only must not harm anything else.
ERASING = (
    Operation("erase", lambda store: store.erase(trash_id(store)), whole),
    Operation("purge", lambda store: store.purge("k"), whole),
)


def state(root: Path) -> dict[str, Any]:
    """Return all that a directory means to a user, whatever the files are called."""
    store = FileSessionStore(root)
    sessions: dict[str, Any] = {}
    for key in sorted(store.keys()):
        try:
            record = store.load(key)
        except ShipchatError as error:
            sessions[key] = error.code
        else:
            sessions[key] = None if record is None else record.entries
    names = {path.name for path in root.rglob("*") if path.is_file()}
    keys = {name.partition(".")[0] for name in names} - {""}
    return {
        "sessions": sessions,
        "drafts": {key: draft for key in keys if (draft := store.read_turn_draft(key)) is not None},
        "unsent": {key: text for key in keys if (text := unsent(store, key))},
        "trash": sorted((row.key, row.title, row.messages) for row in store.trashed()),
        "kept": sorted(name.rpartition(".")[2] for name in names if name.endswith((".torn", ".damaged"))),
    }


def unsent(store: FileSessionStore, key: str) -> str:
    opened = store.open_window(key)
    opened.close()
    return opened.text


def leftovers(root: Path) -> list[str]:
    """Return the files of writers that are gone."""
    return [
        str(path) for path in root.rglob(".*") if path.name.endswith(".tmp") or path.name.startswith(".test.")
    ]


def next_start(root: Path) -> FileSessionStore:
    """Open the directory as a program that is started next does, which takes a hold sooner or later."""
    store = FileSessionStore(root)
    store.hold("probe", "next").release()
    return store


class Places:
    """Makes a fresh directory in the state before an operation, again and again."""

    def __init__(self, base: Path, operation: Operation) -> None:
        self._base = base
        self._numbers = itertools.count()
        self._template = base / "template"
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir()
        FileSessionStore(self._template)
        operation.before(FileSessionStore(self._template))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._template, ignore_errors=True)

    def fresh(self) -> Path:
        place = self._base / f"p{next(self._numbers)}"
        if self._template.exists():
            shutil.copytree(self._template, place)
        return place
