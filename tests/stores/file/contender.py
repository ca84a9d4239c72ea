"""What the processes do that tests of several processes start: `python -m tests.stores.file.contender WHAT ROOT …`."""

import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from shipchat.core.drafts import ReplyDraft, TurnDraft
from shipchat.core.entries import SetEntry
from shipchat.core.errors import SessionConflict, SessionExists, SessionHeld
from shipchat.core.messages import TextPart
from shipchat.stores.file import FileSessionStore
from shipchat.testing.samples import prompt


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def hold(store: FileSessionStore, key: str) -> None:
    """Take the hold at the word `go`, say who won, keep it until told or killed."""
    say("ready")
    sys.stdin.readline()
    try:
        held = store.hold(key, "contender")
    except SessionHeld as error:
        say(f"held by {error.holder.pid if error.holder else 'nobody known'}")
        return
    say("won")
    sys.stdin.readline()
    held.release()


def tag(store: FileSessionStore, key: str, name: str, count: str) -> None:
    """Add tags, saying each one that was acknowledged."""
    _, cursor = store.open(key)
    for n in range(int(count)):
        entry = SetEntry(id=f"{name}-{n}", at=datetime.now(UTC), add_tags=(f"{name}-{n}",))
        cursor = store.append(key, [entry], cursor, exclusive=False).cursor
        say(entry.id)


def talk(store: FileSessionStore, key: str, name: str) -> None:
    """Add prompts under the hold for ever, saying each one that was acknowledged."""
    with_turn = TurnDraft(ReplyDraft("r", None, "m", datetime.now(UTC), (TextPart("half"),)))
    n = 0
    while True:
        try:
            held = store.hold(key, name)
        except SessionHeld:
            continue
        record, cursor = store.open(key)
        parents = [entry.id for entry in record.entries if not isinstance(entry, SetEntry)]
        for _ in range(3):
            store.write_turn_draft(key, with_turn, durable=n % 5 == 0)
            new = prompt(f"{name}-{os.getpid()}-{n}", parents[-1], "word " * 200)
            try:
                cursor = store.append(key, [new], cursor, exclusive=True).cursor
            except SessionConflict:
                say("CONFLICT under the hold")
                raise
            parents.append(new.id)
            say(new.id)
            n += 1
        held.release()
        time.sleep(0)


def create(store: FileSessionStore, key: str, source: str) -> None:
    """Make or fork a session at the word `go`."""
    say("ready")
    sys.stdin.readline()
    from shipchat.testing.samples import header

    try:
        store.fork(source, header(key), ["a"], [])
    except SessionExists:
        say("exists")
    else:
        say("made")


if __name__ == "__main__":
    what, root, *arguments = sys.argv[1:]
    deeds: dict[str, Callable[..., None]] = {"hold": hold, "tag": tag, "talk": talk, "create": create}
    deeds[what](FileSessionStore(root), *arguments)
