import os
import unicodedata

import pytest

from tests.cli.conftest import Shell


def test_a_new_session_has_the_key_it_was_given(shell: Shell) -> None:
    assert (
        shell.good("new", "ticket-812", "--title", "Nightly export", "--system", "Be brief.").out
        == "ticket-812\n"
    )
    shown = shell.good("show", "ticket-812", "--json").json
    assert (shown["title"], shown["system"], shown["messages"]) == ("Nightly export", "Be brief.", [])
    again = shell.run("new", "ticket-812")
    assert (again.code, again.out) == (4, "")
    assert again.err.startswith("shipchat: ")
    assert "(session_exists)" in again.err
    assert shell.run("new", "TICKET-812").code == 4  # one file on a file system that folds case


def test_a_new_session_without_a_key_gets_one(shell: Shell) -> None:
    made = shell.good("new", "--json").json["key"]
    assert shell.keys() == [made]


@pytest.mark.parametrize("key", ["a/b", "../x", ".hidden", "a b", "CON", "x.json", "", "é"])
def test_a_key_that_can_be_no_file_name_is_refused(shell: Shell, key: str) -> None:
    result = shell.run("new", key, "--json")
    assert (result.code, result.out, result.error["code"]) == (2, "", "session_key_invalid")
    assert shell.keys() == []


def test_fork_prints_the_new_key_and_leaves_the_parent_alone(shell: Shell) -> None:
    shell.good("send", "-s", "a", "one")
    shell.good("send", "-s", "a", "two")
    before = shell.file("a").read_bytes()
    whole = shell.good("fork", "a").out.strip()
    part = shell.good("fork", "a", "--from-message", "2", "--json").json["key"]
    named = shell.good("fork", "-", "--key", "c", "--title", "Another way").out.strip()
    assert named == "c"
    for _ in range(2):
        shell.good("send", "-s", whole, "more")
    assert shell.file("a").read_bytes() == before
    assert shell.texts(whole)[:4] == shell.texts("a")
    assert shell.texts(part) == shell.texts("a")[:2]
    rows = {row["key"]: row for row in shell.good("list", "--json").json}
    titles = [row["title"] for row in rows.values()]
    assert len(set(titles)) == len(titles) == 4
    origin = shell.good("show", "a", "--json").json["messages"][1]["id"]
    assert rows[part]["forked_from"] == {"key": "a", "message": origin, "position": 2}


@pytest.mark.parametrize("position", ["0", "3", "-1", "x", "1.0"])
def test_fork_out_of_range_names_the_range_and_makes_nothing(shell: Shell, position: str) -> None:
    shell.good("send", "-s", "a", "one")
    result = shell.run("fork", "a", "--from-message", position, "--json")
    assert (result.code, result.out) == (3, "")
    assert (result.error["code"], result.error["details"]["first"], result.error["details"]["last"]) == (
        "message_not_found",
        1,
        2,
    )
    assert (
        "Valid: positions 1 to 2 or a message id." in shell.run("fork", "a", "--from-message", position).err
    )
    assert shell.keys() == ["a"]


def test_forks_of_forks_are_full_copies_with_names_of_their_own(shell: Shell) -> None:
    shell.good("send", "-s", "a", "one")
    b = shell.good("fork", "a").out.strip()
    c = shell.good("fork", b).out.strip()
    d = shell.good("fork", "a").out.strip()
    assert len({"a", b, c, d}) == 4
    assert [shell.texts(key) for key in (b, c, d)] == [shell.texts("a")] * 3
    assert len({row["title"] for row in shell.good("list", "--json").json}) == 4


NAMES = [
    "my chat",
    "日本語のチャット",
    unicodedata.normalize("NFD", "café"),
    "[/b] [TODO]",
    "a: b / c",
    "--json",
]


@pytest.mark.parametrize("title", NAMES)
def test_any_title_works_in_every_command(shell: Shell, title: str) -> None:
    shell.good("new", "k")
    shell.good("rename", "k", "--", title)
    assert shell.good("list", "--json").json[0]["title"] == title
    assert shell.good("show", "--json", "--", title).json["key"] == "k"
    shell.good("tag", "--", title, "x")
    shell.good("archive", "--", title)
    shell.good("unarchive", "--", title)
    assert shell.good("fork", "--", title).code == 0
    shell.good("rename", "--", title, "other")
    assert shell.good("show", "--json", "--", title).json["key"] == "k"  # a former title still finds it
    shell.good("delete", "other")
    assert shell.good("restore", "k").out == "k\n"


def test_titles_that_look_alike_are_told_apart(shell: Shell) -> None:
    nfc, nfd = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    for key, title in {"a": nfc, "b": nfd, "c": "Case", "d": "case"}.items():
        shell.good("new", key, "--title", title)
    found = [shell.good("show", title, "--json").json["key"] for title in (nfc, nfd, "Case", "case")]
    assert found == ["a", "b", "c", "d"]


EVERY = [
    ("show", "{}"),
    ("fork", "{}"),
    ("rename", "{}", "t"),
    ("tag", "{}", "t"),
    ("untag", "{}", "t"),
    ("archive", "{}"),
    ("unarchive", "{}"),
    ("resume", "{}", "--read-only"),
    ("delete", "{}"),
]


@pytest.mark.parametrize("command", EVERY, ids=[one[0] for one in EVERY])
def test_the_beginning_of_a_key_works_everywhere_and_is_never_guessed(
    shell: Shell, command: tuple[str, ...]
) -> None:
    for key in ("alpha-1", "beta-1", "beta-2"):
        shell.good("send", "-s", key, "one")
    before = {key: shell.file(key).read_bytes() for key in ("alpha-1", "beta-1", "beta-2")}

    ambiguous = shell.run(*(word.format("beta") for word in command))
    assert (ambiguous.code, ambiguous.out) == (3, "")
    assert "(session_ambiguous)" in ambiguous.err
    assert "beta-1" in ambiguous.err
    assert "beta-2" in ambiguous.err

    for name, code in {"": 2, "nope": 3}.items():
        assert shell.run(*(word.format(name) for word in command)).code == code
    assert {key: shell.file(key).read_bytes() for key in before} == before
    assert shell.good(*(word.format("alph") for word in command)).code == 0


def test_an_unknown_session_is_answered_with_the_nearest_keys_and_how_to_begin_it(shell: Shell) -> None:
    shell.good("new", "ticket-812")
    result = shell.run("resume", "ticket-821")
    assert (result.code, result.out) == (3, "")
    assert result.err.splitlines() == [
        "shipchat: there is no session 'ticket-821' (session_not_found)",
        "Nearest: ticket-812",
        "Begin it: shipchat new ticket-821",
    ]
    assert shell.run("show", "zzz", "--json").error["details"] == {"name": "zzz", "nearest": []}


def test_newest_is_one_thing_for_every_command(shell: Shell) -> None:
    assert shell.run("show", "-").code == 3
    for key in ("a", "b", "c"):
        shell.good("send", "-s", key, "one")
    shell.good("rename", "a", "renamed later")
    shell.good("tag", "b", "later")
    shell.good("archive", "c")
    assert [row["key"] for row in shell.good("list", "--json").json] == ["b", "a"]
    assert shell.good("show", "-", "--json").json["key"] == "b"
    assert "b · 2 messages" in shell.good("resume", "--last", "--read-only").out
    assert shell.good("resume", "--read-only").out == shell.good("resume", "-", "--read-only").out
    assert shell.good("list", "-n", "1", "--json").json[0]["key"] == "b"
    assert shell.good("send", "-s", "-", "two").code == 0
    assert len(shell.texts("b")) == 4


def test_tags_are_added_and_taken_off(shell: Shell) -> None:
    shell.good("new", "a")
    assert shell.good("tag", "a", "x", "y", "x", "--json").json == {"key": "a", "tags": ["x", "y"]}
    assert shell.good("untag", "a", "x").err == "a: #y\n"
    assert shell.run("tag", "a", "two words").code == 2
    assert shell.run("tag", "a").code == 2


def test_archiving_several_is_all_or_nothing_in_names(shell: Shell) -> None:
    for key in ("a", "b"):
        shell.good("new", key)
    assert shell.run("archive", "a", "nope").code == 3
    assert [row["key"] for row in shell.good("list", "--archived", "--json").json] == []
    assert shell.good("archive", "a", "b", "a", "--json").json == [
        {"key": "a", "archived": True},
        {"key": "b", "archived": True},
    ]
    assert shell.good("list").err == "No sessions yet. Begin one: shipchat send 'Hello'\n"
    assert shell.good("unarchive", "b").err == "b is back in the list\n"
    assert [row["key"] for row in shell.good("list", "--json").json] == ["b"]


def test_delete_says_how_to_undo_it_and_restore_does(shell: Shell) -> None:
    shell.good("send", "-s", "a", "one")
    before = shell.texts("a")
    assert shell.good("delete", "a").err == "a is in the trash; undo: shipchat restore a\n"
    assert shell.keys() == []
    assert shell.run("show", "a").code == 3
    assert [row["key"] for row in shell.good("trash", "--json").json] == ["a"]
    assert shell.good("trash").lines[1].split()[:2] == ["a", "one"]
    shell.good(
        "send", "-s", "a", "another"
    )  # a new session of that name is empty, and the old one comes back beside
    assert shell.texts("a")[0] == "another"
    restored = shell.good("restore", "--json").json["key"]
    assert restored != "a"
    assert shell.texts(restored) == before
    assert shell.run("restore").code == 3
    assert shell.good("trash").err == "The trash is empty.\n"


def test_titles_reach_no_shell_and_no_file_name(shell: Shell) -> None:
    for number, title in enumerate(['"; touch pwned; "', "$(touch pwned)", "`touch pwned`", "../../pwned"]):
        shell.good("new", f"k{number}", "--title", title)
        shell.good("fork", title)
        shell.good("list", "--tree")
        shell.good("delete", f"k{number}")
        shell.good("restore", title)
    assert [name for _, _, files in os.walk(shell.place) for name in files if "pwned" in name] == []
    assert os.listdir(shell.cwd) == []
