"""The line below the composer and the rows above it: what state the conversation is in, in whole words that fit."""

import time
from typing import Final

from shipchat.core.safe_text import safe_line
from shipchat.inline.conversation import Conversation
from shipchat.inline.rows import Row, cells, cut, row_cells

GAP: Final = "   "
QUEUE_ROWS: Final = 3


def state_row(conversation: Conversation, width: int, *, hint: str = "") -> Row:
    """Return activity, save state, context, key and model, as many of them (in this order) as fit in `width` cells."""
    segments: list[Row] = []
    if hint:
        segments.append([("class:warning", hint)])
    elif conversation.busy:
        seconds = int(time.monotonic() - conversation.since)
        segments.append(
            [("class:accent", f"● {conversation.word}"), ("class:muted", f" · {seconds} s · Esc stops")]
        )
    elif conversation.holder is not None:
        segments.append([("class:warning", f"◊ replying elsewhere (pid {conversation.holder.pid})")])
    segments.append(_save_state(conversation))
    context = _context(conversation)
    if context:
        segments.append(context)
    chat = conversation.chat
    if chat.exists and not conversation.private:
        segments.append([("class:muted", safe_line(chat.key))])
    segments.append([("class:muted", safe_line(_model(conversation)))])
    row: Row = []
    for segment in segments:
        if row and row_cells(row) + len(GAP) + row_cells(segment) > width:
            continue
        row += [("", GAP if row else ""), *segment]
    return [(style, cut(text, width)) for style, text in row]


def _save_state(conversation: Conversation) -> Row:
    trouble = conversation.not_saved or (
        str(conversation.drafts.failure) if conversation.drafts.failure else None
    )
    if conversation.private:
        return [("class:warning", "private"), ("class:muted", ": not kept")]
    if trouble is not None:
        return [("class:error.strong", "! NOT SAVED"), ("class:error", f"  {cut(safe_line(trouble), 40)}")]
    if not conversation.chat.exists:
        return [("class:muted", "not sent yet")]
    return [("class:muted", "saved" if conversation.chat.saved else "saving…")]


def _context(conversation: Conversation) -> Row:
    used, info = conversation.used, conversation.info
    if used is None or info is None or info.window <= 0:
        return []
    share = used / info.window
    style = "class:error" if share >= 0.9 else "class:warning" if share >= 0.75 else "class:muted"
    window = f"{info.window // 1000}k" if info.window >= 1000 else str(info.window)
    return [(style, f"{share:.0%} of {window}")]


def _model(conversation: Conversation) -> str:
    return str(conversation.chat.options.model_for(conversation.chat.session))


def queue_rows(conversation: Conversation, width: int) -> list[Row]:
    """Return the prompts that wait, one a row, the last ones first to be taken back with Up."""
    rows: list[Row] = []
    if conversation.waiting is not None:
        rows.append(_waiting("waits", conversation.waiting, "Esc takes it back", width))
    queue = conversation.chat.queue
    for number, prompt in enumerate(queue[:QUEUE_ROWS], 1):
        hint = "Up edits" if number == len(queue) else ""
        rows.append(_waiting(f"queued {number}", prompt.text, hint, width))
    if len(queue) > QUEUE_ROWS:
        rows.append([("class:muted", f"  +{len(queue) - QUEUE_ROWS} more   Up edits the last")])
    return rows


def _waiting(word: str, text: str, hint: str, width: int) -> Row:
    first = next((line for line in text.split("\n") if line.strip()), "")
    room = max(width - cells(word) - cells(hint) - 9, 4)
    more = "…" if "\n" in text.strip() else ""
    return [
        ("class:bar", "  "),
        ("class:muted", f"{word}  "),
        ("", cut(safe_line(first[:500]) + more, room)),
        ("class:muted", f"   {hint}" if hint else ""),
    ]
