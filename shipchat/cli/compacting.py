"""`compact`: summarises older turns of a session for the model, takes that back, brings it back."""

import asyncio
import os
import shlex
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from shipchat.cli.arguments import Json, OptionalSession, session_key
from shipchat.cli.printing import block, line, note, print_json
from shipchat.cli.startup import open_services
from shipchat.core.errors import UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services
    from shipchat.core.entries import CheckpointEntry
    from shipchat.sessions.chat_session import ChatSession
    from shipchat.sessions.compactor import Proposal

T = TypeVar("T")


def compact(
    session: OptionalSession = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make the summary and show it, but change nothing.")
    ] = False,
    instructions: Annotated[
        str | None, typer.Option("--instructions", "-i", metavar="TEXT", help="What the summary should heed.")
    ] = None,
    up_to: Annotated[
        str | None,
        typer.Option("--up-to", metavar="N", help="Summarise up to this position (or message id)."),
    ] = None,
    edit: Annotated[
        bool, typer.Option("--edit", help="Edit the summary before it applies ($EDITOR).")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last compaction back.")] = False,
    redo: Annotated[bool, typer.Option("--redo", help="Bring back what --undo took back.")] = False,
    as_json: Json = False,
) -> None:
    """Summarise older turns, so that the model is sent less.

    Nothing is removed: every message stays readable, searchable and exportable, and --undo lets the model see them
    again, also after further turns. The newest turns are kept word for word.

    Examples:
      shipchat compact work --dry-run                  what it would do, and the summary
      shipchat compact work -i "Keep all file names."
      shipchat compact work --up-to 40 --edit
      shipchat compact work --undo
    """
    if undo + redo + (dry_run or edit or instructions is not None or up_to is not None) > 1 or (
        dry_run and edit
    ):
        raise UsageError("these options exclude each other: --undo, --redo, and those of a new summary")
    services = open_services("compact")
    key = session_key(services, session)
    chat = services.chats.open(key)
    if undo or redo:
        change = chat.undo_compaction if undo else chat.redo_compaction
        checkpoint = _run(services, chat, change)
        _print_change(key, chat, checkpoint, undone=undo, as_json=as_json)
        return

    async def propose() -> "Proposal":
        return await chat.compaction.propose(instructions=instructions, up_to=up_to, progress=_told)

    async def work() -> "tuple[Proposal, CheckpointEntry | None]":
        proposal = await propose()
        if dry_run:
            return proposal, None
        if edit:
            proposal = await chat.compaction.edited(
                proposal, await asyncio.to_thread(_edited, proposal.summary)
            )
        return proposal, await chat.compaction.apply(proposal)

    proposal, applied = _run(services, chat, work)
    if as_json:
        print_json(_proposal_value(key, proposal, applied))
        return
    about = "" if proposal.exact else "about "
    verb = "are summarised" if applied else "would be summarised"
    line(
        f"{key}: messages {proposal.first} to {proposal.last} {verb}; a request has {about}"
        f"{proposal.tokens_after:,} tokens instead of {proposal.tokens_before:,}"
    )
    if dry_run:
        line()
        block(proposal.summary)
    else:
        note(f"Take it back: shipchat compact {key} --undo")


def _run(services: "Services", chat: "ChatSession", work: "Callable[[], Awaitable[T]]") -> T:
    """Do `work` on the session as it is on disk; whatever happens, what its model needed is stopped."""
    from shipchat.cli.reports import bug_reports
    from shipchat.headless.one_shot import closed

    async def whole() -> T:
        try:
            await chat.refresh()
            return await work()
        finally:
            await closed(chat, services.models.close)

    with bug_reports():
        return asyncio.run(whole())


def _told(piece: int, pieces: int) -> None:
    note("shipchat: summarising" + (f", part {piece} of {pieces}" if pieces > 1 else ""))


def _edited(summary: str) -> str:
    """Return `summary` as the user's editor leaves it. Raises UsageError when there is none or it fails."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no editor is set", advice=("Set EDITOR, for example: EDITOR=nano",))
    descriptor, name = tempfile.mkstemp(prefix="shipchat-summary-", suffix=".md")  # 0600
    path = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(summary + "\n")
        try:
            done = subprocess.run([*shlex.split(editor), name], check=False)  # noqa: S603 -- the user's own editor
        except OSError as error:
            raise UsageError(f"the editor can't be run: {editor}: {error.strerror}") from None
        if done.returncode != 0:
            raise UsageError("the editor failed; nothing was changed", details={"code": done.returncode})
        return path.read_text(encoding="utf-8", errors="replace").strip()
    finally:
        path.unlink(missing_ok=True)


def _print_change(
    key: str, chat: "ChatSession", checkpoint: "CheckpointEntry", *, undone: bool, as_json: bool
) -> None:
    from shipchat.core.compaction import sees_from

    starts_at = sees_from(chat.session)
    if as_json:
        print_json({"key": key, "checkpoint": checkpoint.id, "undone": undone, "starts_at": starts_at})
        return
    where = "all messages" if starts_at == 1 else f"a summary, and messages from {starts_at} on"
    note(f"{key}: the compaction is {'taken back' if undone else 'back'}; the model sees {where}")


def _proposal_value(key: str, proposal: "Proposal", applied: "CheckpointEntry | None") -> dict[str, Any]:
    return {
        "key": key,
        "checkpoint": None if applied is None else applied.id,
        "first": proposal.first,
        "last": proposal.last,
        "covers": proposal.covers,
        "kept_from": proposal.kept_from,
        "tokens_before": proposal.tokens_before,
        "tokens_after": proposal.tokens_after,
        "exact": proposal.exact,
        "window": proposal.window,
        "model": proposal.model,
        "instructions": proposal.instructions,
        "summary": proposal.summary,
    }


def show_what_the_model_sees(services: "Services", key: str, *, as_json: bool) -> None:
    """Print what a request would be made of now: system prompt, summary, messages, as the provider gets them."""
    from shipchat.cli.style import bold, dim
    from shipchat.core.messages import TextPart
    from shipchat.core.safe_text import safe_text
    from shipchat.headless.json_values import part_value
    from shipchat.providers.sending import for_provider

    chat = services.chats.open(key)

    async def work() -> Any:
        return await chat.compaction.sent(), await chat.context()

    (request, projection), use = _run(services, chat, work)
    rows = for_provider(request.messages, chat.model.provider)
    if as_json:
        messages = [{"role": row.role, "parts": [part_value(part) for part in row.parts]} for row in rows]
        print_json(
            {
                "key": key,
                "model": use.model,
                "tokens": use.used,
                "window": use.window,
                "starts_at": projection.starts_at,
                "checkpoint": use.checkpoint,
                "system": request.system,
                "messages": messages,
            }
        )
        return
    print(dim(f"{use.model} · about {use.used:,} of {use.window:,} tokens"))
    for role, parts in [("system", (TextPart(request.system),)), *((row.role, row.parts) for row in rows)]:
        print(f"\n{bold(role)}")
        for part in parts:
            print(safe_text(part.text if isinstance(part, TextPart) else str(part_value(part))))
