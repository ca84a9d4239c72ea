"""`export`: a session as Markdown, HTML, JSON or plain text, on standard output or in a file."""

import re
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from shipchat.cli.arguments import Session, session_key
from shipchat.cli.in_flight import reply_in_flight
from shipchat.cli.printing import note, print_json
from shipchat.cli.startup import open_services

_NOT_ASCII: Final = re.compile(r"[^\x00-\x7e]")


def export(
    session: Session,
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; its ending says what kind it is."),
    ] = None,
    kind: Annotated[
        Literal["markdown", "html", "json", "text"] | None,
        typer.Option("--format", "-f", help="What kind, whatever the file is called."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say in JSON what was written; without -o: --format json.")
    ] = False,
) -> None:
    """Export a session.

    Markdown, HTML (one page that needs nothing else) and text hold the current path. JSON loses nothing: every branch,
    and the attachments; `shipchat import` reads it. In a directory the file is named by the session's key.

    Examples:
      shipchat export work                    Markdown, on standard output
      shipchat export work -o work.html       .md, .html, .json or .txt
      shipchat export - -o ~/notes/           the newest, as KEY.md
      shipchat export work --format json | jq .session
    """
    services = open_services("export")
    key = session_key(services, session)
    exchange = services.exchange
    also = reply_in_flight(services, key)
    if output is None:
        chosen = kind or ("json" if as_json else "markdown")
        _print(exchange.export(key, chosen, also=also), json=chosen == "json")
        return
    target, chosen = exchange.target(key, Path(output).expanduser(), kind)
    data = exchange.export(key, chosen, also=also)
    exchange.write(data, target, force=force)
    if as_json:
        print_json({"key": key, "path": str(target), "format": chosen, "bytes": len(data)})
    else:
        note(f"{key} is in {target}")


def _print(data: bytes, *, json: bool) -> None:
    """Print an export in UTF-8, whatever the locale; on a terminal nothing in it can steer that."""
    text = data.decode("utf-8")
    if sys.stdout.isatty():
        print(_NOT_ASCII.sub(_escaped, text) if json else text, end="")
        return
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        print(text, end="")
    else:
        buffer.write(data)
        buffer.flush()


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))
