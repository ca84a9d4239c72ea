"""`import`: sessions out of files that `export` made, always under new keys."""

from pathlib import Path
from typing import Annotated

import typer

from shipchat.cli.arguments import Json
from shipchat.cli.printing import line, note, print_json
from shipchat.cli.startup import open_services


def import_(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="JSON exports of shipchat.", show_default=False)
    ],
    as_json: Json = False,
) -> None:
    """Make sessions of exported files.

    Reads the JSON that `export` writes, and session files. Each gets a new key, which is printed; nothing that is
    there is changed, and no path or setting in a file is followed. One bad file, and none is imported.

    Examples:
      shipchat import work.json        prints work-imported
      shipchat import backup/*.json    all of them, or none
    """
    services = open_services("import")
    exchange = services.exchange
    read = [exchange.read(Path(file).expanduser()) for file in files]
    # Parents before their forks, so that the forks are told the parents' new keys.
    order = sorted(range(len(read)), key=lambda number: (read[number].record.header.created, number))
    renamed: dict[str, str] = {}
    made = {number: exchange.add(read[number], renamed=renamed) for number in order}
    results = [made[number] for number in range(len(read))]
    if as_json:
        print_json(
            [
                {
                    "key": one.key,
                    "original_key": one.original,
                    "title": one.title,
                    "messages": one.messages,
                    "attachments": one.attachments,
                    "notes": list(one.notes),
                }
                for one in results
            ]
        )
        return
    for one in results:
        line(one.key)
        for text in one.notes:
            note(f"{one.key}: {text}")
