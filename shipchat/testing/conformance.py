"""What every session store must do, as tests that anyone can run on a store of their own.

    from shipchat.testing.conformance import StoreConformance

    class TestMyStore(StoreConformance):
        def make_store(self):
            return MyStore(...)          # empty, a new one for each test

Run it with pytest (or call the `test_…` methods yourself: nothing here needs pytest). A store with only `load`, `save`
and `list_all` is completed first, as shipchat does with it; set the flags below to what yours promises beyond that.
"""
# ruff: noqa: S101 -- asserting is what this module is for

import threading
from dataclasses import replace
from datetime import timedelta

from shipchat.core.drafts import QueuedPrompt, ReplyDraft, TurnDraft
from shipchat.core.entries import (
    CheckpointUndoneEntry,
    ForkOrigin,
    HeadEntry,
    SessionRecord,
    SetEntry,
)
from shipchat.core.errors import (
    MessageNotFound,
    SessionConflict,
    SessionExists,
    SessionHeld,
    SessionKeyInvalid,
    SessionNotFound,
    StoreUnavailable,
)
from shipchat.core.messages import (
    ReasoningPart,
    TextPart,
)
from shipchat.core.protocols import Cursor, FullStore, SessionStore, Tail
from shipchat.stores.complete import complete
from shipchat.testing.samples import START, every_kind, header, ids, prompt, raises, reply, title


class StoreConformance:
    """Subclass it and say how an empty store is made."""

    deletes = True
    """Whether the store has a trash."""
    refuses_case_clash = True
    """Whether a key that differs from another only in case is refused."""

    def make_store(self) -> SessionStore:
        """Return an empty store."""
        raise NotImplementedError

    def full(self) -> FullStore:
        """Return an empty store with all capabilities."""
        return complete(self.make_store())

    def started(self, store: FullStore, key: str = "ticket-812") -> Cursor:
        """Make a session with a prompt and a reply."""
        return store.create(SessionRecord(header(key), (prompt("a"), reply("b", "a"))))

    # --- load, save, list_all ---

    def test_an_unknown_key_loads_as_none(self) -> None:  # noqa: D102 -- the names of tests say what they prove
        assert self.make_store().load("nobody") is None

    def test_every_kind_of_entry_comes_back_as_it_was(self) -> None:  # noqa: D102
        store = self.make_store()
        record = SessionRecord(header("ticket-812"), every_kind())
        store.save(record)
        assert store.load("ticket-812") == record
        assert list(store.list_all()) == [record]

    def test_save_adds_what_is_new(self) -> None:  # noqa: D102
        store = self.make_store()
        short = SessionRecord(header("s"), (prompt("a"),))
        longer = replace(short, entries=(*short.entries, reply("b", "a")))
        store.save(short)
        store.save(longer)
        store.save(longer)
        assert store.load("s") == longer

    def test_save_refuses_a_record_that_lacks_stored_entries(self) -> None:  # noqa: D102
        store = self.make_store()
        whole = SessionRecord(header("s"), (prompt("a"), reply("b", "a")))
        store.save(whole)
        with raises(SessionConflict):
            store.save(replace(whole, entries=(prompt("a"), prompt("c", "a"))))
        assert store.load("s") == whole

    # --- the journal ---

    def test_open_returns_what_create_was_given(self) -> None:  # noqa: D102
        store = self.full()
        record = SessionRecord(header("s"), every_kind())
        store.create(record)
        assert store.open("s")[0] == record

    def test_a_session_without_entries_can_be_made_and_added_to(self) -> None:  # noqa: D102
        store = self.full()
        cursor = store.create(SessionRecord(header("s")))
        assert store.open("s")[0] == SessionRecord(header("s"))
        store.append("s", [prompt("a")], cursor, exclusive=True)
        assert store.open("s")[0] == SessionRecord(header("s"), (prompt("a"),))

    def test_open_of_an_unknown_key_fails(self) -> None:  # noqa: D102
        with raises(SessionNotFound):
            self.full().open("nobody")

    def test_create_refuses_a_taken_key(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        before = store.load("ticket-812")
        with raises(SessionExists):
            store.create(SessionRecord(header("ticket-812")))
        assert store.load("ticket-812") == before

    def test_create_refuses_a_key_that_differs_only_in_case(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        if self.refuses_case_clash:
            with raises(SessionExists):
                store.create(SessionRecord(header("Ticket-812")))
            assert store.keys() == ["ticket-812"]

    def test_keys_that_no_file_system_could_bear_are_refused(self) -> None:  # noqa: D102
        store = self.full()
        for key in (
            "",
            "../pwned",
            "a/b",
            "a\\b",
            "nul",
            "x.json",
            "dot.",
            "-x",
            "a b",
            "é",
            "a\x00",
            "k" * 129,
        ):
            with raises(SessionKeyInvalid):
                store.create(SessionRecord(header(key)))
            with raises(SessionKeyInvalid):
                store.open(key)
            with raises(SessionKeyInvalid):
                store.hold(key, "test")
        assert store.keys() == []

    def test_append_is_seen_by_every_reader(self) -> None:  # noqa: D102
        store = self.full()
        cursor = self.started(store)
        new = (prompt("c", "b"), reply("d", "c"))
        tail = store.append("ticket-812", new, cursor, exclusive=True)
        assert (tail.entries, tail.reloaded) == ((), False)
        seen = store.read_new("ticket-812", cursor)
        assert (seen.entries, seen.reloaded) == (new, False)
        assert store.read_new("ticket-812", seen.cursor).entries == ()
        assert store.read_new("ticket-812", tail.cursor).entries == ()
        record = store.load("ticket-812")
        assert record is not None
        assert ids(record.entries) == ["a", "b", "c", "d"]

    def test_append_returns_what_others_added(self) -> None:  # noqa: D102
        store = self.full()
        mine = self.started(store)
        store.append("ticket-812", [title("t", "Export")], mine, exclusive=False)
        tail = store.append("ticket-812", [prompt("c", "b")], mine, exclusive=True)
        assert (tail.entries, tail.reloaded) == ((title("t", "Export"),), False)
        assert store.read_new("ticket-812", tail.cursor).entries == ()

    def test_an_exclusive_append_refuses_a_path_that_moved(self) -> None:  # noqa: D102
        for moved in (
            prompt("x", "b"),
            HeadEntry(id="x", at=START, target="a"),
            CheckpointUndoneEntry(id="x", at=START, checkpoint="none"),
        ):
            store = self.full()
            mine = self.started(store)
            store.append("ticket-812", [moved], mine, exclusive=True)
            before = store.load("ticket-812")
            with raises(SessionConflict):
                store.append("ticket-812", [prompt("c", "b")], mine, exclusive=True)
            assert store.load("ticket-812") == before
            tail = store.append("ticket-812", [title("t", "Export")], mine, exclusive=False)
            assert tail.entries == (moved,)

    def test_an_id_that_is_there_is_acknowledged_and_not_written_twice(self) -> None:  # noqa: D102
        store = self.full()
        first = self.started(store)
        after = store.append("ticket-812", [prompt("c", "b")], first, exclusive=True).cursor
        for cursor in (first, after):
            tail = store.append("ticket-812", [prompt("c", "b")], cursor, exclusive=True)
            assert tail.entries == ()
        store.append("ticket-812", [prompt("c", "b"), reply("d", "c")], after, exclusive=True)
        record = store.load("ticket-812")
        assert record is not None
        assert ids(record.entries) == ["a", "b", "c", "d"]

    def test_append_and_read_new_of_an_unknown_key_fail(self) -> None:  # noqa: D102
        store = self.full()
        cursor = self.started(store)
        with raises(SessionNotFound):
            store.append("nobody", [prompt("c")], cursor, exclusive=True)
        with raises(SessionNotFound):
            store.read_new("nobody", cursor)

    def test_writers_in_threads_lose_nothing(self) -> None:  # noqa: D102
        store = self.full()
        start = self.started(store)

        def write(name: str) -> None:
            cursor = start
            for n in range(10):
                entry = SetEntry(id=f"{name}{n}", at=START, add_tags=(f"{name}{n}",))
                cursor = store.append("ticket-812", [entry], cursor, exclusive=False).cursor

        threads = [threading.Thread(target=write, args=(name,)) for name in "wxyz"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        record = store.load("ticket-812")
        assert record is not None
        assert sorted(ids(record.entries)) == sorted(
            ["a", "b", *(f"{name}{n}" for name in "wxyz" for n in range(10))]
        )
        row = store.summary("ticket-812")
        assert row is not None
        assert len(row.tags) == 40

    # --- forks ---

    def test_a_fork_has_the_chosen_entries_and_leaves_its_source_alone(self) -> None:  # noqa: D102
        store = self.full()
        store.create(SessionRecord(header("s"), every_kind()))
        before = store.load("s")
        origin = replace(header("f"), forked_from=ForkOrigin("s", "m2", 2))
        cursor = store.fork("s", origin, ["m1", "m2"], [title("t", "Trial")])
        made = store.load("f")
        kinds = every_kind()
        assert made == SessionRecord(replace(origin, copied=2), (kinds[0], kinds[1], title("t", "Trial")))
        store.append("f", [prompt("x", "m2")], cursor, exclusive=True)
        assert store.load("s") == before
        again = replace(header("g"), forked_from=ForkOrigin("f", "x", 3))
        store.fork("f", again, ["m1", "m2", "x"], [])
        copy = store.load("g")
        assert copy == SessionRecord(replace(again, copied=3), (kinds[0], kinds[1], prompt("x", "m2")))

    def test_a_fork_of_what_is_not_there_makes_nothing(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        with raises(MessageNotFound):
            store.fork("ticket-812", header("f"), ["a", "zz"], [])
        with raises(SessionNotFound):
            store.fork("nobody", header("f"), [], [])
        with raises(SessionExists):
            store.fork("ticket-812", header("ticket-812"), ["a"], [])
        assert store.keys() == ["ticket-812"]

    # --- the catalogue ---

    def test_a_row_tells_what_the_session_is(self) -> None:  # noqa: D102
        store = self.full()
        cursor = self.started(store)
        assert [row.key for row in store.summaries()] == ["ticket-812"]
        row = store.summary("ticket-812")
        assert row is not None
        assert (row.title, row.messages, row.model, row.tags) == ("Why?", 2, "local/smollm2", ())
        assert (row.created, row.updated, row.archived, row.damage) == (START, START, False, None)
        tagged = SetEntry(id="s", at=START, archived=True, add_tags=("ops",), model="anthropic/x")
        later: Tail = store.append(
            "ticket-812",
            [title("t1", "One"), title("t2", "Two"), tagged, prompt("c", "b", minute=5), reply("d", "c")],
            cursor,
            exclusive=True,
        )
        store.append(
            "ticket-812",
            [
                HeadEntry(id="h", at=START, target="c"),
                SetEntry(id="auto", at=START + timedelta(hours=1), title="Auto", by="auto"),
            ],
            later.cursor,
            exclusive=True,
        )
        row = store.summary("ticket-812")
        assert row is not None
        assert (row.title, row.old_titles, row.messages) == ("Two", ("One",), 3)
        assert (row.model, row.tags, row.archived) == ("anthropic/x", ("ops",), True)
        assert row.updated == START + timedelta(minutes=5)
        assert store.summary("nobody") is None

    # --- holds ---

    def test_one_hold_at_a_time(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        assert store.holder("ticket-812") is None
        hold = store.hold("ticket-812", "shipchat send")
        with raises(SessionHeld):
            store.hold("ticket-812", "shipchat resume")
        with raises(SessionHeld):
            store.hold("TICKET-812", "shipchat resume")
        holder = store.holder("ticket-812")
        assert holder is not None
        assert holder.program == "shipchat send"
        store.hold("other", "shipchat send").release()
        hold.release()
        hold.release()
        assert store.holder("ticket-812") is None
        second = store.hold("ticket-812", "shipchat resume")
        hold.release()
        assert store.holder("ticket-812") is not None
        second.release()

    def test_reading_metadata_and_forks_need_no_hold(self) -> None:  # noqa: D102
        store = self.full()
        cursor = self.started(store)
        hold = store.hold("ticket-812", "shipchat send")
        store.append("ticket-812", [title("t", "Export")], cursor, exclusive=False)
        store.fork("ticket-812", header("f"), ["a"], [])
        assert store.load("f") is not None
        hold.release()

    # --- drafts ---

    def test_a_turn_draft_comes_back_until_it_is_removed(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        assert store.read_turn_draft("ticket-812") is None
        first = TurnDraft(ReplyDraft("c", "b", "local/smollm2", START, (TextPart("Bec"),)))
        grown = TurnDraft(
            ReplyDraft("c", "b", "local/smollm2", START, (ReasoningPart("hm"), TextPart("Becau"))),
            (QueuedPrompt("q", START, "And then?"),),
        )
        for draft, durable in ((first, True), (grown, False), (first, True), (grown, False)):
            store.write_turn_draft("ticket-812", draft, durable=durable)
            assert store.read_turn_draft("ticket-812") == draft
        store.write_turn_draft("ticket-812", None, durable=True)
        assert store.read_turn_draft("ticket-812") is None

    def test_unsent_text_passes_to_the_next_window(self) -> None:  # noqa: D102
        store = self.full()
        self.started(store)
        one, two = store.open_window("ticket-812"), store.open_window("ticket-812")
        one.write("half a thou")
        one.write("half a thought")
        assert (one.text, two.text) == ("half a thought", "")
        third = store.open_window("ticket-812")
        assert third.text == ""
        one.close()
        adopted = store.open_window("ticket-812")
        assert adopted.text == "half a thought"
        adopted.write("")
        for window in (two, third, adopted):
            window.close()
        last = store.open_window("ticket-812")
        assert last.text == ""
        last.close()

    # --- the trash ---

    def test_delete_can_be_undone(self) -> None:  # noqa: D102
        store = self.full()
        if not self.deletes:
            self.started(store)
            with raises(StoreUnavailable):
                store.delete("ticket-812")
            assert store.trashed() == []
            return
        cursor = self.started(store)
        store.append("ticket-812", [title("t", "Export")], cursor, exclusive=False)
        before = store.load("ticket-812")
        window = store.open_window("ticket-812")
        window.write("unsent")
        window.close()
        gone = store.delete("ticket-812")
        assert (gone.key, gone.title, gone.messages) == ("ticket-812", "Export", 2)
        assert store.load("ticket-812") is None
        assert store.keys() == []
        assert store.trashed() == [gone]
        fresh = store.open_window("ticket-812")
        assert fresh.text == ""
        fresh.close()
        self.started(store)
        with raises(SessionExists):
            store.restore(gone.trash_id)
        assert store.restore(gone.trash_id, key="back") == "back"
        restored = store.load("back")
        assert before is not None
        assert restored == SessionRecord(replace(before.header, key="back"), before.entries)
        window = store.open_window("back")
        assert window.text == "unsent"
        window.close()
        assert store.trashed() == []

    def test_the_trash_is_listed_newest_first_and_can_be_erased(self) -> None:  # noqa: D102
        if not self.deletes:
            return
        store = self.full()
        deleted = []
        for _ in range(3):
            self.started(store)
            deleted.append(store.delete("ticket-812"))
        assert store.trashed() == deleted[::-1]
        store.erase(deleted[1].trash_id)
        assert store.trashed() == [deleted[2], deleted[0]]
        for name in (deleted[1].trash_id, "nothing", "../../etc/passwd", ""):
            with raises(SessionNotFound):
                store.restore(name)
            with raises(SessionNotFound):
                store.erase(name)

    def test_delete_needs_the_hold(self) -> None:  # noqa: D102
        if not self.deletes:
            return
        store = self.full()
        self.started(store)
        hold = store.hold("ticket-812", "shipchat send")
        with raises(SessionHeld):
            store.delete("ticket-812")
        hold.release()
        assert store.load("ticket-812") is not None
        with raises(SessionNotFound):
            store.delete("nobody")
