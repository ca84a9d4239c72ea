"""What is taken for a server's address, and what is kept of one that answers."""

import tomllib
from pathlib import Path

import pytest

from shipchat.bootstrap import Services, services
from shipchat.commands.connect import Connected, checked_address, connect_server
from shipchat.config.paths import Directories
from shipchat.config.settings import Settings, load_settings
from shipchat.core.errors import ModelMissing, ProviderError, UsageError
from tests.providers.raw_http import RawServer, json_answer

LISTED = json_answer(200, {"data": [{"id": "tiny"}]})


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        (" localhost:8080 ", "http://localhost:8080/v1"),
        ("models.example.org", "https://models.example.org/v1"),
        ("https://example.org/openai/", "https://example.org/openai"),
        ("[::1]:80", "http://[::1]:80/v1"),
    ],
)
def test_an_address_is_written_out(typed: str, url: str) -> None:
    assert checked_address(typed) == url


@pytest.mark.parametrize(
    "typed",
    ["", "   ", "ftp://example.org", "http://", "http://a:b@example.org", "http://x:port", "http://[", "a b", "https://x/?key=1"],
)  # fmt: skip
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(UsageError):
        checked_address(typed)


def fresh(place: Path) -> Services:
    where = Directories(place / "data", place / "cache", place / "config")
    return services("shipchat test", Settings(), where)


async def test_a_server_is_kept_once_and_found_by_the_next_program(tmp_path: Path) -> None:
    async with RawServer(LISTED) as server:
        made = fresh(tmp_path)
        name = f"here-{server.port}"
        wanted = Connected(name, f"{name}/tiny", (f"{name}/tiny",))
        assert await connect_server(made, server.url) == wanted
        assert await connect_server(made, server.url) == wanted  # the same server again: no second table
        document = tomllib.loads((tmp_path / "config" / "config.toml").read_text(encoding="utf-8"))
        table = {"kind": "openai", "base_url": f"{server.url}/v1", "models": ["tiny"]}
        assert document == {"providers": {name: table}}
        assert f"{name}/tiny" in [one.model for one in made.models.offered()]
        assert load_settings(where=made.directories).providers[name].models == ("tiny",)
        await made.models.close()


async def test_nothing_is_kept_of_a_server_that_is_none(tmp_path: Path) -> None:
    made = fresh(tmp_path)
    async with RawServer(json_answer(200, {"data": []})) as empty:
        with pytest.raises(ModelMissing, match="lists no models"):
            await connect_server(made, empty.url)
    with pytest.raises(ProviderError):
        await connect_server(made, empty.url)  # nobody listens there any more
    assert not (tmp_path / "config" / "config.toml").exists()
