import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shipchat.core.entries import Entry, ForkOrigin, MessageEntry, SessionHeader, SessionRecord
from shipchat.core.errors import UsageError
from shipchat.core.messages import AttachmentPart, UserMessage
from shipchat.exchange.exchange import Exchange
from shipchat.exchange.json_file import ImportRefused, decode_export, encode_export
from shipchat.formats.document import encode_session
from shipchat.stores.file.store import FileSessionStore
from shipchat.testing.samples import START, every_kind, header, prompt
from tests.formats.strategies import entries, objects, texts, times

origins = st.none() | st.builds(ForkOrigin, texts, st.none() | texts, st.integers(0, 100))
headers = st.builds(
    SessionHeader,
    key=st.sampled_from(["work", "../../pwned", "CON", "a b", "x" * 300, "名前"]),
    created=times,
    forked_from=origins,
    extra=objects,
)
blobs = st.lists(st.binary(max_size=50), max_size=2)


def carrying(data: list[bytes]) -> tuple[list[Entry], dict[str, bytes]]:
    named = {hashlib.sha256(one).hexdigest(): one for one in data}
    parts = tuple(AttachmentPart(name, "a.bin", "application/x", len(one)) for name, one in named.items())
    message = UserMessage(id="carrier", parent=None, at=START, parts=parts)
    return [MessageEntry(message=message)], named


@settings(max_examples=60, deadline=None)
@given(headers, st.lists(entries, max_size=10), blobs)
def test_a_round_trip_loses_nothing(head: SessionHeader, listed: list[Entry], data: list[bytes]) -> None:
    carriers, named = carrying(data)
    record = SessionRecord(head, (*listed, *carriers))
    read = decode_export(encode_export(record, named), "file")
    assert (read.record, dict(read.blobs)) == (record, named)


@settings(max_examples=40, deadline=None)
@given(head=headers, listed=st.lists(entries, max_size=6))
def test_into_a_store_and_out_again_it_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, head: SessionHeader, listed: list[Entry]
) -> None:
    place = tmp_path_factory.mktemp("exchange")
    store = FileSessionStore(place / "sessions")
    exchange = Exchange(store, place / "blobs")
    record = SessionRecord(head, tuple(listed))
    (place / "file.json").write_bytes(encode_export(record, {}))
    made = exchange.add(exchange.read(place / "file.json"))
    stored = store.load(made.key)
    assert stored == replace(record, header=replace(head, key=made.key))
    assert decode_export(exchange.export(made.key, "json"), "x").record == stored
    assert made.original == head.key
    assert made.key != head.key
    assert [path.name for path in place.iterdir()].count("pwned") == 0


def test_a_session_file_can_be_imported_but_only_a_whole_one() -> None:
    data = encode_session(header("k"), every_kind())
    assert decode_export(data, "f").record == SessionRecord(header("k"), tuple(every_kind()))
    with pytest.raises(ImportRefused, match="checksum"):
        decode_export(encode_session(header("k"), [prompt("a")]).replace(b"Why?", b"How?"), "f")


def export_value() -> dict[str, Any]:
    record = SessionRecord(header("k"), (prompt("a"),))
    value: dict[str, Any] = json.loads(encode_export(record, {}))
    return value


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda value: value.update(format="other"), "not an export"),
        (lambda value: value.update(version=2), "newer shipchat"),
        (lambda value: value.pop("session"), "without a session"),
        (lambda value: value["session"].pop("created"), "not a proper header"),
        (lambda value: value.update(entries={}), "without entries"),
        (lambda value: value["entries"].append(7), "entry 2: not an object"),
        (lambda value: value["entries"][0].pop("role"), "entry 1: not a proper 'message' entry"),
    ],
)
def test_what_is_no_export_is_refused_with_the_reason(change: Any, reason: str) -> None:
    value = export_value()
    change(value)
    with pytest.raises(ImportRefused, match=reason) as refused:
        decode_export(json.dumps(value).encode(), "f.json")
    assert refused.value.exit_code == 5


@pytest.mark.parametrize("data", [b"", b"\0" * 413, b"[1]", b"{", b'{"a":1,"a":2}', b"[" * 100_000, b"NaN"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ImportRefused):
        decode_export(data, "f.json")


def test_an_attachment_must_be_what_its_name_says(tmp_path: Path) -> None:
    carriers, named = carrying([b"picture"])
    [name] = named
    value = json.loads(encode_export(SessionRecord(header("k"), tuple(carriers)), named))
    value["attachments"] = {name: base64.b64encode(b"other").decode(), "../../pwned": "aGk="}
    with pytest.raises(ImportRefused, match="other bytes than its name says"):
        decode_export(json.dumps(value).encode(), "f")
    value["attachments"][name] = base64.b64encode(b"picture").decode()
    read = decode_export(json.dumps(value).encode(), "f")
    exchange = Exchange(FileSessionStore(tmp_path / "sessions"), tmp_path / "blobs")
    made = exchange.add(read)
    assert {path.name: path.read_bytes() for path in (tmp_path / "blobs").iterdir()} == {name: b"picture"}
    assert json.loads(exchange.export(made.key, "json"))["attachments"] == {
        name: base64.b64encode(b"picture").decode()
    }
    again = exchange.add(replace(read, blobs={}))
    assert again.notes == ()  # the bytes are here already
    (tmp_path / "blobs" / name).unlink()
    assert exchange.add(replace(read, blobs={})).notes == ("1 attachments were not in the file",)


def test_forks_follow_their_imported_parents_and_no_namesake(tmp_path: Path) -> None:
    store = FileSessionStore(tmp_path / "sessions")
    exchange = Exchange(store, tmp_path / "blobs")
    parent = SessionRecord(header("work"), (prompt("a"),))
    child_header = replace(header("child"), forked_from=ForkOrigin("work", "a", 1), copied=1)
    child = SessionRecord(child_header, (prompt("a"),))
    store.create(SessionRecord(header("work"), (prompt("other"),)))
    lone = exchange.add(decode_export(encode_export(child, {}), "f"))
    assert store.load(lone.key).header.forked_from is None  # type: ignore[union-attr]
    assert lone.notes == ("the session work here is another than the one it was forked from",)
    renamed: dict[str, str] = {}
    mother = exchange.add(decode_export(encode_export(parent, {}), "f"), renamed=renamed)
    both = exchange.add(decode_export(encode_export(child, {}), "f"), renamed=renamed)
    loaded = store.load(both.key)
    assert loaded is not None
    assert loaded.header.forked_from == ForkOrigin(mother.key, "a", 1)


def test_files_are_private_and_never_written_over(tmp_path: Path) -> None:
    store = FileSessionStore(tmp_path / "sessions")
    store.create(SessionRecord(header("work"), (prompt("a"),)))
    exchange = Exchange(store, tmp_path / "blobs")
    target, kind = exchange.target("work", tmp_path, None)
    assert (target, kind) == (tmp_path / "work.md", "markdown")
    exchange.write(b"one", target)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="exists already"):
        exchange.write(b"two", target)
    assert target.read_bytes() == b"one"
    exchange.write(b"two", target, force=True)
    assert target.read_bytes() == b"two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sessions", "work.md"]
    link = tmp_path / "link.md"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        exchange.write(b"three", link)
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(UsageError, match="what kind of file"):
        exchange.target("work", tmp_path / "work.pdf", None)
