import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from shipchat.formats.document import encode_session
from shipchat.formats.lines import CLOSING, seal
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import every_kind, header
from tests.cli.program import Program
from tests.fire.mutations import DATA, OTHER, RECORD, prove_mutations
from tests.fire.shim import memory_directory


def test_files_cut_flipped_and_mutated_are_told_apart_and_harm_nothing_else() -> None:
    """Cases 5, 7, 10: whatever happened to a file."""
    with memory_directory() as base:
        figure = prove_mutations(base / "sessions", 700, 700)
    assert "damaged" in figure


def of_version(version: int) -> bytes:
    return (
        seal({"format": "shipchat.session", "version": version, "key": "k"}, opening=b',"entries":[')
        + CLOSING
    )


LINES = DATA.split(b"\n")

BAD: dict[str, tuple[bytes, str]] = {
    "zeros": (bytes(413), "not JSON: 413 NUL bytes"),
    "empty": (b"", "the file is empty"),
    "doubled": (DATA[: len(DATA) * 6 // 10] + DATA, "the checksum does not match"),
    "stale": (
        DATA + encode_session(header("k"), every_kind())[-1111:],
        "1111 bytes of extra data after the end",
    ),
    "reused": (b"\n".join([*LINES[:3], LINES[2], *LINES[3:]]), "entry 2 where 3 should be"),
    "swapped": (b"\n".join([LINES[0], LINES[2], LINES[1], *LINES[3:]]), "entry 2 where 1 should be"),
    "other": (b'{"a": 1}', "valid JSON, but not a shipchat session"),
    "v99": (of_version(99), "written by a newer shipchat (format version 99)"),
    "v0": (of_version(0), "format version 0 can't be brought up to date"),
    "fifo": (b"", "not a regular file but a FIFO"),
    "link": (b"", "not a regular file but a symbolic link"),
    "directory": (b"", "not a regular file but a directory"),
    "sparse": (b"", "2.0 GiB, over the limit of 1.0 GiB"),
}


def make_bad(root: Path) -> None:
    for name, (data, _) in BAD.items():
        path = root / f"{name}.json"
        match name:
            case "fifo":
                os.mkfifo(path)
            case "link":
                path.symlink_to("/etc/passwd")
            case "directory":
                path.mkdir()
            case "sparse":
                with path.open("wb") as file:
                    file.truncate(2 << 30)
            case _:
                path.write_bytes(data)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program(tmp_path)
    made.env["SHIPCHAT_SYSTEM"] = ""
    return made


def test_the_program_lists_every_bad_file_with_path_and_reason(program: Program) -> None:
    """Cases 1, 2, 5, 7, 10, 71: a bad file is listed, with its path and reason, beside all the others."""
    store = FileSessionStore(program.data / "sessions")
    for key in ("one", "two"):
        store.create(replace(OTHER, header=header(key)))
    make_bad(program.data / "sessions")
    before = {name: data for name, (data, _) in BAD.items() if data}
    rows = {row["key"]: row for row in program.good("list", "--all", "--json").json}
    assert set(rows) == {"one", "two", *BAD}
    for name, (_, reason) in BAD.items():
        damage = rows[name]["damage"]
        assert damage["path"] == str(program.file(name)), name
        assert damage["reason"].startswith(reason), name
    assert rows["one"]["damage"] is None
    shown = program.good("list", "--all")
    assert shown.out.count("\n") >= len(BAD) + 2
    for name in ("zeros", "stale", "link", "v99"):
        for arguments in (("show", name), ("send", "-s", name, "hi")):
            result = program.run(*arguments)
            assert result.code == 5, (arguments, result)
            assert result.out == ""
            assert str(program.file(name)) in result.err, arguments
            assert BAD[name][1] in result.err, arguments
            assert "Traceback" not in result.err
    for name, data in before.items():
        assert program.file(name).read_bytes() == data
    assert program.texts("one") == program.texts("two")


def test_a_file_deleted_behind_its_back_is_not_found_and_named(program: Program) -> None:
    """Case 11: the files are what counts."""
    program.good("new", "gone")
    program.good("new", "there")
    program.good("list")
    program.file("gone").unlink()
    assert program.keys() == ["there"]
    result = program.run("show", "gone", "--json")
    assert (result.code, result.error["code"]) == (3, "session_not_found")
    assert "gone" in result.error["message"]


def test_what_was_copied_by_hand_is_a_session_like_any_other(program: Program) -> None:
    """Case 50: the file's name decides the key, whatever stands inside."""
    FileSessionStore(program.data / "sessions").create(RECORD)
    data = encode_session(header("../../pwned"), RECORD.entries)
    program.file("evil").write_bytes(data)
    assert {row["key"] for row in program.good("list", "--all", "--json").json} == {"k", "evil"}
    assert program.good("show", "evil", "--json").json["key"] == "evil"
    fork = program.good("fork", "evil").out.strip()
    assert fork == "evil-fork"
    assert sorted(os.listdir(program.place)) == ["cwd", "data", "script.json"]
    shutil.rmtree(program.data)


def test_the_bad_files_are_each_json_or_not_as_they_say() -> None:
    assert json.loads(BAD["v99"][0])["version"] == 99
