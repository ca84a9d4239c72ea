"""Slash commands on real files, with a stage that writes down what it was told."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shipchat.commands.command import CommandContext, Option, Stream, Undo, UndoLog
from shipchat.commands.table import COMMANDS, complete_argument, complete_name, is_command, parse, run
from shipchat.core.errors import MessageNotFound, SessionNotFound, ShipchatError, UsageError
from shipchat.sessions.chat_session import ChatSession
from tests.tui.chat_app import make_services


@dataclass
class WritingStage:
    """A front end without a screen: `heard` is what it was told, `answers` what a user would answer."""

    answers: list[str | None] = field(default_factory=list)
    heard: list[tuple[object, ...]] = field(default_factory=list)

    async def open_session(self, key: str | None, *, position: int | None = None) -> None:
        self.heard.append(("open", key, position))

    async def open_chat(self, chat: ChatSession, *, private: bool = False) -> None:
        self.heard.append(("open chat", private, len(chat.session.path)))

    async def session_changed(self) -> None:
        self.heard.append(("changed",))

    def show(self, title: str, lines: Sequence[str]) -> None:
        self.heard.append(("show", title, *lines))

    def toast(self, title: str, detail: str = "", *, undo: Undo | None = None) -> None:
        self.heard.append(("toast", title, detail, undo is not None))

    def warn(self, title: str, detail: str = "") -> None:
        self.heard.append(("warn", title, detail))

    async def ask(self, title: str, *, value: str = "", note: str = "") -> str | None:  # noqa: ARG002 -- as asked
        return self.answers.pop(0)

    async def choose(self, title: str, options: Sequence[Option], *, query: str = "") -> str | None:  # noqa: ARG002 -- as asked
        self.heard.append(("choose", title, tuple(option.id for option in options)))
        return self.answers.pop(0)

    async def choose_theme(self, name: str) -> None:
        self.heard.append(("theme", name))

    def themes(self) -> Sequence[str]:
        return ("dark", "light")

    def copy(self, text: str) -> None:
        self.heard.append(("copy", text))

    def set_composer(self, text: str) -> None:
        self.heard.append(("composer", text))

    async def edit(self, position: int) -> None:
        self.heard.append(("edit", position))

    def start_turn(self, stream: Stream) -> None:
        self.heard.append(("turn",))
        self.streams.append(stream)

    streams: list[Stream] = field(default_factory=list)

    async def go_to(self, position: int) -> None:
        self.heard.append(("go to", position))

    async def quit(self) -> None:
        self.heard.append(("quit",))

    def toasts(self) -> list[object]:
        return [told[1] for told in self.heard if told[0] == "toast"]


async def drain(stream: Stream) -> None:
    async for _ in stream:
        pass


async def make(
    place: Path, *prompts: str, answers: Sequence[str | None] = ()
) -> tuple[CommandContext, WritingStage]:
    """Return a context whose session has these prompts, each with a reply."""
    services, _ = make_services(place, ["a **reply**"])
    chat = services.chats.open("work")
    for prompt in prompts:
        await drain(chat.send(prompt))
    await chat.refresh()
    stage = WritingStage([*answers])
    return CommandContext(services, stage, chat, UndoLog(), services.sessions.list_sessions()), stage


def test_what_is_a_command() -> None:
    words = (
        "/new",
        "/fork 3",
        "/etc/hosts is odd",
        " /new",
        "/",
        "/ x",
        "say /new",
        "/new\nof two lines",
        "//x",
    )
    assert [word for word in words if is_command(word)] == ["/new", "/fork 3"]


def test_names_are_unique_and_every_alias_leads_to_its_command() -> None:
    names = [name for command in COMMANDS for name in (command.name, *command.aliases)]
    assert len(names) == len(set(names))
    assert all(parse(f"/{name}")[0].name for name in names)
    assert parse("/FORK  7 ") == (next(one for one in COMMANDS if one.name == "fork"), "7")


def test_an_unknown_command_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="no command /renam") as raised:
        parse("/renam x")
    assert "/rename" in raised.value.advice[0]


def test_names_are_completed() -> None:
    assert [option.id for option in complete_name("re")] == ["/resume", "/rename", "/retry"]
    assert [option.id for option in complete_name("ti")] == ["/rename"]


async def test_arguments_are_completed(tmp_path: Path) -> None:
    context, _ = await make(tmp_path, "first", "second")
    await asyncio.to_thread(context.services.sessions.tag, "work", add=["ops"])
    await context.chat.refresh()
    assert [option.id for option in complete_argument(context, "fork", "")] == ["4", "3", "2", "1"]
    assert [option.id for option in complete_argument(context, "resume", "wo")] == ["work"]
    assert [option.id for option in complete_argument(context, "untag", "")] == ["ops"]
    assert [option.id for option in complete_argument(context, "theme", "l")] == ["light"]
    assert [option.id for option in complete_argument(context, "export", "")] == ["md"]
    assert "local/smollm2" in [option.id for option in complete_argument(context, "model", "")]
    assert complete_argument(context, "nothing", "") == ()


async def test_rename_tag_and_their_undo(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    sessions = context.services.sessions
    await run(context, "/rename A better title")
    assert sessions.open("work").title == "A better title"
    await context.chat.refresh()
    await run(context, "/tag ops bug -none")
    assert sessions.open("work").tags == ("ops", "bug")
    await context.chat.refresh()
    await run(context, "/untag ops")
    assert sessions.open("work").tags == ("bug",)
    assert stage.toasts() == ["Renamed", "Tagged", "Untagged"]
    for tags, title in (({"ops", "bug"}, "A better title"), (set(), "A better title"), (set(), "first")):
        await run(context, "/undo")
        assert (set(sessions.open("work").tags), sessions.open("work").title) == (tags, title)
    with pytest.raises(UsageError, match="nothing to undo"):
        await run(context, "/undo")


async def test_archive_delete_and_their_undo(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    sessions = context.services.sessions
    await run(context, "/archive")
    assert sessions.open("work").archived
    await run(context, "/unarchive")
    assert not sessions.open("work").archived
    await run(context, "/delete")
    assert sessions.list_sessions() == []
    assert ("open", None, None) in stage.heard
    await run(context, "/undo")
    assert [row.key for row in sessions.list_sessions()] == ["work"]
    assert stage.heard[-2:] == [("open", "work", None), ("toast", "Undone", "first is back", False)]


async def test_fork_from_a_message(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first", "second")
    await run(context, "/fork 2")
    (_, key, _) = stage.heard[0]
    assert isinstance(key, str)
    assert len(context.services.sessions.open(key).path) == 2
    with pytest.raises(MessageNotFound, match="no message '9'"):
        await run(context, "/fork 9")
    with pytest.raises(UsageError, match="takes the number"):
        await run(context, "/fork two")
    assert len(context.services.sessions.list_sessions()) == 2


async def test_resume_by_name_and_by_choice(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first", answers=["work", None])
    await run(context, "/resume first")
    await run(context, "/resume")
    await run(context, "/resume")  # given up
    assert [told for told in stage.heard if told[0] == "open"] == [("open", "work", None)] * 2
    with pytest.raises(SessionNotFound):
        await run(context, "/resume nothing")


async def test_copy_edit_and_goto(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first", "second")
    await run(context, "/copy")
    await run(context, "/copy 1")
    await run(context, "/edit")
    await run(context, "/edit 1")
    await run(context, "/goto 2")
    kept = [told for told in stage.heard if told[0] != "toast"]
    assert kept == [("copy", "a **reply**"), ("copy", "first"), ("edit", 3), ("edit", 1), ("go to", 2)]
    for wrong in ("/edit 2", "/copy 9", "/goto 0", "/goto x"):
        with pytest.raises(ShipchatError):
            await run(context, wrong)


async def test_retry_and_continue_start_turns(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    await run(context, "/retry")
    await drain(stage.streams.pop())
    assert len(context.chat.session.tree.siblings(context.chat.session.path[1])) == 2
    await run(context, "/continue")
    with pytest.raises(UsageError, match="no interrupted reply"):
        await drain(stage.streams.pop())


async def test_the_model_and_the_system_prompt_are_kept_with_the_session(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    await run(context, "/model scripted/two")
    await run(context, "/system Be brief.")
    stored = context.services.sessions.open("work")
    assert (stored.model, stored.system) == ("scripted/two", "Be brief.")
    assert str(context.chat.model) == "scripted/two"
    with pytest.raises(UsageError):
        await run(context, "/model two")
    with pytest.raises(ShipchatError, match="nobody"):
        await run(context, "/model nobody/two")
    assert stage.toasts() == ["Model", "System prompt set"]


async def test_a_fresh_session_keeps_its_choices_until_the_first_turn(tmp_path: Path) -> None:
    context, stage = await make(tmp_path)
    await run(context, "/model scripted/two")
    await run(context, "/system Be brief.")
    assert context.services.sessions.list_sessions() == []
    await drain(context.chat.send("first"))
    stored = context.services.sessions.open("work")
    assert (stored.model, stored.system) == ("scripted/two", "Be brief.")
    assert stage.toasts() == ["Model", "System prompt set"]


async def test_private_sessions_and_what_is_not_stored(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    await run(context, "/private")
    await run(context, "/private copy")
    assert [told[:2] for told in stage.heard] == [("open chat", True), ("open chat", True)]
    fresh, _ = await make(tmp_path / "other")
    for command in ("/rename x", "/tag x", "/archive", "/delete", "/fork", "/private copy"):
        with pytest.raises(UsageError, match="not stored yet"):
            await run(fresh, command)


async def test_export_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    context, _ = await make(tmp_path / "place", "first")
    await run(context, "/export md")
    await run(context, "/export")
    await run(context, "/export md notes.md")
    assert {name for name in os.listdir(tmp_path) if name.endswith(".md")} == {
        "work.md",
        "work-2.md",
        "notes.md",
    }
    text = (tmp_path / "work.md").read_text()
    assert text.startswith("# first\n\n## 1. You · ")
    assert text.endswith("\n\na **reply**\n")
    assert text == (tmp_path / "work-2.md").read_text()


async def test_help_status_theme_and_quit(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "first")
    for command in ("/help", "/status", "/theme light", "/quit", "/new"):
        await run(context, command)
    shown = {told[1]: "\n".join(map(str, told[2:])) for told in stage.heard if told[0] == "show"}
    assert all(f"/{command.name}" in shown["Commands"] for command in COMMANDS)
    assert "work" in shown["Status"]
    assert stage.heard[-3:] == [("theme", "light"), ("quit",), ("open", None, None)]
