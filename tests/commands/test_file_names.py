from pathlib import Path

import pytest

from shipchat.commands.file_names import matching_files, pasted


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("alpha.txt", "Alps.md", "beta.txt", ".hidden", "two words.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "alley").mkdir()
    (tmp_path / "alley" / "cat.png").write_text("x")
    return tmp_path


def test_names_that_begin_with_what_was_typed(here: Path) -> None:
    assert matching_files("al") == ["alley/", "Alps.md", "alpha.txt"]
    assert matching_files("alley/") == ["alley/cat.png"]
    assert matching_files("~/be") == ["~/beta.txt"]
    assert matching_files(f"{here}/be") == [f"{here}/beta.txt"]
    assert matching_files(".h") == [".hidden"]
    assert ".hidden" not in matching_files("")
    assert matching_files("nowhere/x") == matching_files("\0/") == []


def test_a_pasted_path_of_a_file_is_attached(here: Path) -> None:
    assert pasted(f"{here}/beta.txt") == f"@{here}/beta.txt "
    assert pasted("~/beta.txt\n") == "@~/beta.txt "
    spaced = f"{here}/two words.txt"
    for typed in (spaced, f"'{spaced}'", f"{here}/two\\ words.txt"):
        assert pasted(typed) == f'@"{spaced}" '
    for text in (
        "beta.txt",
        f"{here}",
        f"{here}/nothing",
        f"{here}/beta.txt and more",
        "a\nb",
        "",
        " ",
        "'/",
    ):
        assert pasted(text) == text
