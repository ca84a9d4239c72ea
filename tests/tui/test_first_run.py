"""The first screen with a vendor's key and with another server: real requests to a server on loopback."""

import stat
import tomllib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from shipchat.bootstrap import Services, services
from shipchat.config.paths import Directories
from shipchat.config.settings import Settings
from shipchat.providers.registry import ProviderSettings, Registry
from shipchat.providers.servers import known_servers
from shipchat.testing.scripted import ScriptedProvider
from shipchat.tui.glyphs import ASCII, UNICODE
from shipchat.tui.screens.chat_first_run import ways_to
from shipchat.tui.widgets.first_run_lines import Download, FirstRunState, Way, first_run_lines
from tests.providers.raw_http import Answer, RawServer, json_answer
from tests.tui.chat_app import Chat, running

KEY = "sk-test-0123456789-0123456789"
LISTED = json_answer(200, {"data": [{"id": "claude-opus-5"}, {"id": "claude-sonnet-5-5"}]})
REFUSED = json_answer(401, {"error": {"message": "invalid x-api-key", "type": "authentication_error"}})


def make(place: Path, url: str) -> tuple[Services, ScriptedProvider]:
    """Return services without any model, for which the vendors are at `url`."""
    where = Directories(place / "data", place / "cache", place / "config")
    made = services("shipchat test", Settings(), where)
    provider = ScriptedProvider(["ok"], repeat_last=True)
    addresses = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}
    servers = known_servers({}, made.models._key, environment=addresses)
    made.models._registry = Registry(ProviderSettings(models_directory=where.models, servers=servers))
    return made, provider


def config_of(place: Path) -> dict[str, object]:
    path = place / "config" / "config.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def keys_of(place: Path) -> dict[str, object]:
    path = place / "config" / "keys.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server(request: pytest.FixtureRequest) -> AsyncIterator[RawServer]:
    answers: tuple[Answer, ...] = request.param
    async with RawServer(*answers) as served:
        yield served


async def paste(chat: Chat, text: str) -> None:
    for letter in text:
        await chat.press(
            {"-": "minus", ":": "colon", "/": "slash", ".": "full_stop", "_": "underscore"}.get(
                letter, letter
            )
        )


@pytest.mark.parametrize("server", [(REFUSED, LISTED)], indirect=True)
async def test_a_refused_key_is_said_and_a_good_one_is_kept(tmp_path: Path, server: RawServer) -> None:
    async with running(tmp_path, made=make(tmp_path, server.url)) as chat:
        await chat.shows("Local model", "or set ANTHROPIC_API_KEY", "or set OPENAI_API_KEY", "Other server")
        await chat.press("2")
        await chat.shows("paste the key for Anthropic", "Enter try it")
        await paste(chat, "sk-bad")
        await chat.shows("••••••")
        assert "sk-bad" not in chat.text
        await chat.press("enter")
        await chat.until(lambda: chat.screen.view.first_run.state.error, "an error")
        assert "••••••" in chat.text
        assert keys_of(tmp_path) == {}
        await chat.press("ctrl+u")
        await paste(chat, KEY)
        await chat.press("enter")
        await chat.shows(
            "anthropic/claude-sonnet-5-5 answers", "Ask anything.", "claude-sonnet-5-5 · anthropic"
        )
        assert [asked.headers["x-api-key"] for asked in server.asked[:2]] == ["sk-bad", KEY]
        assert keys_of(tmp_path) == {"anthropic": KEY}
        assert stat.S_IMODE((tmp_path / "config" / "keys.toml").stat().st_mode) == 0o600
        await chat.until(lambda: config_of(tmp_path) == {"default_model": "anthropic/claude-sonnet-5-5"})
        assert str(chat.opened.chat.model) == "anthropic/claude-sonnet-5-5"
        await chat.command("/new")
        assert str(chat.opened.chat.model) == "anthropic/claude-sonnet-5-5"
        await chat.command("/undo")
        await chat.until(lambda: config_of(tmp_path) == {"default_model": "local/smollm2"})


@pytest.mark.parametrize("server", [(LISTED,)], indirect=True)
async def test_what_is_no_key_is_never_sent(tmp_path: Path, server: RawServer) -> None:
    async with running(tmp_path, made=make(tmp_path, server.url)) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("down", "down", "enter", "a", "space", "b", "enter")
        await chat.shows("that is no API key")
        assert server.asked == []
        await chat.press("escape")
        await chat.shows("look around first")
        await chat.press("escape")
        await chat.shows("Ask anything.")
        await chat.press("ctrl+p", *"set up", "enter")
        await chat.shows("Welcome to shipchat.", "Other server")


async def test_without_a_network_the_key_is_kept_untried(tmp_path: Path) -> None:
    async with RawServer(LISTED) as gone:
        url = gone.url
    async with running(tmp_path, made=make(tmp_path, url)) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("3")
        await paste(chat, KEY)
        await chat.press("enter")
        await chat.shows("The key could not be tried", "Ask anything.")
        assert keys_of(tmp_path) == {"openai": KEY}
        await chat.until(lambda: "default_model" in config_of(tmp_path))


@pytest.mark.parametrize(
    "server", [(REFUSED, json_answer(200, {"data": [{"id": "tiny"}, {"id": "huge"}]}))], indirect=True
)
async def test_another_server_is_asked_for_its_key_and_written_down(
    tmp_path: Path, server: RawServer
) -> None:
    async with running(tmp_path, made=make(tmp_path, "http://127.0.0.1:9")) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("4")
        await paste(chat, f"127.0.0.1:{server.port}")
        await chat.shows(f"127.0.0.1:{server.port}▌")
        await chat.press("enter")
        await chat.shows("It answers, and wants a key.")
        await paste(chat, KEY)
        await chat.press("enter")
        await chat.shows("huge", "tiny", f"Model of here-{server.port}")
        await chat.press("enter")
        name = f"here-{server.port}"
        await chat.shows(f"{name}/tiny answers")
        table = {"kind": "openai", "base_url": f"{server.url}/v1", "models": ["tiny", "huge"]}
        await chat.until(
            lambda: config_of(tmp_path) == {"default_model": f"{name}/tiny", "providers": {name: table}}
        )
        assert keys_of(tmp_path) == {name: KEY}
        await chat.press("f4")
        await chat.shows(name, "from the config")


async def test_a_server_that_does_not_answer_keeps_what_was_typed(tmp_path: Path) -> None:
    async with RawServer(LISTED) as gone:
        port = gone.port
    async with running(tmp_path, made=make(tmp_path, "http://127.0.0.1:9")) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("4")
        await paste(chat, f"127.0.0.1:{port}")
        await chat.press("enter")
        await chat.until(lambda: chat.screen.view.first_run.state.error, "an error")
        assert chat.screen.view.first_run.state.typing == f"127.0.0.1:{port}"
        assert config_of(tmp_path) == {}


@pytest.mark.parametrize("server", [(LISTED,)], indirect=True)
async def test_a_key_that_is_there_already_is_used(
    tmp_path: Path, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with running(tmp_path, made=make(tmp_path, server.url)) as chat:
        await chat.shows("there is a key: variable ANTHROPIC_API_KEY")
        await chat.press("2")
        await chat.shows("anthropic/claude-sonnet-5-5 answers")
        assert keys_of(tmp_path) == {}
        await chat.press("f4", *"sonnet-5-5")
        await chat.shows("claude-sonnet-5-5", "1M · $2 in, $10 out per million")


def test_the_ways_name_what_has_to_be_done(tmp_path: Path) -> None:
    made, _ = make(tmp_path, "http://127.0.0.1:9")
    ways = ways_to(made, "smollm2")
    assert [way.id for way in ways] == ["local/smollm2", "anthropic", "openai", "server"]
    assert [way.masked for way in ways] == [False, True, True, False]


WAYS = (Way("a", "One", "what it is", ask="type it", masked=True), Way("b", "Two", "other"))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [12, 30, 56, 90])
@pytest.mark.parametrize(
    "state",
    [
        FirstRunState(WAYS),
        FirstRunState(WAYS, typing="k" * 500),
        FirstRunState((*WAYS[1:], *WAYS[:1]), typing="http://" + "x" * 500),
        FirstRunState(WAYS, busy="trying the key", error="e" * 300),
        FirstRunState(WAYS, download=Download(41_000_000, 93_000_000, 20, "downloading")),
    ],
)
def test_no_line_is_wider_than_there_is_room(state: FirstRunState, width: int, glyphs: object) -> None:
    lines = first_run_lines(state, width, glyphs=glyphs)  # type: ignore[arg-type]  # one of two values
    assert all(line.cell_length <= width for line in lines)
    assert not any("kkk" in line.plain for line in lines)


def test_a_masked_line_does_not_tell_the_length_of_a_long_key() -> None:
    state = FirstRunState(WAYS, typing="k" * 60)
    longer = replace(state, typing="k" * 90)
    assert first_run_lines(state, 120) == first_run_lines(longer, 120)
