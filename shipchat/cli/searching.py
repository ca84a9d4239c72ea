"""`search`: words in every session, best hits first, each with the message it stands in."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.printing import note, print_json, print_text
from shipchat.cli.startup import open_services
from shipchat.cli.style import bold, dim
from shipchat.core.errors import UsageError
from shipchat.core.protocols import Search
from shipchat.core.safe_text import safe_line
from shipchat.core.search import IndexProgress, SearchHit, SearchResult

PATIENCE: Final = 2.0
"""Seconds that are spent on sessions that are not in the index yet, before searching what is."""

_SPAN: Final = re.compile(r"(\d{1,6})\s*([hdwmy])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def search(
    query: Annotated[
        list[str],
        typer.Argument(metavar="QUERY...", help='Words, "a phrase", begin*.', show_default=False),
    ],
    *,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", metavar="TAG", help="Only sessions with this tag (repeatable)."),
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Only archived sessions.")] = False,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Archived sessions too.")] = False,
    role: Annotated[
        Literal["user", "assistant", "title"] | None,
        typer.Option("--role", help="Only prompts, replies, or titles and tags."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="WHEN", help="A date (2026-11-29) or an age: 12h, 7d, 3w."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most N hits.")] = 20,
    wait: Annotated[
        bool, typer.Option("--wait", help="First finish the index, however long it takes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search every session.

    Every word must be there: in prompts, replies, tool calls and their results, or a title. Case and accents don't
    matter; pieces of identifiers count as words. When no whole words match, their beginnings are looked for.

    Examples:
      shipchat search nightly export          both words
      shipchat search '"find out why"'        in a row
      shipchat search 'time*' --since 7d      beginning with time
      shipchat search getUser --role assistant
      shipchat search 東京 --all --json
    """
    services = open_services("search")
    begins = _instant(since, datetime.now(UTC)) if since is not None else None
    engine = services.search
    if wait:
        _finish(engine)
    which = None if everything else archived
    words = " ".join(query)

    def ask(only: bool | None) -> SearchResult:
        return engine.search(
            words,
            tags=tag or (),
            archived=only,
            role=role,
            since=begins,
            limit=limit,
            patience=PATIENCE,
        )

    result = ask(which)
    if as_json:
        print_json(_value(words, result))
        return
    _print_hits(result)
    if not result.hits:
        elsewhere = which is False and ask(None).hits
        note("Only archived sessions have it: add --all." if elsewhere else "Nothing found.")
    elif result.widened:
        note("No whole words match; these begin like that.")
    if result.more:
        note("There are more: add words, or --limit N.")
    if not result.complete:
        sessions = "1 session is" if result.missing == 1 else f"{result.missing:,} sessions are"
        note(f"{sessions} not in the index yet: search again, or finish it with --wait.")


def _finish(engine: Search) -> None:
    shown = -1

    def progress(now: IndexProgress) -> None:
        nonlocal shown
        percent = now.done * 10 // max(now.total, 1)
        if percent != shown:
            shown = percent
            note(f"index: {now.done:,} of {now.total:,} sessions")

    engine.catch_up(progress=progress)


def _instant(text: str, now: datetime) -> datetime:
    """Return the instant that a date or an age means. Raises UsageError."""
    span = _SPAN.fullmatch(text.strip().lower())
    try:
        if span is not None:
            return now - timedelta(hours=int(span[1]) * _HOURS[span[2]])
        at = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no date and no age", advice=("For example 2026-11-29, 12h, 7d or 3w.",)
        ) from None
    return at if at.tzinfo is not None else at.astimezone()


def _print_hits(result: SearchResult) -> None:
    from shipchat.tui.ages import age_text

    now = datetime.now(UTC)
    for hit in result.hits:
        facts = [_place(hit), age_text(hit.at, now)]
        if hit.archived:
            facts.append("archived")
        title = "" if hit.title == hit.key else f"   {safe_line(hit.title)}"
        print_text(f"{bold(safe_line(hit.key))}   {dim(' · '.join(facts))}{title}")
        print_text(f"    {_marked(hit)}")


def _place(hit: SearchHit) -> str:
    if hit.role == "title":
        return "title"
    who = "you" if hit.role == "user" else "reply"
    where = f"message {hit.position}" if hit.position is not None else "message"
    if not hit.on_path:
        where += f" on branch {hit.branch or hit.message_id}"
    return safe_line(f"{where} · {who}")


def _marked(hit: SearchHit) -> str:
    """Return the snippet, safe, with what matches in bold."""
    pieces: list[str] = []
    at = 0
    for begin, end in hit.marks:
        pieces += [safe_line(hit.snippet[at:begin]), bold(safe_line(hit.snippet[begin:end]))]
        at = end
    return "".join([*pieces, safe_line(hit.snippet[at:])])


def _value(query: str, result: SearchResult) -> dict[str, Any]:
    from shipchat.headless.json_values import time_text

    return {
        "query": query,
        "hits": [
            {
                "key": hit.key,
                "title": hit.title,
                "role": hit.role,
                "position": hit.position,
                "message_id": hit.message_id,
                "on_path": hit.on_path,
                "branch": hit.branch,
                "at": time_text(hit.at),
                "snippet": hit.snippet,
                "marks": [list(mark) for mark in hit.marks],
                "archived": hit.archived,
                "tags": list(hit.tags),
                "score": hit.score,
            }
            for hit in result.hits
        ],
        "complete": result.complete,
        "missing": result.missing,
        "more": result.more,
        "widened": result.widened,
    }
