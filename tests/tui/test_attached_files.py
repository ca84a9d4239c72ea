"""Files that the draft names: completed, shown above it, dropped again, sent along."""

from pathlib import Path

import pytest
from textual import events

from shipchat.core.attachments import EVERY_SORT
from shipchat.core.messages import AttachmentPart, UserMessage
from tests.core.test_attachments import PNG
from tests.tui.chat_app import Chat, running


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "notes.md").write_text("all well\n")
    (place / "cat.png").write_bytes(PNG)
    return place


def chips(chat: Chat) -> list[tuple[str, str]]:
    return [(one.name, one.size) for one in chat.screen.view.composer.state.attachments]


def attached(chat: Chat) -> list[str]:
    prompts = [message for message in chat.opened.session.messages() if isinstance(message, UserMessage)]
    return [part.name for part in prompts[-1].parts if isinstance(part, AttachmentPart)]


async def test_a_file_is_completed_shown_and_sent(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.type("Read @no")
        await chat.shows("@notes.md")
        await chat.press("tab")
        await chat.until(lambda: chips(chat) == [("notes.md", "9 B")])
        assert chat.screen.view.composer.text == "Read @notes.md "
        await chat.press("enter")
        await chat.until(lambda: chat.opened.session.path[1:] and not chat.opened.turning)
        await chat.until(lambda: chips(chat) == [])
        assert attached(chat) == ["notes.md"]
        assert "all well" in chat.provider.requests[0].messages[0].text
        await chat.shows("notes.md 9 B")


async def test_a_picture_the_model_can_not_take_is_refused_and_the_draft_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path) as chat:
        await chat.send("What is @cat.png")
        await chat.until(lambda: chat.toasts)
        assert chat.screen.view.composer.text.strip() == "What is @cat.png"
        assert (chat.provider.requests, len(chat.opened.session.path)) == ([], 0)
        chat.provider.accepts = EVERY_SORT
        await chat.press("enter")
        await chat.until(lambda: chat.opened.session.path[1:] and not chat.opened.turning)
        assert attached(chat) == ["cat.png"]


async def test_a_dropped_file_gets_its_sign_and_loses_it_by_its_cross(tmp_path: Path, here: Path) -> None:
    async with running(tmp_path) as chat:
        chat.screen.view.composer.focus_input()
        chat.screen.view.composer.input.post_message(events.Paste(f"'{here}/cat.png'"))
        await chat.until(lambda: chips(chat) == [("cat.png", "28 B")])
        assert chat.screen.view.composer.text == f"@{here}/cat.png "
        await chat.pilot.click("#composer-attachments", offset=(len("cat.png 28 B "), 0))
        await chat.until(lambda: chips(chat) == [])
        assert chat.screen.view.composer.text == ""
