"""Files that are cut, flipped and mutated."""

from pathlib import Path

from tests.fire.mutations import DATA, prove_mutations
from tests.fire.shim import memory_directory


def mutations(_: Path) -> str:
    """Every truncation, every flip of a bit, and 10,000 mutations."""
    with memory_directory() as base:
        return prove_mutations(base / "sessions", 10_000, len(DATA) * 8)
