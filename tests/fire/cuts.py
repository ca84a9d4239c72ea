"""What is done, and what must be found again, when the power is cut: `power` knows what a disk may do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from shipchat.core.entries import Entry, SessionRecord
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import header, prompt, reply, title
from tests.fire.operations import DRAFT, unsent
from tests.fire.power import SECTOR, PowerFigure, prove_power


def record(length: int) -> SessionRecord:
    """Return a session whose file's closing line begins at `length` bytes from the border of a sector."""
    from shipchat.formats.document import encode_session
    from shipchat.formats.lines import CLOSING

    for pad in range(SECTOR):
        made = SessionRecord(header("k"), (prompt("a", None, "x" * (100 + pad)), reply("b", "a")))
        if (len(encode_session(made.header, made.entries)) - len(CLOSING)) % SECTOR == length % SECTOR:
            return made
    raise AssertionError("no such length")


def adding(key: str, *entries: Entry, exclusive: bool = True) -> Callable[[FileSessionStore], object]:
    def act(store: FileSessionStore) -> object:
        _, cursor = store.open(key)
        return store.append(key, entries, cursor, exclusive=exclusive)

    return act


def cut_appends(base: Path, length: int, figure: PowerFigure, *, most: int) -> None:
    """Cut the power in a session's life, its file beginning at `length` from a border. Raises AssertionError."""
    first = record(length)
    c, d, e = prompt("c", "b", "y" * 700), reply("d", "c", "z" * 1300), prompt("e", "d", "short")
    tag = title("n", "Name")
    empty = SessionRecord(header("empty"))
    steps = [
        lambda store: store.create(first),
        adding("k", c),
        adding("k", tag, d),
        lambda store: store.create(empty),
        adding("empty", prompt("z")),
        lambda store: store.fork("k", header("f"), ["a", "b", "c"], [title("q", "Fork")]),
        adding("k", e, exclusive=False),
    ]
    acknowledged = [{}, {"k": 2}, {"k": 3}, {"k": 5}, {"k": 5, "empty": 0}, {"k": 5, "empty": 1}]
    acknowledged += [acknowledged[-1] | {"f": 4}, {"k": 6, "empty": 1, "f": 4}]
    whole = {"k": (*first.entries, c, tag, d, e), "empty": (prompt("z"),)}
    whole["f"] = (*first.entries, c, title("q", "Fork"))

    def check(store: FileSessionStore, acked: int) -> None:
        for key, count in acknowledged[acked].items():
            stored = store.load(key)
            assert stored is not None, (key, acked)
            assert stored.entries[:count] == whole[key][:count], (key, acked)
            assert stored.entries == whole[key][: len(stored.entries)], (key, acked)
            row = store.summary(key)
            assert row is not None
            assert row.damage is None, (key, acked, row.damage)
        for key in acknowledged[acked]:
            stored, cursor = store.open(key)
            store.append(key, [prompt("more", None)], cursor, exclusive=True)
            again = store.load(key)
            assert again is not None
            assert [one.id for one in again.entries] == [*(one.id for one in stored.entries), "more"]

    prove_power(base / "place", base / "scratch", steps, check, figure, most=most)


def cut_the_rest(base: Path, figure: PowerFigure, *, most: int) -> None:
    """Cut the power while sessions are deleted, restored, mended, repaired, and drafts written."""
    first = record(100)

    def tear(store: FileSessionStore) -> None:
        # What a killed writer leaves: on the disk, since it is an old story.
        path = Path(store.path("k"))
        path.write_bytes(path.read_bytes()[:-4] + b',\n{"seq":3,"at":"2026' + b"x" * 900)

    def keep_unsent(store: FileSessionStore) -> None:
        window = store.open_window("k")
        window.write("unsent words")
        window.close()

    place = base / "place"
    store = FileSessionStore(place)
    store.create(first)
    store.create(replace(first, header=header("other")))
    store.write_turn_draft("k", DRAFT, durable=True)
    keep_unsent(store)
    tear(store)
    steps = [
        adding("k", prompt("c", "b", "y" * 700)),
        lambda store: store.delete("k"),
        lambda store: store.restore(store.trashed()[0].trash_id),
        lambda store: store.write_turn_draft("k", replace(DRAFT, reply=None), durable=True),
        lambda store: store.write_turn_draft("k", DRAFT, durable=False),
        lambda store: store.delete("k"),
        lambda store: store.restore(store.trashed()[0].trash_id, key="again"),
    ]
    entries = [2, 3, 3, 3, 3, 3, 3, 3]

    def check(store: FileSessionStore, acked: int) -> None:
        store.hold("probe", "next start").release()
        other = store.load("other")
        assert other is not None
        assert other.entries == first.entries
        keys: list[str] = sorted({"k", "again"} & {*store.keys()})
        if not keys:
            (row,) = store.trashed()
            keys = [store.restore(row.trash_id)]
        (key,) = keys
        stored = store.load(key)
        assert stored is not None
        assert len(stored.entries) >= entries[acked], acked
        assert unsent(store, key) == "unsent words", acked
        draft = store.read_turn_draft(key)
        assert draft is not None, acked
        assert draft.queue == DRAFT.queue, acked

    prove_power(place, base / "scratch", steps, check, figure, most=most)
