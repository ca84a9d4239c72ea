"""`send`: one turn without a screen."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shipchat.cli.arguments import Model, System, key_for_sending
from shipchat.cli.printing import note
from shipchat.cli.startup import open_services
from shipchat.core.errors import SessionNotFound, UsageError

if TYPE_CHECKING:
    from shipchat.bootstrap import Services
    from shipchat.headless.one_shot import Output
    from shipchat.sessions.chat_session import ChatSession

Mode = Literal["resume", "fork"]
Format = Literal["text", "json", "events"]


def send(
    prompt: Annotated[
        str | None, typer.Argument(metavar="PROMPT", help="What to say; - reads it from standard input.")
    ] = None,
    *,
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", metavar="KEY", help="Session to go on with, made on first use."),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="resume: go on with the session; fork: ask a copy and keep nothing."),
    ] = "resume",
    model: Model = None,
    system: System = None,
    attach: Annotated[
        list[str] | None,
        typer.Option("--attach", metavar="FILE", help="File to send along; may be given again."),
    ] = None,
    output: Annotated[Format, typer.Option("--output", "-o", help="How the reply is printed.")] = "text",
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=1, help="Longest reply in tokens.")
    ] = None,
    no_save: Annotated[bool, typer.Option("--no-save", help="Keep nothing of this on disk.")] = False,
    wait_for_stdin: Annotated[
        bool, typer.Option("--stdin", help="Wait for standard input to end, however slow it is.")
    ] = False,
) -> None:
    """Ask once and print the reply.

    The reply goes to standard output as it comes, everything else to standard error. Without -s a new session is
    made and its key told. The prompt comes from the argument, from standard input, or both, in this order.

    With a PROMPT, standard input that stays silent for half a second is left unread, and said so; --stdin waits.

    On a terminal, control characters in the reply are made visible; a pipe gets the text exactly as it came.

    --attach sends text files (UTF-8, up to 1 MB) to any model, pictures (PNG, JPEG, GIF, WebP) and PDF files (up to 20
    MB) to models that take them; all files of a prompt together may have 24 MB. They are kept beside the sessions, once
    each.

    Examples:
      shipchat send "Why is the sky blue?"          a new session
      shipchat send -s work "And at sunset?"        goes on with work
      git diff | shipchat send "Review this"        prompt and input together
      shipchat send --attach plan.pdf --attach notes.md "Do they agree?"
      shipchat send "Hello" -o json | jq -r .output
      shipchat send -s work --mode fork "Aside"     knows work, leaves no trace
    """
    from shipchat.sessions.attaching import read_attachments

    files = read_attachments(attach or ())
    text = _whole_prompt(prompt, wait=wait_for_stdin)
    services = open_services("send", flags={"max_tokens": max_tokens})
    chat, told, private = _chat(services, session, mode, model=model, system=system, private=no_save)
    from shipchat.cli.reports import bug_reports
    from shipchat.headless.one_shot import run_turn

    told_to = _output(output, chat, told, private=private)
    with bug_reports():
        code = run_turn(
            chat, lambda: chat.send(text, attachments=files), told_to, close=services.models.close
        )
    raise typer.Exit(code)


def _whole_prompt(prompt: str | None, *, wait: bool) -> str:
    from shipchat.cli.stdin_text import read_stdin

    piped: str | None = ""
    if prompt is None or prompt == "-" or wait:
        if sys.stdin.isatty() and prompt is None and not wait:
            raise UsageError("there is nothing to send", advice=("For example: shipchat send 'Hello'",))
        piped = read_stdin(patient=True)
    elif not sys.stdin.isatty():
        piped = read_stdin(patient=False)
        if piped is None:
            note("shipchat: standard input stayed silent and was left unread (--stdin waits for it)")
    asked = "" if prompt is None or prompt == "-" else prompt
    text = "\n\n".join(one for one in (asked, (piped or "").strip("\n")) if one.strip())
    if not text:
        raise UsageError(
            "there is nothing to send: the prompt is empty", advice=("For example: shipchat send 'Hello'",)
        )
    return text


def _chat(
    services: "Services",
    name: str | None,
    mode: Mode,
    *,
    model: str | None,
    system: str | None,
    private: bool,
) -> tuple["ChatSession", str | None, bool]:
    """Return the chat, what to tell about it once the turn has started, and whether nothing is kept."""
    if mode == "fork" or private:
        copy_of = _existing(services, name)
        if mode == "fork" and name is None:
            raise UsageError("--mode fork needs the session to copy", advice=("For example: -s work",))
        origin = f"a copy of {copy_of} is asked" if copy_of else "a private session"
        chat = services.chats.private(copy_of=copy_of, model=model, system=system, mentions=False)
        return chat, f"shipchat: {origin}; nothing of this is kept", True
    if name is None:
        chat = services.chats.open(None, model=model, system=system, mentions=False)
        return chat, f"shipchat: new session {chat.key} (go on: shipchat send -s {chat.key} …)", False
    key, exists = key_for_sending(services, name)
    chat = services.chats.open(key, model=model, system=system, mentions=False)
    return chat, None if exists else f"shipchat: new session {chat.key}", False


def _existing(services: "Services", name: str | None) -> str | None:
    """Return the key of the session to copy, None when there is none by this name."""
    if name is None:
        return None
    try:
        key, exists = key_for_sending(services, name)
    except SessionNotFound:
        return None
    return key if exists else None


def _output(output: Format, chat: "ChatSession", told: str | None, *, private: bool) -> "Output":
    if output == "text":
        from shipchat.headless.text import TextOutput

        return TextOutput(told, key=None if private else chat.key)
    if output == "json":
        from shipchat.headless.json_output import JsonOutput

        return JsonOutput(told, private=private)
    from shipchat.headless.events import EventsOutput

    return EventsOutput()
