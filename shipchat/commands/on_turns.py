"""Commands about what is said: retry, continue, edit, copy, goto, model, system, the waiting prompts."""

import asyncio
from dataclasses import replace

from shipchat.commands.command import CommandContext, Option
from shipchat.commands.model_list import model_options
from shipchat.commands.on_sessions import whole_number
from shipchat.core.errors import UsageError
from shipchat.core.messages import AssistantMessage, Message, UserMessage
from shipchat.core.models import parse_model
from shipchat.sessions.chat_session import ChatSession


async def retry(context: CommandContext, argument: str) -> None:
    """Make another reply beside the last one (or beside message N)."""
    ref = whole_number(argument, "retry") if argument else None
    context.stage.start_turn(context.chat.regenerate(ref))


async def go_on(context: CommandContext, argument: str) -> None:
    """Have a reply that was cut off continued."""
    del argument
    context.stage.start_turn(context.chat.continue_reply())


async def send_waiting(context: CommandContext, argument: str) -> None:
    """Send the first of the prompts that wait; `drop` drops them all."""
    await adopt_left(context.chat)
    if argument == "drop":
        dropped = len(context.chat.queue)
        await context.chat.set_queue(())
        await context.stage.session_changed()
        context.stage.toast(f"{dropped} waiting prompts dropped")
        return
    context.stage.start_turn(context.chat.send_queued())


async def adopt_left(chat: ChatSession) -> None:
    """Take prompts that a program that is gone left behind into the session's queue, before its own.

    Raises SessionHeld, StoreUnavailable, SessionDamaged.
    """
    if not chat.exists or chat.replying:
        return
    seen = await chat.look()
    known = {prompt.id for prompt in chat.queue}
    left = [prompt for prompt in seen.queue if prompt.id not in known]
    if left and seen.holder is None:
        await chat.set_queue((*left, *chat.queue))


async def edit(context: CommandContext, argument: str) -> None:
    """Write prompt N (default: the last) anew."""
    session = context.chat.session
    if argument:
        position = whole_number(argument, "edit")
        if not isinstance(session.find_message(position), UserMessage):
            raise UsageError(f"message {position} is a reply; only prompts can be edited")
    else:
        position = _last(context, UserMessage)
    await context.stage.edit(position)


async def copy(context: CommandContext, argument: str) -> None:
    """Copy reply N (default: the last) as it was written, in Markdown."""
    position = whole_number(argument, "copy") if argument else _last(context, AssistantMessage)
    message = context.chat.session.find_message(position)
    context.stage.copy(message.text)
    context.stage.toast("Copied", f"message {position}, {len(message.text):,} characters")


async def go_to(context: CommandContext, argument: str) -> None:
    """Bring message N into view."""
    if not argument:
        argument = (
            await context.stage.ask("Go to message", note=f"1 to {len(context.chat.session.path):,}") or ""
        )
    if argument:
        position = whole_number(argument, "goto")
        context.chat.session.find_message(position)
        await context.stage.go_to(position)


async def model(context: CommandContext, argument: str) -> None:
    """Use another model from the next turn on."""
    current = str(context.chat.model)
    chosen: str | None = argument
    if not argument:
        options = await asyncio.to_thread(model_options, context.services, current)
        chosen = await context.stage.choose("Model", options)
    if not chosen or chosen == current:
        return
    await use_model(context, chosen)


async def use_model(context: CommandContext, name: str) -> None:
    """Use the model `name`, `provider/model`, and say so. Raises UsageError for another form, ModelMissing."""
    await switch_model(context, name)
    chat = context.chat
    when = "next turn on; it reads the session anew" if chat.exists else "first turn on"
    context.stage.toast("Model", f"{chat.model} from the {when}")


async def switch_model(context: CommandContext, name: str) -> None:
    """Let the model `name` answer from now on. Raises as `use_model`."""
    ref = parse_model(name)
    await asyncio.to_thread(
        context.services.models.provider, ref
    )  # unknown providers are told now, not at a send
    chat = context.chat
    if chat.exists:
        await chat.set(model=str(ref))
    chat.options = replace(chat.options, model=None if chat.exists else str(ref))
    await context.stage.session_changed()


async def system(context: CommandContext, argument: str) -> None:
    """Set the session's system prompt, or change it."""
    chat = context.chat
    now = chat.options.system_for(chat.session)
    text: str | None = argument
    if not argument:
        text = await context.stage.ask("System prompt", value=now, note="What the model is told first.")
    if text is None or text == now:
        return
    if chat.exists:
        await chat.set(system=text)
    chat.options = replace(chat.options, system=None if chat.exists else text)
    context.stage.toast("System prompt set", text)


def _last(context: CommandContext, kind: type[Message]) -> int:
    session = context.chat.session
    for position in range(len(session.path), 0, -1):
        if isinstance(session.tree.get(session.path[position - 1]), kind):
            return position
    raise UsageError("there is no prompt yet" if kind is UserMessage else "there is no reply yet")


def positions(context: CommandContext, prefix: str) -> list[Option]:
    """Offer the last prompts and replies by their positions."""
    session = context.chat.session
    offered: list[Option] = []
    for position in range(len(session.path), max(0, len(session.path) - 200), -1):
        if str(position).startswith(prefix):
            message = session.tree.get(session.path[position - 1])
            who = "you" if isinstance(message, UserMessage) else "assistant"
            text = "" if message is None else " ".join(message.text[:200].split())[:60]
            offered.append(Option(str(position), str(position), f"{who}: {text}"))
        if len(offered) == 20:
            break
    return offered
