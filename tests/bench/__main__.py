"""`make bench`: runs all benches or those named, prints a table and writes bench-results.json."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tests.bench.row import BenchRow, print_table

BENCHES = ("commands", "store", "compaction", "index", "transport", "tui")


def main(names: list[str]) -> None:
    """Run the benches with these names (none: all of them)."""

    def rows() -> Iterator[BenchRow]:
        for name in names or BENCHES:
            yield from import_module(f"tests.bench.{name}").rows()

    print_table(rows(), Path("bench-results.json"))


if __name__ == "__main__":
    main(sys.argv[1:])
