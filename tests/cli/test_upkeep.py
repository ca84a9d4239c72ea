import os
import time

import pytest

from shipchat.core.entries import HeadEntry
from shipchat.stores.file.store import FileSessionStore
from shipchat.testing.samples import START
from tests.cli.conftest import Shell


@pytest.fixture
def talked(shell: Shell) -> Shell:
    shell.good("send", "-s", "work", "One")
    shell.good("send", "-s", "work", "Two")
    return shell


def rewind(shell: Shell, key: str, target: str) -> None:
    store = FileSessionStore(shell.data / "sessions")
    _, cursor = store.open(key)
    store.append(key, [HeadEntry(id="rewind", at=START, target=target)], cursor, exclusive=True)


def ids(shell: Shell, key: str) -> list[str]:
    return [message["id"] for message in shell.good("show", key, "--json").json["messages"]]


# --- pins ---


def test_pins_come_and_go(talked: Shell) -> None:
    first = ids(talked, "work")[0]
    assert talked.good("pin", "work", "1").err == "work: pinned: 1\n"
    assert talked.good("pin", "work", first, "--json").json == {
        "key": "work",
        "pins": [{"message_id": first, "position": 1}],
    }
    assert talked.good("unpin", "work", "1").err == "work: nothing is pinned\n"
    wrong = talked.run("pin", "work", "9")
    assert (wrong.code, wrong.err.splitlines()[1]) == (3, "Valid: positions 1 to 4 or a message id.")


def test_pinning_is_refused_while_a_turn_runs(talked: Shell) -> None:
    hold = FileSessionStore(talked.data / "sessions").hold("work", "test")
    before = talked.file("work").read_bytes()
    try:
        assert talked.run("pin", "work", "1", "--json").error["code"] == "session_held"
    finally:
        hold.release()
    assert talked.file("work").read_bytes() == before


# --- branches ---


def test_branches_and_forks_are_drawn(talked: Shell) -> None:
    one, two, three, four = ids(talked, "work")
    rewind(talked, "work", two)
    talked.good("send", "-s", "work", "Other")
    talked.good("fork", "work", "--from-message", "2", "--key", "side")
    other = ids(talked, "work")
    assert talked.good("branches", "work").lines == [
        "work   One",
        f"└─ 1-2  you: One  [{two}]",
        f"   ├─ 3-4  you: Two  [{four}]",
        f"   └─ 3-4  you: Other  [{other[3]}] (current)",
        "fork side after message 2: One (fork)",
    ]
    value = talked.good("branches", "work", "--json").json
    assert [(row["first"], row["last"], row["after"], row["current"]) for row in value["branches"]] == [
        (1, 2, None, True),
        (3, 4, two, False),
        (3, 4, two, True),
    ]
    assert [(row["key"], row["position"], row["message"]) for row in value["forks"]] == [("side", 2, two)]
    side = talked.good("branches", "side", "--json").json
    assert side["forked_from"] == {
        "key": "work",
        "message": two,
        "position": 2,
        "title": "One",
        "exists": True,
    }
    assert talked.good("branches", "side").lines[-1] == "forked from work after message 2"
    assert [one, three] == [value["branches"][0]["begin"], value["branches"][1]["begin"]]


def test_an_empty_session_has_no_branches(shell: Shell) -> None:
    shell.good("new", "empty")
    assert shell.good("branches", "empty").lines == ["empty", "no messages yet"]


# --- erasing ---


def test_purge_leaves_nothing_of_it_anywhere(talked: Shell) -> None:
    talked.good("send", "-s", "gone", "zebrasecret")
    talked.good("search", "zebrasecret")
    talked.good("delete", "gone")
    talked.good("send", "-s", "gone", "zebrasecret again")
    drafts = talked.data / "sessions" / ".drafts"
    window = FileSessionStore(talked.data / "sessions").open_window("gone")
    window.write("zebrasecret unsent")
    window.close()
    assert len(list(drafts.glob("gone.*"))) == 1
    blobs = talked.data / "blobs"
    blobs.mkdir()
    for name in ("a" * 64, "b" * 64):
        (blobs / name).write_bytes(b"zebrasecret")
    os.utime(blobs / ("a" * 64), (time.time() - 7200,) * 2)  # nobody's; the other one is too new to tell
    refused = talked.run("purge", "gone")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert talked.file("gone").exists()
    result = talked.good("purge", "gone", "--yes", "--json").json
    assert result == {"purged": [{"key": "gone", "files": 3}], "attachments": 1}
    (blobs / ("b" * 64)).unlink()
    left = [path for path in talked.data.rglob("*") if path.is_file() and b"zebrasecret" in path.read_bytes()]
    assert left == []
    assert talked.keys() == ["work"]
    assert talked.run("restore", "gone").code == 3
    assert talked.good("search", "Two", "--json").json["hits"]


def test_purge_knows_the_trash_and_needs_names(talked: Shell) -> None:
    talked.good("delete", "work")
    assert talked.run("purge").code == 2
    assert talked.run("purge", "work", "--all").code == 2
    assert talked.run("purge", "nothing", "--yes").code == 3
    assert talked.good("purge", "work", "--yes").err == "work is erased\n"
    assert talked.good("trash").err == "The trash is empty.\n"


def test_purge_is_refused_while_a_turn_runs(talked: Shell) -> None:
    hold = FileSessionStore(talked.data / "sessions").hold("work", "test")
    try:
        assert talked.run("purge", "work", "--yes").code == 4
    finally:
        hold.release()
    assert talked.keys() == ["work"]


def test_purge_all(talked: Shell) -> None:
    talked.good("send", "-s", "b", "x")
    talked.good("delete", "b")
    assert [one["key"] for one in talked.good("purge", "--all", "-y", "--json").json["purged"]] == [
        "work",
        "b",
    ]
    assert (talked.keys(), talked.good("trash", "--json").json) == ([], [])
    assert talked.good("purge", "--all").err == "There is nothing to erase.\n"


def test_the_trash_can_be_emptied(talked: Shell) -> None:
    talked.good("send", "-s", "b", "zebrasecret")
    talked.good("search", "zebrasecret")
    talked.good("delete", "b")
    assert talked.run("trash", "--empty").code == 2
    assert len(talked.good("trash", "--json").json) == 1
    assert talked.good("trash", "--empty", "--yes").err == "Erased for good: 1 deleted session.\n"
    assert talked.good("trash", "--empty").err == "The trash is empty.\n"
    assert talked.keys() == ["work"]
    left = [path for path in talked.data.rglob("*") if path.is_file() and b"zebrasecret" in path.read_bytes()]
    assert left == []


# --- repair and doctor ---


def damage(shell: Shell, key: str) -> None:
    path = shell.file(key)
    path.write_bytes(path.read_bytes().replace(b'"text":"Two"', b'"text":"Too"', 1))


def test_repair_says_what_it_keeps_and_keeps_a_copy(talked: Shell) -> None:
    assert talked.good("repair", "work").err == "Nothing is wrong with work.\n"
    damage(talked, "work")
    harmed = talked.file("work").read_bytes()
    dry = talked.good("repair", "work", "--dry-run")
    assert "the checksum does not match" in dry.lines[0]
    assert talked.run("repair", "work").code == 2
    assert talked.file("work").read_bytes() == harmed
    value = talked.good("repair", "work", "--yes", "--json").json
    assert (value["repaired"], value["key"]) == (True, "work")
    with open(value["backup"], "rb") as file:
        assert file.read() == harmed
    assert talked.texts("work")[0] == "One"
    assert talked.good("list", "--damaged", "--json").json == []


def test_doctor_is_content_with_what_is_in_order(talked: Shell) -> None:
    talked.data.chmod(0o700)
    value = talked.good("doctor", "--json").json
    assert value["healthy"] is True
    states = {check["name"]: check["state"] for check in value["checks"]}
    assert states.pop("model") in ("ok", "note")
    assert states.pop("terminal") in ("ok", "note")
    assert set(states.values()) == {"ok"}, value
    assert {"data", "permissions", "locks", "sessions", "leftovers", "index", "python"} == set(states)


def test_doctor_names_what_is_damaged(talked: Shell) -> None:
    damage(talked, "work")
    result = talked.run("doctor")
    assert result.code == 5
    [line] = [line for line in result.lines if line.startswith("BAD")]
    assert str(talked.file("work")) in line
    assert line.endswith("shipchat repair work --dry-run")
    assert talked.run("doctor", "--json").json["healthy"] is False


def test_a_session_file_that_was_removed_by_something_else_is_named(talked: Shell) -> None:
    talked.good("search", "One")
    talked.file("work").unlink()
    assert f"gone: {talked.file('work')} was there before" in talked.good("doctor").out


def test_doctor_before_the_first_session(shell: Shell) -> None:
    assert "is not there yet" in shell.good("doctor").out


def test_a_tree_of_forks_is_listed_below_its_parents(talked: Shell) -> None:
    talked.good("fork", "work", "--key", "child")
    talked.good("fork", "child", "--key", "grandchild")
    talked.good("delete", "child")
    talked.good("fork", "work", "--key", "second")
    lines = talked.good("list", "--tree").lines[1:]
    assert [line.split("   ")[0].strip() for line in lines] == ["work", "└─ second", "grandchild"]
    talked.good("restore", "child")
    lines = talked.good("list", "--tree").lines[1:]
    assert [line.partition("   One")[0].rstrip() for line in lines] == [
        "work",
        "├─ second",
        "└─ child",
        "   └─ grandchild",
    ]
