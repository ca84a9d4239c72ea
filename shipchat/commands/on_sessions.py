"""Commands about sessions as wholes: new, resume, fork, rename, tag, archive, delete, private, export, undo."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shipchat.commands.command import CommandContext, Option, Undo
from shipchat.commands.markdown_export import markdown_of
from shipchat.commands.names import all_tags
from shipchat.core.errors import StoreUnavailable, UsageError
from shipchat.core.session import Session

NOT_STORED = "It is not stored yet: send something first."


async def new(context: CommandContext, argument: str) -> None:
    """Begin a session; a title may be given, and is set with the first prompt."""
    del argument
    await context.stage.open_session(None)


async def resume(context: CommandContext, argument: str) -> None:
    """Open a session by key or title, or choose one."""
    manager = context.services.sessions
    if argument:
        key: str | None = await asyncio.to_thread(manager.resolve, argument)
    else:
        rows = await asyncio.to_thread(manager.list_sessions, archived=None)
        key = await context.stage.choose(
            "Sessions",
            [Option(row.key, row.title, row.key, current=row.key == context.chat.key) for row in rows],
        )
    if key is not None:
        await context.stage.open_session(key)


async def fork(context: CommandContext, argument: str) -> None:
    """Go on in a copy that ends at message N (default: the last)."""
    stored(context)
    position = whole_number(argument, "fork") if argument else None
    await fork_at(context, context.chat.key, position)


async def fork_at(context: CommandContext, key: str, position: int | str | None = None) -> str:
    """Fork the session `key` at a position or message id, open the fork and return its key."""
    manager = context.services.sessions
    made = await asyncio.to_thread(lambda: manager.fork(key, from_message=position))
    await context.stage.open_session(made)
    where = "" if position is None or isinstance(position, str) else f" at message {position}"
    context.stage.toast(f"Forked{where}", f"{made}; the other one stays as it is")
    return made


async def rename(context: CommandContext, argument: str) -> None:
    """Give the session a title."""
    stored(context)
    title: str | None = argument
    if not argument:
        title = await context.stage.ask("Rename", value=context.chat.session.title)
    if title:
        await rename_to(context, context.chat.key, title)


async def rename_to(context: CommandContext, key: str, title: str) -> None:
    """Give the session `key` this title; undoable."""
    before = await _session(context, key)
    manager = context.services.sessions
    after = await asyncio.to_thread(manager.rename, key, title)
    await _done(context, "Renamed", after.title, lambda: manager.rename(key, before.title))


async def tag(context: CommandContext, argument: str) -> None:
    """Add tags."""
    stored(context)
    await tag_with(context, context.chat.key, argument)


async def tag_with(context: CommandContext, key: str, argument: str) -> None:
    """Add the tags in `argument` to the session `key`, those with a minus removed; ask when it is empty."""
    if not argument:
        used = " ".join(f"#{name}" for name in all_tags(context.rows)[:8])
        note = f"Words, -word removes. In use: {used}" if used else "Words; -word removes one."
        argument = await context.stage.ask("Tags", note=note) or ""
    add = [word for word in argument.split() if not word.startswith("-")]
    remove = [word[1:] for word in argument.split() if word.startswith("-")]
    if add or remove:
        await _tagged(context, key, add, remove)


async def untag(context: CommandContext, argument: str) -> None:
    """Remove tags."""
    stored(context)
    names = argument.split()
    if not names:
        own = context.chat.session.tags
        if not own:
            raise UsageError("this session has no tags")
        chosen = await context.stage.choose("Remove a tag", [Option(name, f"#{name}") for name in own])
        names = [] if chosen is None else [chosen]
    if names:
        await _tagged(context, context.chat.key, [], names)


async def _tagged(context: CommandContext, key: str, add: list[str], remove: list[str]) -> None:
    before = (await _session(context, key)).tags
    manager = context.services.sessions
    after = (await asyncio.to_thread(lambda: manager.tag(key, add=add, remove=remove))).tags
    gained = [name for name in after if name not in before]
    lost = [name for name in before if name not in after]
    if not gained and not lost:
        context.stage.warn("No tag changed")
        return
    said = "  ".join([*(f"#{name}" for name in gained), *(f"-#{name}" for name in lost)])
    await _done(
        context, "Tagged" if gained else "Untagged", said, lambda: manager.tag(key, add=lost, remove=gained)
    )


async def archive(context: CommandContext, argument: str) -> None:
    """Put the session out of the usual list."""
    del argument
    stored(context)
    await archive_session(context, context.chat.key, archived=True)


async def unarchive(context: CommandContext, argument: str) -> None:
    """Put the session back into the usual list."""
    del argument
    stored(context)
    await archive_session(context, context.chat.key, archived=False)


async def archive_session(context: CommandContext, key: str, *, archived: bool) -> None:
    """Archive the session `key` or bring it back; undoable."""
    manager = context.services.sessions
    do, back = (manager.archive, manager.unarchive) if archived else (manager.unarchive, manager.archive)
    after = await asyncio.to_thread(do, key)
    await _done(context, "Archived" if archived else "Back in the list", after.title, lambda: back(key))


async def delete(context: CommandContext, argument: str) -> None:
    """Move the session to the trash."""
    del argument
    stored(context)
    await delete_session(context, context.chat.key)


async def delete_session(context: CommandContext, key: str) -> None:
    """Move the session `key` to the trash; undoable. A fresh session opens when it was the open one."""
    manager = context.services.sessions
    was_open = key == context.chat.key
    trashed = await asyncio.to_thread(manager.delete, key)

    async def undo() -> None:
        back = await asyncio.to_thread(manager.restore, trashed.trash_id)
        if was_open:
            await context.stage.open_session(back)
        else:
            await context.stage.session_changed()

    if was_open:
        await context.stage.open_session(None)
    context.undo.add(f"{trashed.title} is back", undo)
    context.stage.toast("Moved to the trash", trashed.title, undo=undo)
    await context.stage.session_changed()


async def private(context: CommandContext, argument: str) -> None:
    """Begin a session that is stored nowhere; `/private copy` begins with what is here."""
    chats = context.services.chats
    if argument == "copy":
        stored(context)
        key = context.chat.key
        chat = await asyncio.to_thread(lambda: chats.private(copy_of=key))
    else:
        chat = chats.private()
    await context.stage.open_chat(chat, private=True)


async def export(context: CommandContext, argument: str) -> None:
    """Write the session to a Markdown file in the working directory, or to the path given."""
    words = argument.split(maxsplit=1)
    if words and words[0] == "md":
        words = words[1:]
    session = context.chat.session
    if not session.path:
        raise UsageError("there is nothing to export yet")
    await export_session(context, session, words[0] if words else "")


async def export_session(context: CommandContext, session: Session, path: str) -> None:
    """Write `session` as Markdown to `path` (empty: `<key>.md` in the working directory); no file is replaced."""
    text = markdown_of(session)
    written = await asyncio.to_thread(_write_new, path or f"{session.key}.md", text)
    context.stage.toast("Exported", str(written))


def _write_new(name: str, text: str) -> Path:
    target = Path.cwd() / os.path.expanduser(name)
    for number in range(1, 100):
        path = target if number == 1 else target.with_name(f"{target.stem}-{number}{target.suffix}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreUnavailable(f"{path} can't be written: {error.strerror}") from error
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        return path
    raise UsageError(f"there are too many files called {target.name} already")


async def undo_last(context: CommandContext, argument: str) -> None:
    """Take back the last change of this kind: delete, archive, rename, tag."""
    del argument
    step = context.undo.take()
    if step is None:
        raise UsageError("there is nothing to undo")
    title, undo = step
    await undo()
    context.stage.toast("Undone", title)


def stored(context: CommandContext) -> None:
    """Raise UsageError unless the open session is in the store."""
    if not context.chat.exists:
        raise UsageError(NOT_STORED)


def whole_number(text: str, command: str) -> int:
    """Return the position that `text` is. Raises UsageError."""
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"/{command} takes the number of a message, not {text[:30]!r}")
    return int(text)


async def _session(context: CommandContext, key: str) -> Session:
    if key == context.chat.key:
        return context.chat.session
    return await asyncio.to_thread(context.services.sessions.open, key)


async def _done(context: CommandContext, title: str, detail: str, back: Callable[[], Any]) -> None:
    """Say what was done, remember how to take it back, and show the session as it is now."""

    async def undo() -> None:
        await asyncio.to_thread(back)
        await context.stage.session_changed()

    steps: Undo = undo
    context.undo.add(detail, steps)
    context.stage.toast(title, detail, undo=steps)
    await context.stage.session_changed()
