import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from shipchat.cli.listing import _as_tree
from shipchat.core.entries import ForkOrigin
from shipchat.core.summaries import SessionSummary
from tests.cli.conftest import Shell

NOW = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


def row(key: str, parent: str | None = None) -> SessionSummary:
    origin = ForkOrigin(parent, None, 1) if parent else None
    return SessionSummary(key=key, title=key, created=NOW, updated=NOW, forked_from=origin)


def test_the_table_is_aligned_by_cells(shell: Shell) -> None:
    shell.good("send", "-s", "wide", "日本語のチャット")
    shell.good("send", "-s", "narrow", "plain")
    shell.good("tag", "narrow", "work")
    assert shell.good("list").out == (
        "KEY      TITLE              TAGS    MESSAGES   AGE\n"
        "narrow   plain              #work          2   now\n"
        "wide     日本語のチャット                  2   now\n"
    )


def test_json_rows_have_the_documented_fields(shell: Shell) -> None:
    shell.good("send", "-s", "a", "one")
    (found,) = shell.good("list", "--json").json
    size = shell.file("a").stat().st_size
    assert {name: found[name] for name in found if not name.endswith("_at")} == {
        "key": "a",
        "title": "one",
        "tags": [],
        "archived": False,
        "messages": 2,
        "model": "scripted/echo",
        "size": size,
        "forked_from": None,
        "running": None,
        "damage": None,
    }
    assert datetime.fromisoformat(found["updated_at"]) - datetime.now(UTC) < timedelta(minutes=1)


def test_filters(shell: Shell) -> None:
    for key in ("a", "b", "c"):
        shell.good("send", "-s", key, key)
    shell.good("tag", "a", "x", "y")
    shell.good("tag", "b", "x")
    shell.good("archive", "c")

    def keys(*options: str) -> list[str]:
        return [one["key"] for one in shell.good("list", *options, "--json").json]

    assert keys() == ["b", "a"]
    assert keys("--tag", "x") == ["b", "a"]
    assert keys("--tag", "x", "--tag", "y") == ["a"]
    assert keys("--archived") == ["c"]
    assert keys("--all") == ["c", "b", "a"]
    assert keys("--all", "--limit", "2") == ["c", "b"]
    assert keys("--running") == keys("--damaged") == []
    assert shell.good("list", "--tag", "none").err == "No such sessions.\n"
    assert shell.good("list", "--all").lines[1].endswith("now   archived")


def test_a_damaged_file_harms_only_itself(shell: Shell) -> None:
    for key in ("a", "b", "c"):
        shell.good("send", "-s", key, key)
    bad = shell.file("bad")
    bad.write_bytes(bytes(413))
    result = shell.good("list")
    assert [line.split()[0] for line in result.lines] == ["KEY", "c", "b", "a", "bad"]
    assert result.lines[-1].startswith(f"bad   unreadable: {bad} (")
    assert [one["key"] for one in shell.good("list", "--damaged", "--json").json] == ["bad"]
    damage = shell.good("list", "--damaged", "--json").json[0]["damage"]
    assert (damage["path"], damage["code"]) == (str(bad), "session_damaged")
    for command in (("show", "bad"), ("send", "-s", "bad", "x"), ("fork", "bad"), ("resume", "bad")):
        refused = shell.run(*command, "--json") if command[0] in ("show", "fork") else shell.run(*command)
        assert (refused.code, refused.out) == (5, "")
        assert str(bad) in refused.err
    assert bad.read_bytes() == bytes(413)


def test_an_empty_file_is_damaged_too(shell: Shell) -> None:
    shell.good("new", "a")
    shell.file("empty").write_bytes(b"")
    assert shell.run("resume", "empty").code == 5
    assert shell.file("empty").read_bytes() == b""
    assert len(shell.good("list", "--json").json) == 2


def test_what_a_file_says_of_itself_names_no_path(shell: Shell) -> None:
    shell.good("new", "a")
    text = shell.file("a").read_text(encoding="utf-8")
    shell.file("b").write_text(text.replace('"key":"a"', '"key":"../../pwned"'), encoding="utf-8")
    assert {one["key"] for one in shell.good("list", "--json").json} == {"a", "b"}
    shell.run("fork", "b")
    assert list(shell.place.parent.rglob("*pwned*")) == []


def test_control_characters_of_a_title_are_made_visible(shell: Shell) -> None:
    shell.good("new", "a", "--title", "x\x1b]0;owned\x07\u202ey\u009b2J")
    for command in (("list",), ("show", "a"), ("list", "--tree"), ("resume", "a", "--read-only")):
        out = shell.good(*command).out
        assert "x␛]0;owned␇<U+202E>y<U+009B>2J" in out
        assert not {"\x1b", "\x07", "\u202e", "\u009b"} & set(out)


def test_the_tree_shows_forks_below_their_parents(shell: Shell) -> None:
    shell.good("send", "-s", "a", "one")
    shell.good("fork", "a", "--key", "b")
    shell.good("fork", "b", "--key", "c")
    shell.good("fork", "a", "--key", "d")
    shown = [re.split(r"(?<=\w) {3}", line)[0] for line in shell.good("list", "--tree").lines[1:]]
    assert shown in (["a", "├─ b", "│  └─ c", "└─ d"], ["a", "├─ d", "└─ b", "   └─ c"])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("a"), row("b", "gone")], ["a", "b"]),
        ([row("a", "a")], ["a"]),
        ([row("a", "b"), row("b", "a"), row("c")], ["c", "a", "b"]),
    ],
)
def test_a_tree_of_odd_origins_still_shows_everything(
    rows: list[SessionSummary], expected: list[str]
) -> None:
    assert [found.key for _, found in _as_tree(rows)] == expected


def test_a_very_deep_tree_is_no_recursion(shell: Shell) -> None:
    rows = [row("0")] + [row(str(number), str(number - 1)) for number in range(1, 3000)]
    assert len(_as_tree(rows)) == 3000


def test_json_survives_strange_titles(shell: Shell) -> None:
    shell.good("new", "a", "--title", 'quote " back \\ \u202e \U0001f600')
    assert json.loads(shell.good("list", "--json").out)[0]["title"] == 'quote " back \\ \u202e \U0001f600'
