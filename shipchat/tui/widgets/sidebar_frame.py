"""The words around the sidebar's list: its head, its foot, and what stands where nothing is listed; pure."""

from textual.content import Content

from shipchat.tui.cells import cell_len
from shipchat.tui.glyphs import UNICODE, Glyphs


def head_text(width: int, *, archive: bool) -> Content:
    """Return the sidebar's first line in `width` cells: what is listed, and the key that leads on at the right."""
    name = "Archived" if archive else "Sessions"
    key, word = ("A", "back") if archive else ("^N", "new")
    gap = width - 3 - len(name) - len(key) - 1 - len(word) - 1
    if gap < 1:
        return Content.assemble("   ", (name, "bold $strong"))
    return Content.assemble(
        "   ", (name, "bold $strong"), " " * gap, (key, "$text"), (f" {word}", "$muted"), " "
    )


def foot_text(sessions: int, archived: int, width: int, *, glyphs: Glyphs = UNICODE) -> Content:
    """Return the counts at the sidebar's foot; the archived ones only where there is room for both."""
    short = f"{sessions:,} session{'' if sessions == 1 else 's'}"
    whole = f"{short} {glyphs.middle_dot} {archived:,} archived" if archived else short
    return Content.assemble(
        "   ", (whole if cell_len(whole) + 4 <= width and width >= 29 else short, "$muted")
    )


def empty_text(*, filtered: bool, archive: bool) -> str:
    """Return what stands where no session is listed."""
    if filtered:
        return "Nothing found"
    return "Nothing archived" if archive else "No sessions yet"
