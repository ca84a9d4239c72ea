"""What lies under a cell of the transcript: text, a link, a word that does something, code; acting on it is not done here."""

from dataclasses import dataclass
from typing import Any

from rich.style import Style

from shipchat.tui.markdown.code import COPY_META
from shipchat.tui.markdown.inline import LINK_META, can_open
from shipchat.tui.markdown.render import codes_of
from shipchat.tui.widgets.transcript_heading import ACT_META
from shipchat.tui.widgets.transcript_item import TranscriptItem
from shipchat.tui.widgets.transcript_pile import Pile
from shipchat.tui.widgets.transcript_section import Section


@dataclass(frozen=True, slots=True)
class Spot:
    """What lies under a cell: the item and its section; a link to open, an act to do, code to copy, where there are any."""

    item: TranscriptItem
    section: Section
    link: str | None = None
    act: str | None = None
    code: str | None = None


def spot_at(pile: Pile, row: int, style: Style) -> Spot | None:
    """Return what lies at `row` under a cell painted in `style`; None below the last item."""
    if not 0 <= row < pile.total:
        return None
    index, within = pile.find(row)
    layout = pile.layout(index)
    section, at = layout.section_at(within)
    meta: dict[str, Any] = style.meta
    link = meta.get(LINK_META)
    act = meta.get(ACT_META)
    return Spot(
        layout.item,
        section,
        link if isinstance(link, str) and can_open(link) else None,
        act if isinstance(act, str) else None,
        _code(section, at) if COPY_META in meta else None,
    )


def _code(section: Section, row: int) -> str | None:
    """Return the code whose head is at `row` of the section: a list's item may hold several blocks of it."""
    if section.block is None:
        return None
    codes = codes_of(section.block)
    heads = [
        at
        for at, strip in enumerate(section.strips or ())
        if any(segment.style is not None and COPY_META in segment.style.meta for segment in strip)
    ]
    number = sum(1 for at in heads if at < row)
    return codes[number] if number < len(codes) else None
