"""What a command imports decides how fast it starts: the heavy libraries only where they are needed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"textual", "prompt_toolkit", "anthropic", "openai", "tiktoken", "pydantic", "rich", "xllamacpp"}
"""None of these is needed to look at sessions; typer would load pydantic and rich."""

CODE = """
import json, sys
from shipchat.__main__ import main
code = main(sys.argv[1:])
loaded = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"code": code, "loaded": loaded, "asyncio": "asyncio" in sys.modules}), file=sys.stderr)
"""


def loaded_by(tmp_path: Path, *arguments: str) -> set[str]:
    """Return the top-level modules that a command has loaded when it is done."""
    env = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "SHIPCHAT_DATA_DIR": str(tmp_path / "data"),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    result = json.loads(done.stderr.splitlines()[-1])
    assert result["code"] == 0, done.stderr
    return set(result["loaded"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("imports")
    loaded_by(made, "new", "work", "--title", "A title")
    return made


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("list", "--json"),
        ("show", "work"),
        ("rename", "work", "other"),
        ("tag", "work", "x"),
        ("fork", "work"),
        ("config", "show"),
    ],
    ids=" ".join,
)
def test_looking_at_sessions_needs_none_of_the_heavy_libraries(
    place: Path, arguments: tuple[str, ...]
) -> None:
    assert loaded_by(place, *arguments) & (HEAVY | {"httpx2", "asyncio", "sqlite3"}) == set()


@pytest.mark.parametrize("arguments", [("models", "list"), ("keys", "list")], ids=" ".join)
def test_looking_at_models_and_keys_loads_no_sdk(place: Path, arguments: tuple[str, ...]) -> None:
    assert loaded_by(place, *arguments) & HEAVY == set()


def test_help_needs_typer_alone(place: Path) -> None:
    loaded = loaded_by(place, "--help")
    assert loaded & (HEAVY | {"httpx2", "asyncio", "msgspec", "platformdirs"}) == set()
    assert "typer" in loaded


def test_version_needs_nothing_at_all(place: Path) -> None:
    assert loaded_by(place, "--version") & (HEAVY | {"typer", "platformdirs", "httpx2", "msgspec"}) == set()
