"""The table of slash commands, finding one in what was typed, and completing it."""

from collections.abc import Sequence
from typing import Final

from shipchat.commands import names, on_compaction, on_program, on_sessions, on_turns
from shipchat.commands.command import Command, CommandContext, Option
from shipchat.core.errors import UsageError


async def help_text(context: CommandContext, argument: str) -> None:
    """List the commands."""
    del argument
    context.stage.show(
        "Commands", [f"{f'/{one.name} {one.arguments}'.rstrip():<22}{one.about}" for one in COMMANDS]
    )


COMMANDS: Final[tuple[Command, ...]] = (
    Command(name="help", run=help_text, about="these commands", aliases=("?",)),
    Command(name="new", run=on_sessions.new, about="begin a session", aliases=("clear",)),
    Command(
        name="resume", run=on_sessions.resume, about="open a session", arguments="[SESSION]", aliases=("open",),
        complete=names.sessions,
    ),
    Command(
        name="fork", run=on_sessions.fork, about="go on in a copy, from message N", arguments="[N]",
        complete=on_turns.positions,
    ),
    Command(name="rename", run=on_sessions.rename, about="give it a title", arguments="[TITLE]", aliases=("title",)),
    Command(name="tag", run=on_sessions.tag, about="add tags", arguments="[TAG…]", complete=names.new_tags),
    Command(name="untag", run=on_sessions.untag, about="remove tags", arguments="[TAG…]", complete=names.own_tags),
    Command(name="archive", run=on_sessions.archive, about="put it out of the list"),
    Command(name="unarchive", run=on_sessions.unarchive, about="put it back into the list"),
    Command(name="delete", run=on_sessions.delete, about="move it to the trash"),
    Command(name="undo", run=on_sessions.undo_last, about="take the last change back"),
    Command(
        name="model", run=on_turns.model, about="another model", arguments="[PROVIDER/MODEL]", complete=names.models
    ),
    Command(name="system", run=on_turns.system, about="what the model is told first", arguments="[TEXT]"),
    Command(
        name="retry", run=on_turns.retry, about="another reply", arguments="[N]", aliases=("regenerate",),
        complete=on_turns.positions,
    ),
    Command(name="continue", run=on_turns.go_on, about="go on with a reply that was cut off"),
    Command(
        name="queue", run=on_turns.send_waiting, about="send the prompts that wait", arguments="[drop]",
        complete=names.words("drop"),
    ),
    Command(
        name="compact", run=on_compaction.compact, about="summarise older turns", arguments="[INSTRUCTIONS]",
        takes_lines=True, complete=on_compaction.complete,
    ),
    Command(name="edit", run=on_turns.edit, about="write a prompt anew", arguments="[N]", complete=on_turns.positions),
    Command(name="copy", run=on_turns.copy, about="copy a reply", arguments="[N]", complete=on_turns.positions),
    Command(name="goto", run=on_turns.go_to, about="go to message N", arguments="N", complete=on_turns.positions),
    Command(
        name="private", run=on_sessions.private, about="a session stored nowhere", arguments="[copy]",
        complete=names.words("copy"),
    ),
    Command(
        name="export", run=on_sessions.export, about="write it to a file", arguments="[md] [PATH]",
        complete=names.words("md"),
    ),
    Command(name="theme", run=on_program.theme, about="other colours", arguments="[NAME]", complete=names.themes),
    Command(name="status", run=on_program.status, about="where things stand"),
    Command(name="quit", run=on_program.leave, about="end the program", aliases=("exit", "q")),
)  # fmt: skip
"""Every command, in the order of `/help`."""

_BY_NAME: Final = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


def is_command(text: str) -> bool:
    """Return whether `text` is meant as a command: a slash and a word without another slash, on one line.

    `/etc/hosts is odd` and a text of several lines are prompts (unless the command takes lines); a space before the slash makes any text one.

    >>> [is_command(text) for text in ("/new", "/etc/hosts", " /new", "/", "what")]
    [True, False, False, False, False]
    """
    word = text[1:].split(maxsplit=1)[0] if text[1:].split() else ""
    return (
        text.startswith("/")
        and bool(word)
        and not text[1:2].isspace()
        and "/" not in word
        and ("\n" not in text.strip() or (word in _BY_NAME and _BY_NAME[word].takes_lines))
    )


def parse(text: str) -> tuple[Command, str]:
    """Return the command that `text` names and its argument. Raises UsageError with the nearest names."""
    name, _, argument = text[1:].strip().partition(" ")
    command = _BY_NAME.get(name.casefold())
    if command is None:
        from difflib import get_close_matches

        near = get_close_matches(name.casefold(), _BY_NAME, n=2, cutoff=0.5)
        advice = (
            f"Did you mean {' or '.join(f'/{one}' for one in near)}?" if near else "/help lists them all."
        )
        raise UsageError(f"there is no command /{name[:40]}", advice=(advice,))
    return command, argument.strip()


async def run(context: CommandContext, text: str) -> None:
    """Run the command in `text`. Raises what the command raises (a ShipchatError says what was not done)."""
    command, argument = parse(text)
    await command.run(context, argument)


def complete_name(prefix: str) -> Sequence[Option]:
    """Offer commands whose name begins with `prefix`, those found by an alias after them."""
    folded = prefix.casefold()
    first = [one for one in COMMANDS if one.name.startswith(folded)]
    then = [
        one for one in COMMANDS if one not in first and any(name.startswith(folded) for name in one.aliases)
    ]
    return [
        Option(f"/{one.name}", f"/{one.name}", one.about, current=bool(one.arguments))
        for one in (*first, *then)
    ]


def complete_argument(context: CommandContext, name: str, prefix: str) -> Sequence[Option]:
    """Offer what may stand after `/name`."""
    command = _BY_NAME.get(name.casefold())
    return () if command is None else command.complete(context, prefix)
