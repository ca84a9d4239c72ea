"""Keys: where they are looked for and in which order, how they are kept, and that they are never shown."""

import os
import stat
import sys
import types
from pathlib import Path

import pytest

from shipchat.config.credentials import Credentials, FoundKey
from shipchat.core.errors import ConfigInvalid, StoreUnavailable, UsageError

KEY = "sk-CANARY-0123456789abcdef"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring library that is there and works."""
    kept: dict[tuple[str, str], str] = {}
    module = types.ModuleType("keyring")
    module.__spec__ = types.SimpleNamespace(name="keyring")  # type: ignore[assignment]
    module.get_password = lambda service, name: kept.get((service, name))  # type: ignore[attr-defined]
    module.set_password = lambda service, name, key: kept.__setitem__((service, name), key)  # type: ignore[attr-defined]
    module.delete_password = lambda service, name: kept.pop((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return kept


def test_variable_then_keyring_then_file(tmp_path: Path, ring: dict[tuple[str, str], str]) -> None:
    environment: dict[str, str] = {}
    keys = Credentials(tmp_path / "config", environment)
    assert keys.find("openai", "OPENAI_API_KEY") is None
    path = keys.keep("openai", KEY + "-file\n")
    assert keys.find("openai", "OPENAI_API_KEY") == FoundKey(KEY + "-file", path)
    assert keys.keep("openai", KEY + "-ring", in_keyring=True) == "the system keyring"
    assert ring == {("shipchat", "openai"): KEY + "-ring"}
    assert keys.find("openai", "OPENAI_API_KEY") == FoundKey(KEY + "-ring", "keyring")
    environment["OPENAI_API_KEY"] = f" {KEY}-variable\n"
    assert keys.find("openai", "OPENAI_API_KEY") == FoundKey(KEY + "-variable", "variable OPENAI_API_KEY")
    assert keys.find("openai", None) == FoundKey(KEY + "-ring", "keyring")
    assert keys.remove("openai") == ["the system keyring", path]
    assert keys.remove("openai") == []
    assert keys.find("openai", None) is None


def test_the_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    keys = Credentials(tmp_path / "config", {})
    before = os.umask(0)
    try:
        path = Path(keys.keep("anthropic", KEY))
        keys.keep("other", 'a"b\\c')
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["keys.toml"]
    assert keys.names() == ["anthropic", "other"]
    found = keys.find("other", None)
    assert found is not None
    assert found.key == 'a"b\\c'
    path.chmod(0o644)  # copied there by hand
    assert keys.find("anthropic", None) == FoundKey(KEY, str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    real = tmp_path / "real.toml"
    real.write_text('openai = "old"\n')
    (tmp_path / "config" / "keys.toml").symlink_to(real)
    keys = Credentials(tmp_path / "config", {})
    keys.keep("anthropic", KEY)
    assert (tmp_path / "config" / "keys.toml").is_symlink()
    assert keys.names() == ["anthropic", "openai"]


@pytest.mark.parametrize("text", [f'openai = "{KEY}', f"openai = {KEY}", "openai = 7", b"\xff"])
def test_a_file_that_can_not_be_read_is_not_repeated(tmp_path: Path, text: str | bytes) -> None:
    (tmp_path / "keys.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigInvalid) as caught:
        Credentials(tmp_path, {}).find("openai", None)
    assert "CANARY" not in f"{caught.value} {caught.value.advice} {caught.value.details}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("key", ["", " \n", "two words", "ключ", "a\nb", "a\x07"])
def test_what_can_be_no_key_is_not_kept(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="no API key"):
        Credentials(tmp_path, {}).keep("openai", key)
    assert list(tmp_path.iterdir()) == []


def test_no_home_no_file() -> None:
    keys = Credentials(None, {})
    assert keys.find("openai", "OPENAI_API_KEY") is None
    with pytest.raises(StoreUnavailable, match="no place to keep keys"):
        keys.keep("openai", KEY)


def test_a_keyring_that_fails_is_no_obstacle(
    tmp_path: Path, ring: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: str) -> str:
        raise RuntimeError(f"locked, {KEY}")

    keys = Credentials(tmp_path, {})
    keys.keep("openai", KEY)
    monkeypatch.setattr(sys.modules["keyring"], "get_password", locked)
    monkeypatch.setattr(sys.modules["keyring"], "set_password", locked)
    assert keys.find("openai", None) == FoundKey(KEY, str(tmp_path / "keys.toml"))
    with pytest.raises(StoreUnavailable) as caught:
        keys.keep("openai", KEY, in_keyring=True)
    assert "CANARY" not in str(caught.value)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shipchat.config.credentials.find_spec", lambda _: None)
    keys = Credentials(tmp_path, {})
    assert keys.find("openai", None) is None
    with pytest.raises(UsageError, match="not installed"):
        keys.keep("openai", KEY, in_keyring=True)


def test_a_key_is_never_shown_whole() -> None:
    found = FoundKey(KEY, "keyring")
    assert found.masked == "…cdef"
    assert FoundKey("sk-short", "keyring").masked == "…"
    assert "CANARY" not in repr(found)
