"""One setting changes, and every other byte of the file stays as somebody wrote it."""

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.config.edit import add_table, set_setting, with_setting
from shipchat.core.errors import ConfigInvalid, StoreUnavailable

BY_HAND = """\
# mine, keep out
default_model = "local/smollm2"   # small
theme  =  'dark' # for the night
[local]
# about the model
threads = 2
theme = "not this one"
"""


def test_a_value_is_replaced_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(BY_HAND)
    set_setting(path, "theme", "light")
    assert path.read_text() == BY_HAND.replace("'dark' #", '"light" #')


def test_a_new_setting_stands_before_the_first_table(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(BY_HAND)
    set_setting(path, "edit", "fork")
    assert path.read_text() == BY_HAND.replace("[local]", 'edit = "fork"\n[local]')


def test_a_comment_above_a_table_stays_with_it() -> None:
    assert with_setting("\n# about it\n[local]\n", "edit", "fork") == 'edit = "fork"\n\n# about it\n[local]\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'theme = "x"\n'),
        ("edit = 'fork'", "edit = 'fork'\ntheme = \"x\"\n"),
        ("theme='a'\r\nedit='fork'\r\n", "theme=\"x\"\r\nedit='fork'\r\n"),
        ("motion = true\n", 'motion = true\ntheme = "x"\n'),
    ],
)
def test_ends_of_files_and_lines(before: str, after: str) -> None:
    assert with_setting(before, "theme", "x") == after


def test_a_new_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "config.toml"
    set_setting(path, "theme", "dark")
    assert path.read_text() == 'theme = "dark"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"]


def test_modes_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("edit = 'fork'\n")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    set_setting(link, "theme", "dark")
    assert link.is_symlink()
    assert real.read_text() == "edit = 'fork'\ntheme = \"dark\"\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("broken", ["theme = ", "[x", "theme = 'a'\ntheme = 'b'\n"])
def test_what_is_no_toml_is_left_alone(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(broken)
    with pytest.raises(ConfigInvalid):
        set_setting(path, "theme", "dark")
    assert path.read_text() == broken


def test_a_value_over_several_lines_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    text = 'theme = """\ndark"""\n'
    path.write_text(text)
    with pytest.raises(ConfigInvalid):
        set_setting(path, "theme", "light")
    assert path.read_text() == text


def test_a_directory_that_cant_be_written_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StoreUnavailable):
        set_setting(file / "config.toml", "theme", "dark")
    assert os.listdir(tmp_path) == ["file"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_comes_back(value: str) -> None:
    changed = with_setting(BY_HAND, "theme", value)
    assert tomllib.loads(changed) == {**tomllib.loads(BY_HAND), "theme": value}


def test_a_table_is_added_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# mine\ntheme = 'x'  # why\n[local]\nthreads = 2", encoding="utf-8")
    add_table(path, "providers", "my.host", {"kind": "openai", "models": ("a", 'b"c')})
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# mine\ntheme = 'x'  # why\n[local]\nthreads = 2\n\n[providers.")
    assert tomllib.loads(text)["providers"] == {"my.host": {"kind": "openai", "models": ["a", 'b"c']}}
    with pytest.raises(ConfigInvalid, match="already"):
        add_table(path, "providers", "my.host", {"kind": "openai"})
    assert path.read_text(encoding="utf-8") == text


def test_a_table_written_in_one_line_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("providers = {a = {kind = 'openai'}}\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid):
        add_table(path, "providers", "b", {"kind": "openai"})
    assert path.read_text(encoding="utf-8") == "providers = {a = {kind = 'openai'}}\n"
