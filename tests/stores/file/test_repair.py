import json
from dataclasses import replace
from pathlib import Path

import pytest

from shipchat.core.entries import ForkOrigin, MessageEntry, SessionRecord
from shipchat.core.errors import SessionConflict, SessionDamaged, SessionHeld, SessionNewer, SessionNotFound
from shipchat.formats.document import encode_session
from shipchat.formats.lines import CLOSING, seal
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import every_kind, header, ids, prompt, reply, title

RECORD = SessionRecord(
    replace(header("k"), forked_from=ForkOrigin("p", "a", 1)),
    (prompt("a"), reply("b", "a"), title("t", "Export")),
)
DATA = encode_session(RECORD.header, RECORD.entries)


@pytest.fixture
def store(tmp_path: Path) -> FileSessionStore:
    made = FileSessionStore(tmp_path / "sessions")
    made.create(RECORD)
    return made


def put(store: FileSessionStore, data: bytes) -> None:
    Path(store.path("k")).write_bytes(data)


def edited(record: SessionRecord, text: str) -> SessionRecord:
    changed = reply("b", "a", text)
    return replace(record, entries=(record.entries[0], changed, *record.entries[2:]))


@pytest.mark.parametrize(
    ("data", "kept", "notes"),
    [
        (DATA, RECORD, ()),
        (json.dumps(json.loads(DATA), indent=2).encode(), RECORD, ()),
        (
            DATA.replace(b"Because.", b"Perhaps."),
            edited(RECORD, "Perhaps."),
            ("entry 2 (b) was changed by hand",),
        ),
        (
            json.dumps(json.loads(DATA.replace(b"Because.", b"Perhaps.")), indent=2).encode(),
            edited(RECORD, "Perhaps."),
            ("entry 2 (b) was changed by hand",),
        ),
        (DATA + b"stale}\n]}\n", RECORD, ("line 6 is left out: not JSON (Expecting value at column 1)",)),
        (
            DATA[: DATA.index(b'{"seq":3') + 20] + DATA,
            RECORD,
            (
                "line 4 is left out: not JSON (Expecting ',' delimiter at column 23)",
                "line 5 repeats a: left out",
                "line 6 repeats b: left out",
            ),
        ),
        (
            DATA[: DATA.index(b'{"seq":2')] + bytes(100) + b"\n]}\n",
            replace(RECORD, entries=RECORD.entries[:1]),
            ("line 3 is left out: 100 NUL bytes",),
        ),
        (
            DATA.replace(b'"key":"k"', b'"key":"z"'),
            RECORD,
            ("the header was changed by hand",),
        ),
        (
            DATA[DATA.index(b"\n") + 1 :],
            replace(RECORD, header=header("k")),
            ("the header can't be read: a new one is made, without where it was forked from",),
        ),
    ],
    ids=["whole", "reformatted", "edited", "both", "stale", "twice", "zeros", "header", "headless"],
)
def test_a_repair_keeps_what_can_be_read_and_says_what_it_changes(
    store: FileSessionStore, data: bytes, kept: SessionRecord, notes: tuple[str, ...]
) -> None:
    put(store, data)
    plan = store.plan_repair("k")
    assert plan.notes == notes
    assert plan.record == kept
    assert Path(store.path("k")).read_bytes() == data
    backup = store.repair(plan)
    assert Path(backup).read_bytes() == data
    assert Path(backup).parent.name == ".trash"
    assert store.load("k") == kept
    assert (store.plan_repair("k").reason, store.plan_repair("k").notes) == (None, ())


def test_nothing_to_be_had(store: FileSessionStore) -> None:
    for data in (bytes(413), b"", b"hello"):
        put(store, data)
        with pytest.raises(SessionDamaged):
            store.plan_repair("k")
    put(store, seal({"format": "shipchat.session", "version": 9}, opening=b',"entries":[') + CLOSING)
    with pytest.raises(SessionNewer):
        store.plan_repair("k")
    with pytest.raises(SessionNotFound):
        store.plan_repair("nobody")


def test_a_plan_holds_only_for_the_file_it_was_made_for(store: FileSessionStore) -> None:
    put(store, DATA.replace(b"Because.", b"Perhaps."))
    plan = store.plan_repair("k")
    put(store, DATA)
    with pytest.raises(SessionConflict):
        store.repair(plan)
    assert Path(store.path("k")).read_bytes() == DATA


def test_a_repair_needs_the_hold(store: FileSessionStore) -> None:
    put(store, DATA.replace(b"Because.", b"Perhaps."))
    plan = store.plan_repair("k")
    hold = store.hold("k", "test")
    with pytest.raises(SessionHeld):
        store.repair(plan)
    hold.release()


def test_every_kind_of_entry_survives_a_repair(store: FileSessionStore) -> None:
    record = SessionRecord(header("k"), every_kind())
    pretty = json.dumps(json.loads(encode_session(record.header, record.entries)), indent=1).encode()
    put(store, pretty)
    plan = store.plan_repair("k")
    assert (plan.record, plan.notes) == (record, ())
    store.repair(plan)
    assert store.load("k") == record


def test_entries_that_make_no_sense_are_left_out_and_named(store: FileSessionStore) -> None:
    document = json.loads(DATA)
    document["entries"][1]["role"] = "oracle"
    document["entries"].append(7)
    put(store, json.dumps(document, indent=1).encode())
    plan = store.plan_repair("k")
    assert ids(plan.record.entries) == ["a", "t"]
    assert all(isinstance(entry, MessageEntry) for entry in plan.record.entries[:1])
    assert len(plan.notes) == 2
    assert plan.notes[0].startswith("entry 2 is left out: not a proper 'message' entry")
    assert plan.notes[1] == "entry 4 is left out: not an object"
