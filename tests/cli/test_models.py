import io
import sys
from pathlib import Path

import pytest

from shipchat.cli.config import without_secrets
from shipchat.cli.progress import ProgressBar, megabytes, time_left
from tests.cli.conftest import Shell


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_models_are_listed_with_their_state(shell: Shell) -> None:
    (row,) = shell.good("models", "list", "--json").json
    assert row == {
        "model": "local/smollm2",
        "installed": False,
        "size": 98_362_432,
        "window": 8192,
        "price": None,
        "note": "SmolLM2-135M-Instruct Q4_1, Apache-2.0; small: often wrong",
        "default": False,
    }
    result = shell.good("models", env={"SHIPCHAT_DEFAULT_MODEL": "local/smollm2"})
    assert result.lines[1].split()[:4] == ["local/smollm2", "not", "fetched", "98"]
    assert result.lines[1].endswith("default")
    assert result.err == "Fetch one: shipchat models pull smollm2\n"


def test_ones_own_model_is_added_by_path_and_forgotten(shell: Shell, tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"GGUF" + bytes(100))
    assert shell.good("models", "add", "tiny", str(mine)).out == f"local/tiny is ready: {mine}\n"
    rows = {row["model"]: row for row in shell.good("models", "--json").json}
    assert rows["local/tiny"] == {
        "model": "local/tiny",
        "installed": True,
        "size": 104,
        "window": None,
        "price": None,
        "note": str(mine),
        "default": False,
    }
    assert shell.good("models", "remove", "local/tiny").err == "local/tiny is removed\n"
    assert mine.exists()
    gone = shell.run("models", "remove", "tiny", "--json")
    assert (gone.code, gone.error["code"]) == (8, "model_missing")


def test_what_makes_no_sense_is_refused(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no model")
    assert shell.run("models", "add", "x", str(tmp_path / "text")).code == 2
    assert shell.run("models", "add", "x", "https://example.org/x.gguf").code == 2
    assert shell.run("models", "pull", "openai/gpt").code == 2
    assert shell.run("models", "pull", "unknown").code == 8


def test_models_that_the_config_names_are_listed(shell: Shell) -> None:
    (shell.place / "config").mkdir()
    (shell.place / "config/config.toml").write_text(
        '[providers.work]\nkind = "openai"\nbase_url = "https://u:sk-CANARY@x.example/v1?key=sk-CANARY"\n'
        'models = ["big", "small"]\ncontext_window = 9000\n'
    )
    rows = [row for row in shell.good("models", "--json").json if row["model"].startswith("work/")]
    assert [(row["model"], row["window"]) for row in rows] == [("work/big", 9000), ("work/small", 9000)]
    shown = shell.good("config", "show")
    assert "CANARY" not in shown.out + shown.err
    assert "providers.work: kind = openai, base_url = https://…@x.example/v1?…" in shown.out
    assert shell.good("config", "--json").json["providers"]["work"]["models"] == ["big", "small"]


def test_config_says_where_each_value_is_from(shell: Shell) -> None:
    settings = shell.good("config", "show", "--json", env={"SHIPCHAT_COLOUR": "red"}).json
    assert settings["settings"]["default_model"] == {
        "value": "scripted/echo",
        "origin": "SHIPCHAT_DEFAULT_MODEL",
    }
    assert settings["settings"]["motion"] == {"value": True, "origin": "default"}
    assert settings["warnings"] == ["SHIPCHAT_COLOUR is set, and no setting of ours"]
    path = shell.good("config", "path", "--json").json
    assert (path["data"], path["data_origin"]) == (str(shell.data), "SHIPCHAT_DATA_DIR")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://x.example/v1", "https://x.example/v1"),
        ("http://user:pw@localhost:8080/v1#k", "http://…@localhost:8080/v1"),
        ("https://x.example?key=1", "https://x.example?…"),
    ],
)
def test_urls_are_shown_without_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    seconds = iter([0.0, 0.0, 2.0, 2.05, 4.0, 5.0])
    with ProgressBar("local/x", clock=lambda: next(seconds)) as bar:
        bar.update("waiting")
        bar.update("downloading", 0, 100_000_000)
        bar.update("downloading", 25_000_000, 100_000_000)
        bar.update("downloading", 26_000_000, 100_000_000)  # too soon to paint again
        bar.update("downloading", 100_000_000, 100_000_000)
        bar.update("verifying", 0, None)
    assert terminal.getvalue().split("\x1b[K") == [
        "\rlocal/x  waiting",
        "\n\rlocal/x  downloading  " + "░" * 30 + "    0%  0.0 of 100.0 MB",
        "\rlocal/x  downloading  " + "█" * 8 + "░" * 22 + "   25%  25.0 of 100.0 MB  0:06 left",
        "\rlocal/x  downloading  " + "█" * 30 + "  100%  100.0 of 100.0 MB",
        "\n\rlocal/x  verifying",
        "\n",
    ]


def test_plain_lines_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("local/x", clock=lambda: 0.0) as bar:
        bar.update("waiting")
        bar.update("waiting")
        for percent in (0, 3, 12, 13, 55, 100):
            bar.update("downloading", percent * 1_000_000, 100_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "local/x: waiting",
        "local/x: downloading 0% (0.0 of 100.0 MB)",
        "local/x: downloading 12% (12.0 of 100.0 MB)",
        "local/x: downloading 55% (55.0 of 100.0 MB)",
        "local/x: downloading 100% (100.0 of 100.0 MB)",
    ]


def test_figures() -> None:
    assert (megabytes(98_362_432), time_left(7.4), time_left(3723)) == ("98.4", "0:07", "1:02:03")
