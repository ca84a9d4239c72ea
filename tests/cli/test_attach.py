"""`send --attach` from the command line to the model, and what becomes of the files."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.core.test_attachments import PNG

EVERYTHING = ["text", "image", "pdf"]


@pytest.fixture
def program(shell: Shell) -> Shell:
    return shell


def sent(program: Shell) -> list[str]:
    log = (program.place / "log").read_text().splitlines()
    return [json.loads(line)["sent"] for line in log]


def test_files_are_sent_shown_and_exported(program: Shell) -> None:
    program.script([{"chunks": ["ok"]}], accepts=EVERYTHING, log=str(program.place / "log"))
    (program.cwd / "notes.md").write_text("all well\n")
    (program.cwd / "cat.png").write_bytes(PNG)
    program.good("send", "-s", "a", "--attach", "notes.md", "--attach", "cat.png", "Look")
    assert sent(program) == [
        "system: S\nuser: Look\n\nContents of the file notes.md:\n\n```\nall well\n```\n [cat.png, image/png, 28]"
    ]
    parts = program.good("show", "a", "--json").json["messages"][0]["parts"]
    assert [(part.get("name"), part.get("size")) for part in parts] == [
        (None, None),
        ("notes.md", 9),
        ("cat.png", 28),
    ]
    assert sorted(os.listdir(program.data / "blobs")) == sorted(part["sha256"] for part in parts[1:])
    shown = program.good("show", "a").out
    assert "[notes.md, 9 bytes]" in shown
    assert "[cat.png, 28 bytes]" in shown
    assert "cat.png" in program.good("export", "a", "--format", "markdown").out
    program.good("export", "a", "-o", "a.json")
    exported = json.loads((program.cwd / "a.json").read_text())
    assert len(exported["attachments"]) == 2


def test_a_model_that_takes_only_text_refuses_a_picture(program: Shell) -> None:
    (program.cwd / "cat.png").write_bytes(PNG)
    result = program.run("send", "-s", "a", "--attach", "cat.png", "Look")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err.splitlines()[0]
        == "shipchat: scripted/echo takes no pictures: cat.png can't be sent (usage)"
    )
    assert program.keys() == []
    assert not (program.data / "blobs").exists()


def test_what_can_not_be_attached_is_refused(program: Shell) -> None:
    (program.cwd / "a.bin").write_bytes(b"\0")
    for name, reason in (
        ("a.bin", "it is neither a PNG, JPEG, GIF or WebP picture, nor a PDF, nor text in UTF-8"),
        ("missing", "no such file or directory"),
        (".", "it is no regular file"),
    ):
        result = program.run("send", "-s", "a", "--attach", name, "Look")
        assert (result.code, result.out) == (2, "")
        assert result.err.splitlines()[0].endswith(f" can't be attached: {reason} (usage)")
    assert program.keys() == []


def test_ten_large_pictures_leave_the_session_file_small(program: Shell) -> None:
    program.script([{"chunks": ["ok"]}], accepts=EVERYTHING)
    arguments = []
    for number in range(10):
        (program.cwd / f"{number}.png").write_bytes(PNG + bytes([number]) + b"\0" * 2_000_000)
        arguments += ["--attach", f"{number}.png"]
    program.good("send", "-s", "a", *arguments, "Look")
    program.good("send", "-s", "b", *arguments, "Look again")
    assert program.file("a").stat().st_size < 5_000
    blobs = [Path(entry.path) for entry in os.scandir(program.data / "blobs")]
    assert len(blobs) == 10
    # Purging one session leaves what the other has.
    for blob in blobs:
        os.utime(blob, (1, 1))
    assert program.good("purge", "a", "--yes", "--json").json["attachments"] == 0
    assert program.good("purge", "b", "--yes", "--json").json["attachments"] == 10


def test_a_hostile_name_does_no_harm(program: Shell) -> None:
    name = "a\x1b]0;owned\x07\n.txt"
    (program.cwd / name).write_text("words")
    result = program.good("send", "-s", "a", "--attach", name, "Look")
    assert "\x1b" not in result.out
    assert "\x1b" not in program.good("show", "a").out
    assert "\\u001b" not in program.file("a").read_text()


def test_a_path_in_the_prompt_is_only_text(program: Shell) -> None:
    (program.cwd / "notes.md").write_text("secret\n")
    program.good("send", "-s", "a", "See @notes.md")
    assert program.texts("a") == ["See @notes.md", "system: S\nuser: See @notes.md\n"[:-1]]
    assert not (program.data / "blobs").exists()


def test_nothing_is_kept_of_a_private_one(program: Shell) -> None:
    (program.cwd / "notes.md").write_text("secret\n")
    result = program.good("send", "--no-save", "--attach", "notes.md", "Look")
    assert "secret" in result.out
    assert not (program.data / "blobs").exists()
