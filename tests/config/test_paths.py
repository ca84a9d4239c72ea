import os
import subprocess
import sys
from pathlib import Path

import pytest

from shipchat.config.paths import Directories, directories
from shipchat.core.errors import StoreUnavailable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in [*os.environ]:
        if name.startswith(("XDG_", "SHIPCHAT_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def refusal() -> StoreUnavailable:
    with pytest.raises(StoreUnavailable) as caught:
        directories()
    return caught.value


@pytest.mark.skipif(sys.platform != "linux", reason="the places of Linux")
def test_everything_is_in_the_places_of_the_platform(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert directories() == Directories(
        home / ".local/share/shipchat", home / ".cache/shipchat", home / ".config/shipchat"
    )
    assert not home.exists()


def test_a_chosen_data_directory_holds_the_cache_too(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("SHIPCHAT_DATA_DIR", str(tmp_path / "mine"))
    environment.setenv("SHIPCHAT_CONFIG_DIR", str(tmp_path / "conf"))
    where = directories()
    assert where == Directories(
        tmp_path / "mine",
        tmp_path / "mine/cache",
        tmp_path / "conf",
        "SHIPCHAT_DATA_DIR",
        "SHIPCHAT_CONFIG_DIR",
    )
    assert where.sessions == tmp_path / "mine/sessions"
    assert where.config_file == tmp_path / "conf/config.toml"


@pytest.mark.parametrize("path", ["here", "./here", "~/here", "~"])
def test_a_relative_data_directory_is_refused(
    environment: pytest.MonkeyPatch, tmp_path: Path, path: str
) -> None:
    environment.setenv("SHIPCHAT_DATA_DIR", path)
    error = refusal()
    assert (
        str(error)
        == f"the directory {path} (from SHIPCHAT_DATA_DIR) can't be used: it is not an absolute path"
    )
    assert os.listdir(tmp_path) == []


def test_a_file_is_no_data_directory(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment.setenv("SHIPCHAT_DATA_DIR", str(tmp_path / "file"))
    assert refusal().details["reason"] == "it is not a directory"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to give a directory away")
def test_a_directory_of_another_user_is_refused(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    os.chown(foreign, 54321, 54321)
    environment.setenv("SHIPCHAT_DATA_DIR", str(foreign))
    assert refusal().details["reason"] == "it belongs to another user (uid 54321, you are 0)"


@pytest.mark.skipif(os.name != "posix", reason="HOME is a thing of POSIX")
@pytest.mark.parametrize("home", ["/", "", "~", "relative"])
def test_a_home_that_is_none_is_refused(environment: pytest.MonkeyPatch, tmp_path: Path, home: str) -> None:
    environment.setenv("HOME", home)
    error = refusal()
    assert str(error).startswith("there is no place to keep sessions: HOME is ")
    assert "SHIPCHAT_DATA_DIR" in error.advice[0]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="HOME is a thing of POSIX")
def test_with_a_chosen_data_directory_a_home_is_not_needed(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("HOME", "/")
    environment.setenv("SHIPCHAT_DATA_DIR", str(tmp_path / "data"))
    assert (directories().data, directories().config) == (tmp_path / "data", None)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become another user")
def test_a_user_that_nobody_knows_gets_a_reason(tmp_path: Path) -> None:
    code = (
        "import os, platformdirs, platformdirs.unix, pwd\n"
        "from shipchat.config.paths import directories\n"
        "from shipchat.core.errors import StoreUnavailable\n"
        "os.setuid(54321)\n"
        "try: print(directories())\n"
        "except StoreUnavailable as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    reason = "HOME is not set and the user database knows no home directory"
    assert done.stdout == f"there is no place to keep sessions: {reason}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is a thing of Linux")
def test_sessions_left_in_the_old_place_are_noted(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old = tmp_path / "home/.local/share/shipchat"
    (old / "sessions").mkdir(parents=True)
    for name in ("a.json", "b.json", ".locks"):
        (old / "sessions" / name).write_text("")
    new = tmp_path / "xdg"
    environment.setenv("XDG_DATA_HOME", str(new))
    where = directories()
    assert where.data == new / "shipchat"
    assert where.notes == (
        f"{new}/shipchat is used because XDG_DATA_HOME is set; 2 sessions are in {old} (SHIPCHAT_DATA_DIR={old})",
    )
    environment.setenv("XDG_DATA_HOME", str(tmp_path / "home/.local/share"))
    assert directories().notes == ()


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is a thing of Linux")
def test_a_relative_xdg_directory_counts_as_unset(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("XDG_DATA_HOME", "relative")
    where = directories()
    assert (where.data, where.data_origin) == (tmp_path / "home/.local/share/shipchat", "default")
