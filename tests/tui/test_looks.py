"""How the assembled screen looks: readable in every painted cell, and as it was when somebody last looked at it.

After a change that is meant: `SHIPCHAT_UPDATE_LOOKS=1 pytest tests/tui/test_looks.py`, look at the differences and at
pictures (`python -m tests.tui.looks DIRECTORY`), and commit them.
"""

import difflib
import os
from pathlib import Path

import pytest

from tests.tui.looks import KEY_VARIABLES, LOOKS, Painted, dump, painted, shown
from tests.tui.test_themes import contrast

SNAPSHOTS = Path(__file__).parent / "snapshots"
MARKS = frozenset("▌─│└●•·◊!*×…‹›►▼≡←→↑↓")  # noqa: RUF001 - signs that are drawn, bars and rules among them

STORIES = [(name, "dark", (120, 36)) for name in LOOKS]
STORIES += [("chat", theme, (80, 24)) for theme in ("dark", "light", "high-contrast", "ansi-16")]
STORIES += [("first", "dark", (60, 16)), ("key", "dark", (60, 16)), ("streaming", "light", (80, 24))]
STORIES += [("drawer", "light", (80, 24)), ("error", "light", (80, 24)), ("chat", "dark", (60, 16))]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("name", "theme", "size"), STORIES, ids=lambda value: str(value).replace(" ", ""))
async def test_it_looks_as_reviewed(tmp_path: Path, name: str, theme: str, size: tuple[int, int]) -> None:
    async with shown(tmp_path, name, size, theme) as chat:
        found = dump(chat, theme)
    path = SNAPSHOTS / f"{name}-{theme}-{size[0]}x{size[1]}.txt"
    if os.environ.get("SHIPCHAT_UPDATE_LOOKS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    reviewed = path.read_text(encoding="utf-8")
    difference = difflib.unified_diff(reviewed.splitlines(), found.splitlines(), "reviewed", "found", n=1)
    assert found == reviewed, "\n".join(difference)


def unreadable(cell: Painted) -> bool:
    """Say whether a cell has less contrast than WCAG 2.2 asks for: 4.5 for text, 3 for marks."""
    if cell.text.isspace() or not cell.text:
        return False
    return contrast(cell.fore, cell.back) < (3.0 if cell.text in MARKS else 4.5)


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize(
    "name", [name for name in LOOKS if name != "palette"]
)  # its veil dims what is under it
async def test_every_painted_cell_is_readable(tmp_path: Path, name: str, theme: str) -> None:
    async with shown(tmp_path, name, (120, 36), theme) as chat:
        rows = painted(chat)
    assert sum(not cell.text.isspace() for row in rows for cell in row) > 200
    bad = {
        (cell.text, cell.fore, cell.back, round(contrast(cell.fore, cell.back), 2))
        for row in rows
        for cell in row
        if unreadable(cell)
    }
    assert bad == set()


@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_every_cell_of_a_dialog_is_readable(tmp_path: Path, theme: str) -> None:
    async with shown(tmp_path, "palette", (120, 36), theme) as chat:
        panel = chat.app.screen.query_one("#panel").region
        rows = painted(chat)
    cells = [cell for row in rows[panel.y : panel.bottom] for cell in row[panel.x : panel.right]]
    assert sum(not cell.text.isspace() for cell in cells) > 50
    assert [cell for cell in cells if unreadable(cell)] == []


def test_what_is_hard_to_read_would_be_found() -> None:
    assert unreadable(Painted("a", "#777777", "#FFFFFF"))
    assert not unreadable(Painted("·", "#777777", "#FFFFFF"))
    assert unreadable(Painted("·", "#BBBBBB", "#FFFFFF"))
    assert not unreadable(Painted(" ", "#FFFFFF", "#FFFFFF"))
