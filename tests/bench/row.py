"""One figure of a bench, and how a table of them is printed."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One figure: `value` in `unit`, the `limit` measured beside it, their `ratio`, and what the goal is."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    ratio: float | None = None
    goal: str = ""


def print_table(rows: Iterable[BenchRow], out: Path | None = None) -> None:
    """Print `rows` as they come, and write them as JSON to `out` at the end."""
    kept: list[BenchRow] = []
    print(f"{'what':58} {'value':>10} {'unit':6} {'limit':>9} {'ratio':>6}  goal")
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:9.4g}"
        ratio = "" if row.ratio is None else f"{row.ratio:6.2f}"
        print(f"{row.name:58} {row.value:10.4g} {row.unit:6} {limit:>9} {ratio:>6}  {row.goal}", flush=True)
        kept.append(row)
    if out is not None:
        out.write_text(json.dumps([asdict(row) for row in kept], indent=1) + "\n", encoding="utf-8")
        print(f"written: {out}")
