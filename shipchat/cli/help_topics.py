"""`help`: a command's help by its name, and the JSON that commands print, field by field."""

from typing import Annotated, Final

import typer

from shipchat.core.errors import UsageError

JSON_HELP: Final = """\
Commands with --json print one JSON document on standard output. Field names are stable: fields may be added, none
is renamed or removed. Times are UTC, like 2026-11-29T15:09:00.123Z. What is unknown or doesn't apply is null.

list --json: an array of
  key, title, tags[], archived, messages (how many), model, created_at, updated_at (latest message), size (bytes)
  forked_from   null or {key, message (id), position}
  running       null or {pid, host, since, program}: the process in which a turn runs
  damage        null or {path, line (0: the file as such), reason, code}

show --format json: an object of
  key, title, tags[], archived, system, model, created_at, updated_at, forked_from, total_messages, oddities[]
  running       as in list
  messages      array of {position (1-based), id, parent, role ("user" | "assistant"), at, text, parts[]}
                a reply also has model, status ("complete" | "interrupted" | "failed"), stop_reason,
                usage (null or {input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens}),
                failure (null or {code, message})
  parts         {type: "text", text} · {type: "reasoning", text, provider} · {type: "tool_call", call_id, name,
                arguments, result: null or {output, is_error}} · {type: "attachment", sha256, name, media_type, size}

send --output json: an object of
  key (null when nothing is kept), model, status ("complete" | "interrupted" | "failed"), output (the reply's text)
  message_id, position, stop_reason, usage, saved, notices[] of {about, message, details}
  error (null or {code, message}), exit_code

send --output events: one JSON object a line, as it happens; each has type and message (a sentence; of a delta its
  text), then fields of its own. Exactly one last line: turn_completed, turn_interrupted or turn_failed.
  turn_started {key, model, prompt, position} · reply_started {reply_id, position, model, parent}
  text_delta {text} · reasoning_delta {text} · usage_updated {usage} · message_saved {saved (a message), position}
  retry_scheduled {attempt, delay (seconds), failure} · notice {about, details}
  tool_call_started {call} · tool_call_finished {call} · compaction_started {tokens_before, pieces, piece}
  compaction_finished {checkpoint, tokens_before, tokens_after, failure}
  turn_completed {reply} · turn_interrupted {reply} · turn_failed {failure, reply, advice[], exit_code, saved}

new, fork, restore: {key} · rename: {key, title} · tag, untag: {key, tags[]}
archive, unarchive: array of {key, archived}
delete, trash: array of {trash_id, key, title, deleted_at, messages}
search: an object of
  query, complete, missing (sessions not searched yet), more (hits beyond the limit), widened (only beginnings matched)
  hits          array of {key, title, role ("user" | "assistant" | "title"), position, message_id, on_path,
                branch (id of the last message of its branch, null on the current path), at, snippet,
                marks[] of [begin, end] within the snippet, archived, tags[], score}
branches: {key, title, branches[], forked_from (null or {key, message, position, title, exists}), forks[]}
  branches      array of {first, last (positions), begin, end, after (message ids), current, text}
  forks         array of {key, title, position, message, messages}
compact: {key, checkpoint (null with --dry-run), first, last (positions), covers, kept_from (message ids),
    tokens_before, tokens_after (of a request), exact (the provider counted), window, model, instructions, summary}
compact --undo, --redo: {key, checkpoint, undone, starts_at}
show --what-the-model-sees: {key, model, tokens, window, starts_at, checkpoint, system, messages[] of {role, parts[]}}
pin, unpin: {key, pins[] of {message_id, position}}
export -o FILE: {key, path, format, bytes}
import: array of {key, original_key, title, messages, attachments, notes[]}
purge: {purged[] of {key, files}, attachments} · trash --empty: {erased[] (trash ids), attachments}
repair: {key, path, reason (null: nothing is wrong), messages, notes[], repaired, backup}
doctor: {healthy, checks[] of {name, state ("ok" | "note" | "bad"), text}}
models list: array of {model, installed, size (bytes), window (tokens), price, note, default};
    price is [read, written] in US dollars for a million tokens, or null
keys list: array of {provider, key (masked), from, variable, url}
models pull, add, remove: {model, path}
config path: {config, data, sessions, models, cache, reports, data_origin, config_origin}
config show: {settings: {NAME: {value, origin}}, providers: {NAME: {...}}, warnings[]}

Errors: with any of these, one line {"error": {code, message, details}} on standard error, nothing on standard
output, and an exit code: 2 usage, 3 not found or ambiguous, 4 held elsewhere or conflict, 5 damaged, 6 storage (NOT
SAVED), 7 provider failed, 8 credentials or model missing or refused, 9 context overflow, 1 a bug; 130 interrupted,
141 output closed early. A turn that has begun and fails is told by its document or last event, on standard output.
"""


def help_(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND|json", help="What to explain.", show_default=False),
    ] = None,
) -> None:
    """Show help for a command or a topic.

    Examples:
      shipchat help send
      shipchat help json               the JSON that commands print
    """
    if topic == ["json"]:
        print(JSON_HELP, end="")
        return
    shown = context.parent or context
    for name in topic or []:
        find = getattr(shown.command, "get_command", None)
        command = find(shown, name) if find is not None else None
        if command is None:
            raise UsageError(f"there is no help on {name!r}", advice=("shipchat --help lists the commands.",))
        shown = command.make_context(name, [], parent=shown, resilient_parsing=True)
    typer.echo(shown.get_help())
