"""Session files cut, flipped and mutated: each is fine, torn or damaged, says where, and harms only itself."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shipchat.core.entries import SessionRecord
from shipchat.core.errors import SessionDamaged, SessionNewer
from shipchat.core.summaries import Damage
from shipchat.formats.document import encode_session
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import every_kind, header, prompt, reply

ENTRIES = (
    prompt("a", None, "Why? “ü”"),
    reply("b", "a", "Because.\n" * 20),
    *every_kind()[2:8],
    prompt("c", "b"),
)
RECORD = SessionRecord(header("k"), ENTRIES)
DATA = encode_session(RECORD.header, ENTRIES)
OTHER = replace(RECORD, header=header("other"))


def truncations() -> Iterator[bytes]:
    for size in range(len(DATA)):
        yield DATA[:size]


def flips(chance: random.Random, most: int) -> Iterator[bytes]:
    """Yield `most` flips of one bit, all there are when there are no more."""
    places = range(len(DATA) * 8)
    for place in places if most >= len(places) else chance.sample(places, most):
        changed = bytearray(DATA)
        changed[place // 8] ^= 1 << place % 8
        yield bytes(changed)


def mutations(chance: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        data = DATA
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            data = _mutated(data, chance)
        yield data


def _mutated(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    stop = min(len(data), start + chance.choice((0, 1, 2, 7, 60, 400)))
    chunk = data[start:stop]
    match chance.randrange(9):
        case 0:
            return data[:start] + data[stop:]
        case 1:
            return data[:stop] + chunk + data[stop:]
        case 2:
            return data[:start] + bytes(len(chunk)) + data[stop:]
        case 3:
            return data[:start] + chance.randbytes(len(chunk) or 1) + data[stop:]
        case 4:
            other = chance.randrange(len(data) + 1)
            return data[:start] + data[other : other + len(chunk)] + data[stop:]
        case 5:
            odd = (
                b"\0",
                b"\n",
                b"\r\n",
                b",",
                b"]}",
                b"{",
                b"\xff",
                b'"',
                b"\xef\xbb\xbf",
                b"1e999",
                b"NaN",
                b"[" * 3000,
            )
            return data[:start] + chance.choice(odd) + data[start:]
        case 6:
            lines = data.split(b"\n")
            chance.shuffle(lines)
            return b"\n".join(lines)
        case 7:
            lines = data.split(b"\n")
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            return b"\n".join(lines)
        case _:
            return data[:start] + data[chance.randrange(len(data)) :]


class Examiner:
    """Looks at one bad file after another as a program would, and counts what they were called."""

    def __init__(self, place: Path) -> None:
        self.store = FileSessionStore(place)
        self.store.create(RECORD)
        self.store.create(OTHER)
        self.path = Path(self.store.path("k"))
        self.called: Counter[str] = Counter()

    def look(self, data: bytes) -> None:
        """Raise AssertionError when the file is misjudged, written to, or harms the other session."""
        self.path.write_bytes(data)
        row = self.store.summary("k")
        assert row is not None
        try:
            record = self.store.load("k")
        except SessionDamaged as error:
            self._damaged(error, row.damage, data)
        else:
            assert record is not None
            assert row.damage is None, (row.damage, data)
            assert record.entries == ENTRIES[: len(record.entries)], data
            assert record.header == replace(RECORD.header, extra=record.header.extra), data
            assert row.messages <= 3
            whole = record.entries == ENTRIES
            self.called["fine" if whole and data.rstrip().endswith(b"]}") else "torn"] += 1
        assert self.path.read_bytes() == data
        if self.called.total() % 50 == 1:
            rows = {one.key: one.damage is None for one in self.store.summaries()}
            assert rows["other"] is True
            assert self.store.load("other") == OTHER

    def _damaged(self, error: SessionDamaged, told: Damage | None, data: bytes) -> None:
        self.called["newer" if isinstance(error, SessionNewer) else "damaged"] += 1
        assert told == Damage(error.path, error.line, error.reason, error.code), (error, told, data)
        assert error.path == str(self.path)
        assert 1 <= error.line <= data.count(b"\n") + 1, data
        record, damage = self.store.salvage("k")
        assert damage == told
        entries = record.entries if record is not None else ()
        assert len(entries) == error.readable
        assert entries == ENTRIES[: len(entries)], data
        if record is not None and self.called["damaged"] % 7 == 0:
            self._refused()

    def _refused(self) -> None:
        cursor = self.store.open("other")[1]
        try:
            self.store.append("k", [prompt("new", "b")], cursor, exclusive=False)
        except SessionDamaged:
            return
        raise AssertionError("a damaged file was written to")

    def figure(self) -> str:
        words = ", ".join(f"{count} {word}" for word, count in sorted(self.called.items()))
        return f"{self.called.total()} bad files ({words}): each in its class with path and line, none written to"


def prove_mutations(place: Path, count: int, flipped: int, seed: int = 3) -> str:
    """Look at every truncation, `flipped` flips and `count` mutations; return the figure."""
    chance = random.Random(seed)
    examiner = Examiner(place)
    for source in (truncations(), flips(chance, flipped), mutations(chance, count)):
        for data in source:
            examiner.look(data)
    return examiner.figure()
