"""Compaction as it is seen: a summary changed before it applies, the divider, and taking it back."""

from pathlib import Path

from shipchat.core.compaction import active_checkpoint
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.screens.edit_text import EditTextScreen
from tests.tui.chat_app import make_services, running

SUMMARY = """## Goal
Ship the nightly export.
## Constraints and preferences
None.
## Progress
The pool was found to be empty.
## Decisions
One connection a batch.
## Next steps
Write the patch.
## Critical context
nightly.py
"""


async def test_a_summary_is_changed_applied_shown_and_taken_back(tmp_path: Path) -> None:
    long = "word " * 400
    services, provider = make_services(tmp_path, [long, long, long, SUMMARY, "ok"])
    provider.window = 3_000
    async with running(tmp_path, made=(services, provider)) as chat:
        for prompt in ("one", "two", "three"):
            await chat.say(prompt)
        await chat.command("/compact")
        await chat.until(
            lambda: isinstance(chat.app.screen, ChooseScreen), "the choice of what to do with it"
        )
        await chat.shows("Change it")
        await chat.press("down", "down", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, EditTextScreen), "the summary to change")
        edit = chat.app.screen
        assert isinstance(edit, EditTextScreen)
        assert "Ship the nightly export." in edit.area.text
        edit.area.text = edit.area.text.replace("(none)", "Keep the public signature.")
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: active_checkpoint(chat.opened.session) is not None, "the checkpoint")
        checkpoint = active_checkpoint(chat.opened.session)
        assert checkpoint is not None
        assert "Keep the public signature." in checkpoint.summary
        await chat.until(lambda: chat.opened.starts_at > 1)
        await chat.command("/undo")
        await chat.until(lambda: active_checkpoint(chat.opened.session) is None, "taking it back")
        assert chat.opened.starts_at == 1
