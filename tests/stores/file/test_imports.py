import subprocess
import sys
from pathlib import Path

HEAVY = (
    "asyncio", "textual", "typer", "prompt_toolkit", "anthropic", "openai", "tiktoken", "httpx2", "sqlite3", "ssl",
    "socket", "subprocess", "logging",
)  # fmt: skip


def test_the_file_store_brings_nothing_heavy_along() -> None:
    program = f"import sys, shipchat.stores.file; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
