"""Measures what showing a reply costs: `python tests/bench/transcript.py`.

A reply of 50,000 tokens is streamed into the transcript of a headless application at 133 tokens a paint (2,000
tokens a second at 15 paints a second). Printed: CPU seconds per 10,000 tokens in each fifth, the second half against
the first, and the milliseconds it takes to open a session of 10,000 messages, to wrap it anew and to page up.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator

from textual.app import App, ComposeResult

from shipchat.tui.widgets.transcript import Transcript
from shipchat.tui.widgets.transcript_item import TranscriptItem

TOKENS = 50_000
PER_PAINT = 133
LETTERS_PER_TOKEN = 4
PARTS = (
    """The job opens **one connection per row**, so at about 4,000 rows the pool is empty and `export_rows()` waits
until the timeout. See [the docs](https://example.org/pool) for what the limits are in each of the tiers.

""",
    """1. `nightly.py` takes a lock and calls `db.connect()` for each row.
2. Nothing gives the connection back.
   - not even an error
   - nor a timeout
3. The pool holds 20.

""",
    """```python
def export_rows(rows, pool):
    # one connection for the whole batch
    with pool.connect() as c:
        for row in rows:
            c.execute(INSERT, row.values())
    return len(rows)
```

""",
    """| Setting | Before | After |
|---|--:|--:|
| connections | 4,012 | 1 |
| run time | 31 s | 2.4 s |

## And then

> It is never the network, until it is.

""",
)


class Bench(App[None]):
    """Nothing but a transcript."""

    def compose(self) -> ComposeResult:
        """Make it."""
        yield Transcript()


def reply() -> Iterator[str]:
    """Yield the text of a reply, for ever."""
    yield from itertools.cycle(PARTS)


def text_of(tokens: int) -> str:
    """Return a reply of about so many tokens."""
    parts, size = [], 0
    for part in reply():
        parts.append(part)
        size += len(part)
        if size >= tokens * LETTERS_PER_TOKEN:
            break
    return "".join(parts)[: tokens * LETTERS_PER_TOKEN]


async def stream(kind: str, text: str) -> None:
    """Stream `text` and print what each fifth of it cost."""
    app = Bench()
    async with app.run_test(size=(120, 36)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.begin_stream(TranscriptItem("r", position=1, status="streaming"))
        await pilot.pause()
        step = PER_PAINT * LETTERS_PER_TOKEN
        costs, worst = [], 0.0
        fifth = len(text) // 5
        for start in range(0, fifth * 5, fifth):
            begin = time.process_time()
            for at in range(start, start + fifth, step):
                paint = time.process_time()
                for small in range(at, min(at + step, start + fifth), 16):
                    transcript.append_delta("r", text[small : min(small + 16, start + fifth)])
                transcript.flush(now=True)
                await asyncio.sleep(0)
                app.screen._on_timer_update()
                await asyncio.sleep(0)
                worst = max(worst, time.process_time() - paint)
            costs.append(time.process_time() - begin)
        halves = (sum(costs[3:]) + costs[2] / 2) / (sum(costs[:2]) + costs[2] / 2)
        per = " ".join(f"{cost * 10_000 / (fifth / LETTERS_PER_TOKEN):.2f}" for cost in costs)
        print(
            f"{kind:12} CPU s per 10,000 tokens: {per}   second half / first: {halves:.2f}   worst paint: {worst * 1000:.0f} ms"
        )


async def open_session() -> None:
    """Open 10,000 messages and print how long it takes."""
    app = Bench()
    async with app.run_test(size=(120, 36)) as pilot:
        transcript = app.query_one(Transcript)
        await pilot.pause()
        texts = [text_of(150) for _ in range(10_000)]
        begin = time.perf_counter()
        items = [
            TranscriptItem(str(n), text, role="user" if n % 2 else "assistant", position=n)
            for n, text in enumerate(texts, 1)
        ]
        made = time.perf_counter()
        transcript.set_items(items)
        shown = time.perf_counter()
        app.screen._on_timer_update()
        painted = time.perf_counter()
        transcript.scroll_rows(-30)
        paged = time.perf_counter()
        transcript.refresh_look()
        transcript.pile.redraw(60, transcript.look)
        transcript.settle()
        wrapped = time.perf_counter()
        transcript.scroll_to_position(5_000)
        jumped = time.perf_counter()
        print(
            f"10,000 messages, ms: make values {1000 * (made - begin):.0f}, open {1000 * (shown - made):.0f}, "
            f"paint {1000 * (painted - shown):.0f}, page up {1000 * (paged - painted):.0f}, "
            f"wrap anew {1000 * (wrapped - paged):.0f}, jump {1000 * (jumped - wrapped):.0f}"
        )


def main() -> None:
    """Run all."""
    asyncio.run(open_session())
    asyncio.run(stream("mixed", text_of(TOKENS)))
    asyncio.run(stream("one fence", "```python\n" + "    value = compute(value, 1)  # again\n" * 5_700))
    asyncio.run(stream("one line", "words and more words " * 9_600))
    asyncio.run(
        stream("one table", "| a | b |\n|---|---|\n" + "| some words | and some more of them |\n" * 5_000)
    )
    asyncio.run(stream("one list", "- begin\n" + "  - an item inside the item\n" * 7_000))


if __name__ == "__main__":
    main()
