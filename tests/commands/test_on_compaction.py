"""The slash command /compact on real files, with a stage that writes down what it was told."""

from pathlib import Path

import pytest

from shipchat.commands.command import CommandContext, UndoLog
from shipchat.commands.table import complete_argument, is_command, run
from shipchat.core.errors import UsageError
from shipchat.core.protocols import ModelRequest
from tests.commands.test_commands import WritingStage, drain
from tests.tui.chat_app import make_services

SUMMARY = "## Goal\nexport\n## Progress\nhalf"


def answer(request: ModelRequest) -> str:
    return SUMMARY if "<transcript-" in request.messages[0].text else "reply " * 90


class EditingStage(WritingStage):
    async def edit_text(self, title: str, text: str) -> str | None:
        self.heard.append(("edit text", title, text.splitlines()[0]))
        return self.answers.pop(0)


def summaries(context: CommandContext) -> list[str]:
    return [one.summary for one in context.chat.session.checkpoints]


async def make(place: Path, *answers: str | None) -> tuple[CommandContext, EditingStage]:
    services, _ = make_services(place, [answer])
    chat = services.chats.open("work")
    for prompt in ("one", "two", "three"):
        await drain(chat.send(prompt))
    stage = EditingStage([*answers])
    return CommandContext(services, stage, chat, UndoLog(), ()), stage


async def test_a_summary_is_shown_before_it_applies_and_can_be_taken_back_and_brought_back(
    tmp_path: Path,
) -> None:
    context, stage = await make(tmp_path, "read")
    await run(context, "/compact keep the host names")
    assert summaries(context) == []
    shown = next(told for told in stage.heard if told[0] == "show")
    assert shown[2:4] == ("## Goal", "export")
    await run(context, "/compact apply")
    (checkpoint,) = context.chat.session.checkpoints
    assert checkpoint.instructions == "keep the host names"
    await run(context, "/compact undo")
    assert summaries(context) == []
    await run(context, "/compact redo")
    assert summaries(context) == [checkpoint.summary]
    await run(context, "/undo")
    assert summaries(context) == []
    assert stage.toasts() == [
        "Summarising older turns", "Compacted", "Compaction taken back", "Compaction is back", "Undone",
    ]  # fmt: skip


async def test_it_can_be_edited_and_end_at_a_chosen_message(tmp_path: Path) -> None:
    context, stage = await make(tmp_path, "edit", "## Goal\nmine")
    await run(context, "/compact to 2")
    (checkpoint,) = context.chat.session.checkpoints
    assert (checkpoint.summary, checkpoint.covers) == ("## Goal\nmine", context.chat.session.path[1])
    assert ("edit text", "Summary", "## Goal") in stage.heard


@pytest.mark.parametrize("choice", ["leave", None])
async def test_nothing_is_changed_when_it_is_left(tmp_path: Path, choice: str | None) -> None:
    context, _ = await make(tmp_path, choice)
    await run(context, "/compact")
    assert summaries(context) == []
    with pytest.raises(UsageError, match="no summary to apply"):
        await run(context, "/compact apply")


async def test_words_are_completed(tmp_path: Path) -> None:
    context, _ = await make(tmp_path)
    assert [option.id for option in complete_argument(context, "compact", "")] == [
        "undo",
        "redo",
        "apply",
        "to",
    ]


async def test_where_there_is_no_dialog_the_summary_is_changed_in_the_composer(tmp_path: Path) -> None:
    services, _ = make_services(tmp_path, [answer])
    chat = services.chats.open("work")
    for prompt in ("one", "two", "three"):
        await drain(chat.send(prompt))
    stage = WritingStage(["edit"])
    context = CommandContext(services, stage, chat, UndoLog(), ())
    await run(context, "/compact")
    assert summaries(context) == []
    (typed,) = [str(told[1]) for told in stage.heard if told[0] == "composer"]
    assert is_command(typed)
    await run(context, typed.replace("half", "three quarters"))
    (summary,) = summaries(context)
    assert "three quarters" in summary
