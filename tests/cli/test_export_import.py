import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.cli.program import Program


@pytest.fixture
def talked(shell: Shell) -> Shell:
    shell.good("send", "-s", "work", "Why?")
    return shell


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("x.md", "# Why?\n\n*work"),
        ("x.html", "<!doctype html>\n"),
        ("x.json", '{"format":"shipchat.export","version":1,'),
        ("x.txt", "Why?\nwork"),
    ],
)
def test_the_ending_of_the_file_decides(talked: Shell, tmp_path: Path, name: str, begins: str) -> None:
    path = tmp_path / name
    assert talked.good("export", "work", "-o", str(path)).err == f"work is in {path}\n"
    assert path.read_text(encoding="utf-8").startswith(begins)
    assert path.stat().st_mode & 0o777 == 0o600
    again = talked.run("export", "work", "-o", str(path))
    assert (again.code, again.out) == (2, "")
    assert "exists already" in again.err
    talked.good("export", "work", "-o", str(path), "--force")


def test_standard_output_gets_markdown_unless_told_otherwise(talked: Shell) -> None:
    assert talked.good("export", "work").out.startswith("# Why?\n")
    assert talked.good("export", "-", "--format", "text").out.startswith("Why?\n")
    assert talked.good("export", "work", "--json").json["session"]["key"] == "work"
    assert talked.run("export", "nothing").code == 3


def test_a_directory_gets_a_file_named_by_the_key_whatever_the_title(talked: Shell, tmp_path: Path) -> None:
    talked.good("rename", "work", "../../pwned; $(touch pwned)")
    receipt = talked.good("export", "work", "-o", str(tmp_path), "--json").json
    assert receipt["path"] == str(tmp_path / "work.md")
    assert receipt["bytes"] == (tmp_path / "work.md").stat().st_size
    assert talked.run("export", "work", "-o", str(tmp_path / "x.pdf")).code == 2


def test_a_file_that_claims_another_key_exports_under_its_own(talked: Shell, tmp_path: Path) -> None:
    # What names a session is its file, not what is inside it.
    data = talked.file("work").read_bytes()
    header, rest = data.split(b"\n", 1)
    from shipchat.core.entries import SessionHeader
    from shipchat.formats.header import encode_header
    from shipchat.testing.samples import START

    forged = encode_header(SessionHeader(key="../../pwned", created=START))
    assert forged != header
    talked.file("work").write_bytes(forged + b"\n" + rest)
    talked.good("export", "work", "-o", str(tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text())["session"]["key"] == "work"


def test_a_round_trip_gives_the_same_messages_under_a_new_key(talked: Shell, tmp_path: Path) -> None:
    path = tmp_path / "work.json"
    talked.good("export", "work", "-o", str(path))
    before = talked.file("work").read_bytes()
    assert talked.good("import", str(path), str(path)).out == "work-imported\nwork-imported2\n"
    assert talked.file("work").read_bytes() == before
    first, second = (talked.good("show", key, "--json").json for key in ("work", "work-imported"))
    assert first["messages"] == second["messages"]
    value = talked.good("import", str(path), "--json").json
    assert value == [
        {
            "key": "work-imported3",
            "original_key": "work",
            "title": "Why?",
            "messages": 2,
            "attachments": 0,
            "notes": [],
        }
    ]


def test_nothing_in_an_imported_file_is_followed(talked: Shell, tmp_path: Path) -> None:
    path = tmp_path / "work.json"
    talked.good("export", "work", "-o", str(path))
    value = json.loads(path.read_text())
    value["session"] |= {"key": "../../pwned", "cwd": "/", "base_url": "http://evil", "path": "/etc/passwd"}
    value["workspace"] = "/"
    path.write_text(json.dumps(value))
    key = talked.good("import", str(path)).out.strip()
    assert "pwned" not in key
    assert talked.texts(key) == talked.texts("work")
    assert list(talked.place.rglob("*pwned*")) == []


def test_one_bad_file_and_none_is_imported(talked: Shell, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    talked.good("export", "work", "-o", str(good))
    bad.write_bytes(good.read_bytes()[:-40])
    result = talked.run("import", str(good), str(bad))
    assert (result.code, result.out, talked.keys()) == (5, "", ["work"])
    assert talked.run("import", str(tmp_path)).code == 2
    assert talked.run("import", str(tmp_path / "missing.json")).code == 2


def test_exports_are_utf_8_whatever_the_locale(program: Program) -> None:
    program.good("send", "-s", "work", "東京")
    env = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    assert "東京" in program.good("export", "work", env=env).out
