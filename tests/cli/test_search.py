from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.test_imports import HEAVY, loaded_by


@pytest.fixture
def talked(shell: Shell) -> Shell:
    shell.good("send", "-s", "work", "Why does the nightly export fail?")
    shell.good("send", "-s", "other", "call getUserName() 東京都に住む")
    return shell


def test_hits_are_printed_with_their_place(talked: Shell) -> None:
    out = talked.good("search", "nightly", "export", "--role", "user").lines
    assert out == [
        "work   message 1 · you · now   Why does the nightly export fail?",
        "    Why does the nightly export fail?",
    ]
    assert talked.good("search", "username", "--role", "user").lines[0].startswith("other   message 1 · you")
    assert "東京都" in talked.good("search", "東京").out


def test_json(talked: Shell) -> None:
    value = talked.good("search", '"nightly export"', "--json", "--role", "user").json
    [hit] = value.pop("hits")
    assert value == {
        "query": '"nightly export"',
        "complete": True,
        "missing": 0,
        "more": False,
        "widened": False,
    }
    assert (hit["key"], hit["position"], hit["on_path"], hit["branch"]) == ("work", 1, True, None)
    begin, end = hit["marks"][0]
    assert hit["snippet"][begin:end] == "nightly export"


def test_nothing_found_is_said_and_no_error(talked: Shell) -> None:
    assert talked.good("search", "quokka") == type(talked.good("list"))(0, "", "Nothing found.\n")
    assert talked.good("search", "*(").err == "Nothing found.\n"
    talked.good("archive", "work")
    assert talked.good("search", "nightly").err == "Only archived sessions have it: add --all.\n"
    assert "work   message 1 · you · now · archived" in talked.good("search", "nightly", "--all").out
    assert "work" in talked.good("search", "nightly", "--archived").out
    assert talked.good("search", "nigh", "--all").err == "No whole words match; these begin like that.\n"


def test_filters_and_bad_dates(talked: Shell) -> None:
    talked.good("tag", "work", "ops")
    assert talked.good("search", "nightly", "--tag", "ops", "--json").json["hits"]
    assert not talked.good("search", "nightly", "--tag", "op", "--json").json["hits"]
    assert talked.good("search", "nightly", "--since", "2h", "--json").json["hits"]
    assert not talked.good("search", "nightly", "--since", "2200-01-01", "--json").json["hits"]
    assert talked.run("search", "nightly", "--since", "soon").code == 2
    assert talked.run("search").code == 2


def test_nothing_in_a_hit_steers_the_terminal(shell: Shell) -> None:
    shell.good("send", "-s", "evil", "zebra \x1b]52;c;aGk=\x1b\\ \x9b2J \u202eabc")
    out = shell.good("search", "zebra").out
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)


def test_a_damaged_index_is_made_anew(talked: Shell) -> None:
    talked.good("search", "nightly")
    index = talked.data / "cache" / "index.sqlite3"
    index.write_bytes(b"no database " * 1000)
    assert "work" in talked.good("search", "nightly", "--wait").out


def test_without_a_place_for_an_index_search_says_so_and_lists_still_work(talked: Shell) -> None:
    cache = talked.data / "cache"
    assert not cache.exists()  # listing a few sessions needs no index
    cache.write_text("in the way", encoding="utf-8")
    result = talked.run("search", "nightly")
    assert (result.code, result.out) == (6, "")
    assert "there can be no search" in result.err
    assert talked.keys() == ["other", "work"]
    assert "index: not available" in talked.good("doctor").out


def test_old_titles_and_titles_still_resolve(talked: Shell) -> None:
    talked.good("rename", "work", "First name")
    talked.good("rename", "work", "Second name")
    for name in ("work", "wor", "First name", "Second name"):
        assert talked.good("show", name, "--json").json["key"] == "work"


def test_it_makes_nothing_before_there_are_sessions(shell: Shell, tmp_path: Path) -> None:
    assert shell.good("search", "x").err == "Nothing found.\n"
    shell.good("doctor")
    assert not shell.data.exists()


@pytest.mark.parametrize(
    "command", [("search", "word"), ("doctor",), ("export", "work"), ("branches", "work")], ids=" ".join
)
def test_none_of_the_heavy_libraries_is_loaded(tmp_path: Path, command: tuple[str, ...]) -> None:
    loaded_by(tmp_path, "new", "work", "--title", "A word")
    assert loaded_by(tmp_path, *command) & HEAVY == set()
