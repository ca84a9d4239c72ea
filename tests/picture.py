"""Exports what the screen looks like with example sessions: `python -m tests.picture [FILE.svg]` (default: picture.svg).

`python -m tests.picture --all DIRECTORY` makes one for each theme and size, to be looked at beside each other.
"""

import asyncio
import os
import re
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from shipchat.bootstrap import Services
from shipchat.core.entries import Entry, MessageEntry, SessionHeader, SessionRecord, SetEntry
from shipchat.core.messages import AssistantMessage, Message, TextPart, Usage, UserMessage
from shipchat.providers.registry import ProviderSettings, Registry
from shipchat.tui.app import ChatApp
from shipchat.tui.glyphs import UNICODE
from shipchat.tui.start import Start
from tests.tui.chat_app import make_services

REPLY = """The job opens **one connection per row**, so at about 4,000 rows the pool is empty and `export_rows()` \
waits until the 30 s timeout.

1. `nightly.py` takes a lock and calls `db.connect()` for each row.
2. Nothing gives the connection back; the pool holds 20.

```python
def export_rows(rows, pool):
    # one connection for the whole batch
    with pool.connect() as conn:
        for row in rows:
            conn.execute(INSERT, row.values())
    return len(rows)
```

| Setting | Before | After |
|---|--:|--:|
| connections | 4,012 | 1 |
| run time | 31 s | 2.4 s |

See [the pool docs](https://example.org/pool) for the limits. Shall I write the patch?
"""
TITLES = (
    ("Safari button ignores taps", 65, ("bug",)),
    ("Quarterly numbers", 190, ()),
    ("Release notes", 60 * 26, ("docs",)),
    ("Reading list for the winter", 60 * 29, ()),
    ("Tide tables to CSV", 60 * 24 * 5, ()),
    ("Rust lifetimes, again", 60 * 24 * 8, ()),
    ("Interview questions for Bergen", 60 * 24 * 15, ()),
    ("Trip to Bergen", 60 * 24 * 22, ()),
)
SIZES = ((60, 16), (80, 24), (120, 36), (160, 44))


def fill(services: Services, now: datetime) -> str:
    """Make the example sessions and return the key of the one to show."""
    store = services.sessions.store
    for number, (title, minutes, tags) in enumerate(TITLES):
        at = now - timedelta(minutes=minutes)
        entries: list[Entry] = [
            SetEntry(id=f"s{number}", at=at, title=title, by="user", add_tags=tags),
            MessageEntry(message=_prompt(f"p{number}", None, at, title)),
        ]
        store.create(SessionRecord(SessionHeader(key=f"example-{number}", created=at), tuple(entries)))
    at = now - timedelta(minutes=2)
    entries = [
        SetEntry(id="set", at=at, title="Nightly export", by="user", add_tags=("ops",)),
        MessageEntry(
            message=_prompt("p", None, at, "The nightly export fails with a timeout. Find out why.")
        ),
        MessageEntry(message=_reply("a", "p", at, "It may be the network.")),
        MessageEntry(message=_reply("b", "p", at, REPLY)),
    ]
    store.create(SessionRecord(SessionHeader(key="nightly-export", created=at), tuple(entries)))
    services.sessions.fork("nightly-export", new_key="nightly-export-fork", title="try the retry fix")
    return "nightly-export"


def _prompt(message_id: str, parent: str | None, at: datetime, text: str) -> Message:
    return UserMessage(id=message_id, parent=parent, at=at, parts=(TextPart(text),))


def _reply(message_id: str, parent: str, at: datetime, text: str) -> Message:
    return AssistantMessage(
        id=message_id,
        parent=parent,
        at=at + timedelta(seconds=9),
        parts=(TextPart(text),),
        model="local/smollm2",
        usage=Usage(1_840, 260),
    )


async def picture(
    size: tuple[int, int], theme: str, *, keys: tuple[str, ...] = (), typed: str = "", open_it: bool = True
) -> str:
    """Return the screen as SVG; `keys` are pressed before."""
    with tempfile.TemporaryDirectory() as place:
        services, provider = make_services(Path(place), theme=theme, default_model="local/smollm2")
        provider.window = 8_192
        services.models._registry = Registry(
            ProviderSettings(models_directory=Path(place), extra={"local": lambda: provider})
        )
        key = fill(services, datetime.now().astimezone())
        app = ChatApp(services, Start(key if open_it else None), glyphs=UNICODE)
        async with app.run_test(size=size) as pilot:
            for _ in range(200):
                await pilot.pause(0.01)
                if app.chat.view.sidebar.rows and app.chat.window.opened.info is not None:
                    break
            if typed:
                app.chat.view.composer.insert(typed)
            await pilot.press(*keys)
            await pilot.pause()
            svg = app.export_screenshot(title="shipchat")
            await app.chat.close()
        await services.models.close()
        if app.crash is not None:
            raise app.crash
    # A picture that says the same is the same file.
    return re.sub(r"terminal-\d+", "terminal-shipchat", svg)


async def every_picture(directory: Path) -> None:
    """Write one picture a theme and size."""
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        services, _ = make_services(Path(place))
        themes = list(ChatApp(services, Start()).themes_found)
    for theme in themes:
        for width, height in SIZES:
            path = directory / f"{theme}-{width}x{height}.svg"
            path.write_text(await picture((width, height), theme), encoding="utf-8")
            print(path)


def main() -> None:
    """Do what the arguments say."""
    if sys.argv[1:2] == ["--all"]:
        asyncio.run(every_picture(Path(sys.argv[2])))
        return
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "picture.svg")
    path.write_text(asyncio.run(picture((120, 36), "dark")), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
