import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from shipchat.core.entries import HeadEntry, SetEntry
from shipchat.core.errors import StoreUnavailable
from shipchat.core.messages import ToolCallPart, ToolResult
from shipchat.core.search import IndexProgress, SearchHit, SearchResult
from shipchat.index import full_text
from shipchat.index.catalogue import IndexedCatalogue
from shipchat.index.search import SessionSearch
from shipchat.sessions.session_manager import SessionManager
from tests.index.place import START, Place, prompt, reply


def test_a_hit_says_where_it_stands(place: Place) -> None:
    place.put(
        "work",
        [
            prompt("1", None, "Why does the nightly export fail?"),
            reply(
                "2",
                "1",
                "Let me see.",
                ToolCallPart("c", "run_query", '{"sql": "select"}', ToolResult("zebra")),
            ),
            SetEntry(id="s", at=START, title="Exports", by="user", add_tags=("ops",)),
        ],
    )
    result = place.search().search("zebra", patience=30)
    assert result == SearchResult(
        hits=(
            SearchHit(
                key="work",
                title="Exports",
                role="assistant",
                at=START,
                snippet='Let me see. run_query {"sql": "select"} zebra',
                marks=((40, 45),),
                message_id="2",
                position=2,
                tags=("ops",),
                score=result.hits[0].score,
            ),
        )
    )


def test_titles_old_titles_and_tags_are_found(place: Place) -> None:
    place.put("work", [prompt("1", None, "hello")])
    manager = SessionManager(place.store)
    manager.rename("work", "Quokka")
    assert place.search().search("quokka", patience=30).hits[0].role == "title"
    manager.rename("work", "Wombat")
    manager.tag("work", add=["marsupial"])
    search = place.search()
    for word in ("quokka", "wombat", "marsupial"):
        assert [(hit.key, hit.title) for hit in search.search(word, patience=30).hits] == [("work", "Wombat")]


def test_messages_on_another_branch_name_it(place: Place) -> None:
    place.put(
        "work",
        [
            prompt("1", None, "one"),
            reply("2", "1", "quokka here"),
            prompt("3", "2", "more of it"),
            reply("4", "1", "wombat there"),
        ],
    )
    search = place.search()

    def where(word: str) -> tuple[int | None, bool, str | None]:
        [hit] = search.search(word, patience=30).hits
        return hit.position, hit.on_path, hit.branch

    assert where("quokka") == (2, False, "3")
    assert where("wombat") == (2, True, None)
    place.append("work", HeadEntry(id="h", at=START, target="3"))
    search = place.search()
    assert where("quokka") == (2, True, None)
    assert where("wombat") == (2, False, "4")


def test_filters(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra"), reply("2", "1", "zebra too", minute=60)])
    place.put("b", [prompt("1", None, "zebra", minute=120)])
    manager = SessionManager(place.store)
    manager.tag("a", add=["work"])
    manager.tag("b", add=["workshop"])
    manager.archive("b")
    search = place.search()

    def keys(**chosen: object) -> list[tuple[str, int | None]]:
        hits = search.search("zebra", patience=30, **chosen).hits  # type: ignore[arg-type]
        return sorted((hit.key, hit.position) for hit in hits)

    assert keys() == [("a", 1), ("a", 2), ("b", 1)]
    assert keys(tags=["work"]) == [("a", 1), ("a", 2)]
    assert keys(tags=["work", "workshop"]) == []
    assert keys(archived=False) == [("a", 1), ("a", 2)]
    assert keys(archived=True) == [("b", 1)]
    assert keys(role="user") == [("a", 1), ("b", 1)]
    assert keys(role="assistant") == [("a", 2)]
    assert keys(since=START + timedelta(minutes=90)) == [("b", 1)]
    assert keys(per_session=1) == [("a", 2), ("b", 1)] or keys(per_session=1) == [("a", 1), ("b", 1)]
    few = search.search("zebra", limit=2, patience=30)
    assert (len(few.hits), few.more) == (2, True)


def test_the_better_and_the_newer_come_first(place: Place) -> None:
    place.put("vague", [prompt("1", None, "zebra " + "and other things " * 40, minute=5)])
    place.put("exact", [prompt("1", None, "zebra", minute=5)])
    place.put("newer", [prompt("1", None, "zebra", minute=60 * 24 * 20)])
    assert [hit.key for hit in place.search().search("zebra", patience=30).hits] == [
        "newer",
        "exact",
        "vague",
    ]


def test_no_whole_word_looks_for_beginnings(place: Place) -> None:
    place.put("a", [prompt("1", None, "The nightly export")])
    search = place.search()
    result = search.search("expo", patience=30)
    assert ([hit.key for hit in result.hits], result.widened) == (["a"], True)
    assert not search.search("export", patience=30).widened
    assert [hit.key for hit in search.search("nightly ex", prefix_last=True).hits] == ["a"]


def test_what_is_appended_replaced_deleted_and_restored_is_followed(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra")])
    place.put("b", [prompt("1", None, "quokka")])
    assert place.found("zebra") == [("a", 1)]
    place.append("a", reply("2", "1", "wombat"))
    assert place.found("wombat") == [("a", 2)]
    assert place.found("zebra") == [("a", 1)]
    place.file("a").write_bytes(place.file("b").read_bytes())
    assert (place.found("zebra"), place.found("wombat")) == ([], [])
    assert place.found("quokka") == [("a", 1), ("b", 1)]
    manager = SessionManager(place.store)
    manager.delete("b")
    assert place.found("quokka") == [("a", 1)]
    manager.restore("b")
    assert place.found("quokka") == [("a", 1), ("b", 1)]


def test_the_readable_part_of_a_damaged_session_is_found(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra"), prompt("2", "1", "quokka"), prompt("3", "2", "wombat")])
    path = place.file("a")
    path.write_bytes(path.read_bytes().replace(b"quokka", b"quakka"))
    assert place.found("zebra") == [("a", 1)]
    assert place.found("wombat") == []


def test_an_index_that_lags_never_shows_what_the_files_no_longer_say(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra")])
    search = place.search()
    assert len(search.search("zebra", patience=30).hits) == 1
    place.file("a").unlink()
    assert search.search("zebra").hits == ()  # although it has not looked at the directory again


def test_a_long_session_is_indexed_in_pieces(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_text, "_BATCH_BYTES", 2000)
    entries = [prompt("m0", None, "word0 " + "x" * 500)]
    entries += [prompt(f"m{n}", f"m{n - 1}", f"word{n} " + "x" * 500) for n in range(1, 40)]
    place.put("long", entries)
    seen: list[IndexProgress] = []
    assert place.search().catch_up(progress=seen.append) == IndexProgress(1, 1)
    assert len(seen) > 5
    for n in (0, 17, 39):
        assert place.found(f"word{n}") == [("long", n + 1)]


def test_catching_up_can_be_broken_off_and_resumed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_text, "_BATCH_SESSIONS", 3)
    for number in range(20):
        place.put(f"s{number:02}", [prompt("1", None, f"word{number}")])
    search = place.search()
    steps: list[IndexProgress] = []
    now = search.catch_up(progress=steps.append, stop=lambda: len(steps) == 2)
    assert now == IndexProgress(6, 20)
    partly = search.search("word1", patience=0.0)
    assert (partly.complete, partly.missing) == (False, 14)
    assert place.search().catch_up() == IndexProgress(20, 20)
    assert place.found("word19") == [("s19", 1)]


def test_newest_files_are_searched_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_text, "_BATCH_SESSIONS", 1)
    for number in range(5):
        place.put(f"s{number}", [prompt("1", None, "zebra")])
        os.utime(place.file(f"s{number}"), (1_700_000_000 + number,) * 2)
    search = place.search()
    done: list[IndexProgress] = []
    search.catch_up(progress=done.append, stop=lambda: len(done) == 2)
    assert sorted(hit.key for hit in search.search("zebra", patience=0.0).hits) == ["s3", "s4"]


def test_forgetting_leaves_no_word_of_what_is_gone(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebrasecret")])
    place.put("b", [prompt("1", None, "quokka")])
    search = place.search()
    assert len(search.search("zebrasecret", patience=30).hits) == 1
    place.store.purge("a")
    search.forget()
    search.close()
    assert all(b"zebrasecret" not in path.read_bytes() for path in place.path.parent.iterdir())
    assert place.found("quokka") == [("b", 1)]


def test_without_an_index_it_says_so(place: Place) -> None:
    place.put("a", [prompt("1", None, "zebra")])
    (place.directory / "file").write_text("", encoding="utf-8")
    catalogue = IndexedCatalogue(place.store, place.root, place.directory / "file" / "index.sqlite3")
    search = SessionSearch(catalogue, place.root)
    with pytest.raises(StoreUnavailable, match="there can be no search: not a directory"):
        search.search("zebra")
    assert search.state().problem == "not a directory"


WORKER = """
import sys
from pathlib import Path
from shipchat.index import catalogue, full_text
from tests.index.place import Place
catalogue.SMALL_COUNT = -1
full_text._BATCH_SESSIONS = 7
place = Place(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
search = place.search()
if int(sys.argv[2]) % 2:
    print(search.catch_up().complete)
else:
    print(search.search("zebra", patience=60, limit=1).complete)
"""


def test_several_processes_index_at_once_and_nothing_twice(place: Place) -> None:
    count = 60
    for number in range(count):
        place.put(f"s{number:02}", [prompt("1", None, "zebra"), reply("2", "1", f"word{number}")])
    root = Path(__file__).parents[2]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(place.directory), str(number)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    said = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        out, _ = worker.communicate(timeout=60)
        said.append(out)
        assert worker.returncode == 0
    assert said == ["True\n"] * 4
    assert place.found("zebra") == [(f"s{number:02}", 1) for number in range(count)]
    assert place.found("word59") == [("s59", 2)]
    state = place.search().state()
    assert (state.problem, state.rebuilt, state.sessions) == (None, None, count)
