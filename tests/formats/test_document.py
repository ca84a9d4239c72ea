import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import Entry, ForkOrigin, SessionHeader
from shipchat.formats.document import Reading, encode_document, encode_session, read_document, read_tail
from shipchat.formats.entries import encode_entry
from shipchat.formats.header import encode_header
from shipchat.formats.lines import CLOSING, seal
from shipchat.formats.migrations import Step, steps_from
from shipchat.testing.samples import START, every_kind, header, prompt, reply
from tests.formats.strategies import entries

GOLDEN = Path(__file__).parent / "golden"
SMALL: tuple[Entry, ...] = (prompt("a"), reply("b", "a", "Because\n\\ “é”."), every_kind()[2])
DATA = encode_session(header("k"), SMALL)


def read(data: bytes) -> Reading:
    return read_document(data, "k")


def verdict(reading: Reading) -> str:
    if reading.problem is None:
        return "whole"
    return "torn" if reading.problem.torn else "damaged"


@given(st.lists(entries, max_size=6))
def test_a_session_comes_back_as_it_was_and_is_one_json_document(listed: list[Entry]) -> None:
    origin = replace(header("k"), forked_from=ForkOrigin("p", None, 0), extra={"new": [1]})
    data = encode_session(origin, listed)
    reading = read(data)
    assert (reading.header, list(reading.entries), reading.problem) == (origin, listed, None)
    assert (reading.seq, data[reading.end :]) == (len(listed), CLOSING)
    assert [entry["seq"] for entry in json.loads(data)["entries"]] == list(range(1, len(listed) + 1))


def test_the_golden_file_of_version_1_is_read_and_written_alike() -> None:
    data = (GOLDEN / "version_1.json").read_bytes()
    reading = read_document(data, "ticket-812")
    assert (reading.header, reading.entries, reading.problem) == (header("ticket-812"), every_kind(), None)
    assert encode_session(header("ticket-812"), every_kind()) == data


def test_every_truncation_is_a_correct_prefix_or_damaged() -> None:
    head = len(encode_header(header("k")))
    ends = [span[1] for span in read(DATA).spans]
    for size in range(len(DATA)):
        reading = read(DATA[:size])
        if size < head:
            assert verdict(reading) == "damaged", size
            assert reading.entries == ()
            continue
        # The last line feed is no loss.
        assert verdict(reading) == ("whole" if size == len(DATA) - 1 else "torn"), size
        assert reading.entries == SMALL[: sum(end <= size for end in ends)], size


def test_every_flipped_bit_is_noticed_or_harmless() -> None:
    seen = {"whole": 0, "torn": 0, "damaged": 0}
    for position in range(len(DATA)):
        for bit in range(8):
            changed = bytearray(DATA)
            changed[position] ^= 1 << bit
            reading = read(bytes(changed))
            verdict_ = verdict(reading)
            seen[verdict_] += 1
            if verdict_ == "damaged":
                assert reading.entries == SMALL[: len(reading.entries)]
            else:  # white space between lines
                assert (reading.header, reading.entries) == (header("k"), SMALL), (position, bit)
    assert seen["damaged"] > 0.99 * 8 * len(DATA)


def test_an_append_cut_off_anywhere_leaves_what_was_there() -> None:
    new = (prompt("c", "b"), reply("d", "c"))
    lines = [encode_entry(entry, seq) for seq, entry in enumerate(new, len(SMALL) + 1)]
    end = read(DATA).end
    written = b",\n" + b",\n".join(lines) + CLOSING
    first_end = 2 + len(lines[0])
    for size in range(len(written)):
        torn = DATA[:end] + written[:size] + DATA[end + size :]
        reading = read(torn)
        done = (size >= first_end) + (size >= first_end + 2 + len(lines[1]))
        if size == 0 or size >= len(written) - 1:
            assert verdict(reading) == "whole", size
        else:
            assert verdict(reading) == "torn", (size, reading.problem)
        assert reading.entries == SMALL + new[:done], size
        tail = read_tail(torn, end, len(SMALL), first=False)
        assert (verdict(tail), tail.entries, tail.end) == (verdict(reading), new[:done], reading.end), size


@pytest.mark.parametrize("zeros", [1, 300, 4096])
def test_nul_bytes_at_the_end_are_torn(zeros: int) -> None:
    end = read(DATA).end
    for kept, torn in (
        (3, DATA[:end] + b",\n" + bytes(zeros)),
        (3, DATA[:end] + bytes(zeros)),
        (2, DATA[: end - 30] + bytes(zeros)),
    ):
        reading = read(torn)
        assert (verdict(reading), reading.entries) == ("torn", SMALL[:kept])
    hole = DATA[: end - 60] + bytes(30) + DATA[end - 30 :]
    assert (verdict(read(hole)), read(hole).entries) == ("torn", SMALL[:2])


def damage(data: bytes) -> tuple[str, int]:
    reading = read(data)
    assert reading.problem is not None
    assert not reading.problem.torn
    return reading.problem.reason, len(reading.entries)


def test_413_nul_bytes() -> None:
    assert damage(bytes(413)) == ("not JSON: 413 NUL bytes", 0)


def test_an_empty_file() -> None:
    assert damage(b"") == ("the file is empty", 0)


def test_half_a_record_followed_by_the_whole_one() -> None:
    cut = DATA[: len(DATA) * 6 // 10]
    reason, readable = damage(cut + DATA)
    assert reason == "the checksum does not match: the line was changed"
    assert readable == read(cut).entries.__len__()


def test_stale_bytes_after_the_end() -> None:
    stale = encode_session(header("k"), [*SMALL, *every_kind()[3:]])[-1111:]
    reason, readable = damage(DATA + stale)
    assert reason == f"1111 bytes of extra data after the end, from byte {len(DATA)} on"
    assert readable == len(SMALL)


def test_entries_in_the_wrong_order() -> None:
    lines = [encode_entry(entry, seq) for entry, seq in zip(SMALL, (1, 3, 2), strict=True)]
    assert damage(encode_document(header("k"), lines)) == ("entry 3 where 2 should be", 1)


def test_a_number_used_twice() -> None:
    lines = [encode_entry(entry, seq) for entry, seq in zip(SMALL, (1, 2, 2), strict=True)]
    assert damage(encode_document(header("k"), lines)) == ("entry 2 where 3 should be", 2)


def test_a_changed_word() -> None:
    assert damage(DATA.replace(b"Because", b"Perhaps")) == (
        "the checksum does not match: the line was changed",
        1,
    )
    last = DATA.replace(b"Nightly", b"Knightly")
    assert damage(last) == ("the checksum does not match: the line was changed", 2)


def test_a_missing_line() -> None:
    lines = DATA.split(b"\n")
    assert damage(b"\n".join(lines[:2] + lines[3:])) == ("entry 3 where 2 should be", 1)


def test_a_missing_comma() -> None:
    assert damage(DATA.replace(b"},\n{", b"}\n{", 1)) == ("a comma is missing before this line", 1)


def test_a_file_that_another_program_reformatted() -> None:
    pretty = json.dumps(json.loads(DATA), indent=2).encode()
    assert damage(pretty) == ("it was reformatted by another program", 0)
    assert damage(json.dumps(json.loads(DATA)).encode()) == ("it was reformatted by another program", 0)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"hello\n", "not JSON"),
        (b'{"a":', "not the first line of a session file"),
        (b'{"a":1}', "valid JSON, but not a shipchat session"),
        (DATA.replace(b"2026", b"2027", 1), "the header's checksum does not match"),
    ],
)
def test_files_that_are_no_sessions(data: bytes, reason: str) -> None:
    assert damage(data) == (reason, 0)


def test_bom_crlf_and_blank_lines_do_no_harm() -> None:
    for data in (
        b"\xef\xbb\xbf" + DATA,
        DATA.replace(b"\n", b"\r\n"),
        DATA.replace(b"\n", b"\n\n"),
        DATA + b"\n\r\n  \n",
        b"\n\n" + DATA,
        b"\xef\xbb\xbf" + DATA.replace(b"\n", b" \r\n\r\n"),
        DATA[:-1],
    ):
        reading = read(data)
        assert (reading.header, reading.entries, reading.problem) == (header("k"), SMALL, None)


def with_header(**fields: object) -> bytes:
    value = {
        "format": "shipchat.session",
        "version": 1,
        "key": "k",
        "created": "2026-11-29T15:09:00Z",
        "forked_from": None,
        "copied": 0,
    }
    return seal({**value, **fields}, opening=b',"entries":[') + b"\n]}\n"  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"version": -1}, "there is no format version -1"),
        ({"version": 0}, "format version 0 can't be brought up to date"),
        ({"version": True}, "there is no format version True"),
        ({"version": "1"}, "there is no format version 1"),
        ({"format": "other"}, "not a shipchat session"),
        (
            {"created": "2026-11-29"},
            "not a proper header (Invalid RFC3339 encoded datetime - at `$.created`)",
        ),
        ({"copied": 2}, "only 0 of 2 copied entries are there"),
        ({"copied": -1}, "the header's count of copied entries is negative"),
    ],
)
def test_headers_that_make_no_sense(fields: dict[str, object], reason: str) -> None:
    assert damage(with_header(**fields)) == (reason, 0)


def test_a_later_version_is_called_newer() -> None:
    for data in (with_header(version=2), json.dumps({"format": "shipchat.session", "version": 7}).encode()):
        problem = read(data).problem
        assert problem is not None
        assert problem.newer in (2, 7)
        assert problem.reason == f"written by a newer shipchat (format version {problem.newer})"


def test_the_file_name_decides_the_key() -> None:
    reading = read_document(DATA, "other")
    assert reading.header == SessionHeader(key="other", created=START)


def test_copied_entries_keep_their_numbers() -> None:
    lines = [encode_entry(entry, seq) for entry, seq in zip(SMALL, (4, 9, 10), strict=True)]
    reading = read(encode_document(replace(header("k"), copied=2), lines))
    assert (reading.entries, reading.seq, reading.problem) == (SMALL, 10, None)
    gap = [*lines[:2], encode_entry(SMALL[2], 11)]
    assert damage(encode_document(replace(header("k"), copied=2), gap)) == ("entry 11 where 10 should be", 2)


def test_steps_lead_from_each_older_version() -> None:
    one, two = Step(lambda h: h, lambda e: e), Step(lambda h: {**h}, lambda e: {**e})
    table = {1: one, 2: two}
    assert steps_from(3, to=3, steps=table) == ()
    assert steps_from(2, to=3, steps=table) == (two,)
    assert steps_from(1, to=3, steps=table) == (one, two)
    assert steps_from(1, to=3, steps={2: two}) is None
    assert steps_from(4, to=3, steps=table) is None
