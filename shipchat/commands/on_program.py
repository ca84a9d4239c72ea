"""Commands about the program: help, theme, status, quit."""

import asyncio

from shipchat.commands.command import CommandContext


async def theme(context: CommandContext, argument: str) -> None:
    """Use another theme, or choose one while looking at it."""
    await context.stage.choose_theme(argument)


async def status(context: CommandContext, argument: str) -> None:
    """Show what is open, where it is stored and what the model is told."""
    del argument
    chat, services = context.chat, context.services
    session = chat.session
    trashed = await asyncio.to_thread(services.sessions.trashed)
    rows = [
        ("session", session.title),
        ("key", chat.key + ("" if chat.exists else " (not stored yet)")),
        ("messages", f"{len(session.path):,} on this path, {len(session.tree):,} in all"),
        ("model", str(chat.model)),
        ("system prompt", chat.options.system_for(session)),
        ("tags", " ".join(f"#{tag}" for tag in session.tags) or "none"),
        ("saved", "yes" if chat.saved else "NO: what is shown is not on disk yet"),
        ("waiting prompts", str(len(chat.queue))),
        ("sessions in", str(services.directories.sessions)),
        ("in the trash", f"{len(trashed):,}"),
        ("settings", str(services.directories.config_file or "nowhere")),
    ]
    if session.forked_from is not None:
        rows.insert(
            2, ("forked from", f"{session.forked_from.key} at message {session.forked_from.position}")
        )
    rows += [("note", text) for text in session.oddities[:5]]
    context.stage.show("Status", [f"{name:<16}{value}" for name, value in rows])


async def leave(context: CommandContext, argument: str) -> None:
    """End the program; everything is on disk."""
    del argument
    await context.stage.quit()
