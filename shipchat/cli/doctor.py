"""`doctor`: whether everything is in order, in plain words; what is damaged, and what to do about it."""

import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.printing import print_json, print_text
from shipchat.cli.startup import open_services
from shipchat.cli.style import bold, dim
from shipchat.core.errors import ShipchatError
from shipchat.core.safe_text import safe_line

if TYPE_CHECKING:
    from shipchat.bootstrap import Services

_SHOWN = 20
DAMAGED = 5
"""The exit code when something is damaged."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: `bad` needs something done, `note` is good to know."""

    name: str
    state: Literal["ok", "note", "bad"]
    text: str


def doctor(
    as_json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Without reading every session.")] = False,
) -> None:
    """Check that everything is in order.

    Looks at the directories, who may read them, locks, every session file, the trash, the index, the model, Python and
    the terminal. Changes no session. The exit code is 5 when something is damaged.

    Examples:
      shipchat doctor
      shipchat doctor --json | jq '.checks[] | select(.state == "bad")'
    """
    services = open_services("doctor")
    checks = [*_checks(services, quick=quick)]
    bad = any(check.state == "bad" for check in checks)
    if as_json:
        print_json(
            {
                "healthy": not bad,
                "checks": [
                    {"name": check.name, "state": check.state, "text": check.text} for check in checks
                ],
            }
        )
    else:
        for check in checks:
            mark = {"ok": "ok  ", "note": "note", "bad": "BAD "}[check.state]
            shown = bold(mark) if check.state == "bad" else dim(mark)
            print_text(f"{shown}  {safe_line(f'{check.name}: {check.text}')}")
    if bad:
        raise typer.Exit(DAMAGED)


def _checks(services: "Services", *, quick: bool) -> Iterator[Check]:
    yield from _directories(services)
    yield from _locks(services)
    if not quick:
        yield from _sessions(services)
    yield from _leftovers(services)
    yield _index(services)
    for path in services.index.catalogue.vanished[:_SHOWN]:
        yield Check("gone", "note", f"{path} was there before, was not deleted here, and is not in the trash")
    yield _model(services)
    yield _python()
    yield _terminal()


def _directories(services: "Services") -> Iterator[Check]:
    where = services.directories
    data = where.data
    origin = "" if where.data_origin == "default" else f" ({where.data_origin})"
    if not data.exists():
        yield Check("data", "note", f"{data}{origin} is not there yet; it is made with the first session")
        return
    if not os.access(data, os.W_OK | os.X_OK):
        yield Check("data", "bad", f"{data}{origin} can't be written to: nothing can be saved")
    else:
        yield Check("data", "ok", f"{data}{origin}")
    for text in where.notes:
        yield Check("data", "note", text)
    if os.name == "posix":
        yield _permissions([data, where.sessions, where.cache, where.blobs], where.sessions)


def _permissions(directories: list[Path], sessions: Path) -> Check:
    open_ = [str(one) for one in directories if one.is_dir() and stat.S_IMODE(one.stat().st_mode) & 0o077]
    files = 0
    if sessions.is_dir():
        with os.scandir(sessions) as listed:
            for item in listed:
                if item.is_file(follow_symlinks=False):
                    files += bool(stat.S_IMODE(item.stat(follow_symlinks=False).st_mode) & 0o077)
    if not open_ and not files:
        return Check("permissions", "ok", "only you can read the sessions")
    fix = f"chmod -R go= {sessions.parent}"
    what = [f"directories {', '.join(open_)}"] if open_ else []
    what += [f"{files:,} session files"] if files else []
    return Check("permissions", "note", f"others on this machine may read {' and '.join(what)}: {fix}")


def _locks(services: "Services") -> Iterator[Check]:
    store = services.sessions.store
    if not services.directories.sessions.is_dir():
        return
    try:
        store.hold("doctor-probe", "shipchat doctor").release()
    except ShipchatError as error:
        yield Check("locks", "bad", str(error))
        return
    warning = getattr(store, "warning", None)
    yield Check("locks", "bad" if warning else "ok", warning or "one turn at a time can be promised here")


def _sessions(services: "Services") -> Iterator[Check]:
    from shipchat.cli.listing import damage_line

    try:
        rows = list(services.sessions.store.summaries())  # the files themselves, not the index
    except ShipchatError as error:
        yield Check("sessions", "bad", str(error))
        return
    damaged = [row for row in rows if row.damage is not None]
    archived = sum(row.archived for row in rows)
    size = sum(row.size for row in rows) / 1e6
    yield Check(
        "sessions", "ok", f"{len(rows) - len(damaged):,} whole ({archived:,} archived), {size:,.1f} MB"
    )
    for row in damaged[:_SHOWN]:
        newer = row.damage is not None and row.damage.code == "session_newer"
        advice = "update shipchat" if newer else f"shipchat repair {row.key} --dry-run"
        yield Check("damaged", "bad", f"{damage_line(row)}; {advice}")
    if len(damaged) > _SHOWN:
        yield Check("damaged", "bad", f"and {len(damaged) - _SHOWN:,} more: shipchat list --damaged")


def _leftovers(services: "Services") -> Iterator[Check]:
    sessions = services.directories.sessions
    trashed = services.sessions.trashed()
    if trashed:
        yield Check("trash", "note", f"{len(trashed):,} deleted sessions: shipchat trash")
    backups = _names(sessions / ".trash", (".damaged", ".torn"))
    if backups:
        yield Check("backups", "note", f"{backups:,} copies of damaged files in {sessions / '.trash'}")
    left = _names(sessions, (".tmp",)) + _names(sessions / ".drafts", (".tmp",))
    text = f"{left:,} unfinished files of writers that were killed; the next writer sweeps them after an hour"
    yield Check("leftovers", "note" if left else "ok", text if left else "none")


def _names(directory: Path, endings: tuple[str, ...]) -> int:
    try:
        return sum(name.endswith(endings) for name in os.listdir(directory))
    except OSError:
        return 0


def _index(services: "Services") -> Check:
    try:
        state = services.search.state()
    except ImportError as error:
        return Check(
            "index", "note", f"not available ({error}): sessions are read from their files, more slowly"
        )
    if state.problem is not None:
        return Check(
            "index",
            "note",
            f"not available ({state.problem}): sessions are read from their files, more slowly",
        )
    done = state.progress
    text = f"{state.sessions:,} sessions, {state.size / 1e6:,.1f} MB"
    if state.rebuilt is not None:
        text += f"; begun anew, because {state.rebuilt}"
    if done is not None and not done.complete:
        text += f"; {done.total - done.done:,} not searchable yet (shipchat search --wait WORD)"
    return Check("index", "ok", text)


def _model(services: "Services") -> Check:
    name = services.settings.default_model
    if not name.startswith("local/"):
        return Check("model", "ok", f"{name} (not asked)")
    try:
        there = {f"local/{one.name}" for one in services.models.local.installed()}
    except (ShipchatError, OSError, ImportError) as error:
        return Check("model", "note", f"{name}: {error}")
    if name in there:
        return Check("model", "ok", f"{name} is here")
    return Check(
        "model", "note", f"{name} is not fetched yet: shipchat models pull {name.removeprefix('local/')}"
    )


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    try:
        import sqlite3

        return Check("python", "ok", f"{version}, SQLite {sqlite3.sqlite_version}")
    except ImportError:
        return Check("python", "note", f"{version}, without SQLite: no search, and long lists are slower")


def _terminal() -> Check:
    encoding = (sys.stdout.encoding or "none").lower()
    term = os.environ.get("TERM", "not set")
    size = ""
    if sys.stdout.isatty():
        columns, lines = os.get_terminal_size(sys.stdout.fileno())
        size = f", {columns}x{lines}"
    text = f"TERM {term}{size}, {encoding}"
    if "utf" not in encoding:
        return Check("terminal", "note", f"{text}: characters beyond it are shown as ?")
    return Check("terminal", "ok", text)
