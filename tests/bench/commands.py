"""Measures whole commands in processes of their own: CPU and wall seconds beside the least that Python can do."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from tests.bench.row import BenchRow
from tests.bench.sessions import make_sessions

RUNS = 9
PYTHON = [sys.executable, "-c", "pass"]
TYPER = [
    sys.executable,
    "-c",
    "import typer; app = typer.Typer(); app.command()(lambda name='x': None); app(['--help'])",
]


def cost(command: Sequence[str], env: dict[str, str]) -> tuple[float, float]:
    """Return CPU seconds and wall seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def interleaved(commands: dict[str, Sequence[str]], env: dict[str, str]) -> dict[str, tuple[float, float]]:
    """Return the median CPU and wall seconds of each, the runs taking turns so that noise hits all alike."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            seen[name].append(cost(command, env))
    return {
        name: (median(cpu for cpu, _ in runs), median(wall for _, wall in runs))
        for name, runs in seen.items()
    }


def rows() -> Iterator[BenchRow]:
    """Yield `--version`, `--help`, and listing 10 and 10,000 sessions."""
    shipchat = [sys.executable, "-m", "shipchat"]
    with tempfile.TemporaryDirectory() as place:
        env = os.environ | {"SHIPCHAT_DATA_DIR": f"{place}/few", "SHIPCHAT_CONFIG_DIR": f"{place}/config"}
        start = interleaved(
            {
                "python": PYTHON,
                "version": [*shipchat, "--version"],
                "typer": TYPER,
                "help": [*shipchat, "--help"],
            },
            env,
        )
        yield _cpu("--version, CPU", start["version"][0], start["python"][0], "ratio <= 4")
        yield _cpu(
            "--help, CPU, beside a bare typer app", start["help"][0], start["typer"][0], "ratio <= 1.15"
        )
        make_sessions(Path(place) / "few" / "sessions", 10)
        make_sessions(Path(place) / "many" / "sessions", 10_000)
        many = env | {"SHIPCHAT_DATA_DIR": f"{place}/many"}
        listing = [*shipchat, "list"]
        few_wall, many_wall = [], []
        for _ in range(RUNS):
            few_wall.append(cost(listing, env)[1])
            many_wall.append(cost(listing, many)[1])
        few, lots = median(few_wall), median(many_wall)
        yield BenchRow("list 10 sessions, whole command", few, "s")
        yield BenchRow(
            "list 10,000 sessions, whole command", lots, "s", few, lots / few, "<= 0.33 s; ratio <= 1.25"
        )


def _cpu(name: str, value: float, limit: float, goal: str) -> BenchRow:
    return BenchRow(name, value, "s", limit, value / limit, goal)
