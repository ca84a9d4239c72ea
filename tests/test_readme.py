"""The README's Python snippets run as they stand, with a scripted model in the place of the local one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def snippets(text: str) -> list[str]:
    """Return the Python blocks of a Markdown text."""
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


SNIPPETS = snippets(README.read_text(encoding="utf-8"))


def test_there_are_snippets() -> None:
    assert SNIPPETS


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs_without_a_word_on_stderr(number: int, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"echo": true}], "repeat_last": true}', encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHIPCHAT_")} | {
        "PYTHONPATH": str(README.parent),
        "SHIPCHAT_DATA_DIR": str(tmp_path / "data"),
        "SHIPCHAT_EXTRA_PROVIDERS": "local=shipchat.testing.scripted:from_environment",
        "SHIPCHAT_TEST_SCRIPT": str(script),
    }
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SNIPPETS[number]],
        cwd=tmp_path / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
