"""The command that summarises older turns: propose, read, edit, apply; take back and bring back."""

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from shipchat.commands.command import CommandContext, Option
from shipchat.commands.on_sessions import stored, whole_number
from shipchat.core.errors import UsageError
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.compactor import Proposal

WORDS: Final = ("undo", "redo", "apply", "to")

_waiting: Final[WeakKeyDictionary[ChatSession, Proposal]] = WeakKeyDictionary()


@runtime_checkable
class EditsText(Protocol):
    """What a front end may be able to do beside being a `Stage`."""

    async def edit_text(self, title: str, text: str) -> str | None:
        """Return `text` of several lines as the user changes it, None when it is given up."""
        ...


async def compact(context: CommandContext, argument: str) -> None:
    """Propose a summary of older turns, and apply it when the user agrees.

    `undo` takes the last compaction back, `redo` brings it back, `to N` summarises up to message N, `apply` applies
    the summary that was read, or the text after it instead; anything else is what the summary should heed.
    """
    stored(context)
    word, rest = (*argument.split(maxsplit=1), "", "")[:2]
    if argument == "undo":
        await _undo(context)
    elif argument == "redo":
        checkpoint = await context.chat.redo_compaction()
        await _applied(context, "Compaction is back", checkpoint.tokens_before, checkpoint.tokens_after)
    elif word == "apply":
        await _apply(context, _taken(context.chat), rest.strip() or None)
    elif word == "to":
        number, _, wishes = rest.strip().partition(" ")
        await _propose(context, wishes.strip(), up_to=whole_number(number, "compact to"))
    else:
        await _propose(context, argument)


def complete(_context: CommandContext, prefix: str) -> Sequence[Option]:
    """Offer what may follow instead of instructions."""
    return [Option(word, word) for word in WORDS if word.startswith(prefix)]


async def _propose(context: CommandContext, wishes: str, *, up_to: int | None = None) -> None:
    stage, chat = context.stage, context.chat

    def progress(piece: int, pieces: int) -> None:
        stage.toast("Summarising older turns", f"part {piece} of {pieces}" if pieces > 1 else "")

    proposal = await chat.compaction.propose(instructions=wishes or None, up_to=up_to, progress=progress)
    options = [
        Option("apply", "Use this summary"),
        Option("read", "Read it first", "/compact apply then puts it to use"),
        Option("edit", "Change it"),
        Option("leave", "Leave it"),
    ]
    choice = await stage.choose(headline(proposal), options)
    if choice == "apply":
        await _apply(context, proposal)
    elif choice == "read":
        _waiting[chat] = proposal
        stage.show(headline(proposal), proposal.summary.splitlines())
    elif choice == "edit" and isinstance(stage, EditsText):
        text = await stage.edit_text("Summary", proposal.summary)
        if text is not None:
            await _apply(context, proposal, text)
    elif choice == "edit":
        _waiting[chat] = proposal
        stage.set_composer(f"/compact apply\n{proposal.summary}")
        stage.toast("The summary is below", "change it, then Enter puts it to use")


def headline(proposal: Proposal) -> str:
    """Return what a proposal does, in a line."""
    about = "" if proposal.exact else "about "
    return (
        f"Messages {proposal.first} to {proposal.last}: a request has {about}{proposal.tokens_after:,} tokens "
        f"instead of {proposal.tokens_before:,}"
    )


def _taken(chat: ChatSession) -> Proposal:
    proposal = _waiting.pop(chat, None)
    if proposal is None:
        raise UsageError("there is no summary to apply", advice=("/compact makes one.",))
    return proposal


async def _apply(context: CommandContext, proposal: Proposal, summary: str | None = None) -> None:
    checkpoint = await context.chat.compaction.apply(proposal, summary)
    await _applied(context, "Compacted", checkpoint.tokens_before, checkpoint.tokens_after)


async def _applied(context: CommandContext, title: str, before: int, after: int) -> None:
    chat = context.chat

    async def undo() -> None:
        await chat.undo_compaction()
        await context.stage.session_changed()

    context.undo.add("the compaction", undo)
    context.stage.toast(title, f"{before:,} to {after:,} tokens; every message stays here", undo=undo)
    await context.stage.session_changed()


async def _undo(context: CommandContext) -> None:
    chat = context.chat
    await chat.undo_compaction()

    async def redo() -> None:
        await chat.redo_compaction()
        await context.stage.session_changed()

    context.undo.add("taking the compaction back", redo)
    context.stage.toast("Compaction taken back", "the model sees the messages again", undo=redo)
    await context.stage.session_changed()
