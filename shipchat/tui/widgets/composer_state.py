"""The states of the composer, and the words each puts beside the text one types; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from textual.content import Content

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cell_len, cut
from shipchat.tui.glyphs import UNICODE, Glyphs

#: A draft's tokens are shown from this many on.
TOKENS_SHOWN_FROM = 500
_NAME_CELLS = 28


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with the prompt; `size` is ready to show (`4 kB`)."""

    name: str
    size: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Who runs a turn in this session: process, host (empty: this one) and since when (`14:55`)."""

    pid: int
    host: str = ""
    since: str = ""


class Bar(Enum):
    """What the composer's bar says while it has the keys."""

    ACTIVE = "active"
    WARNING = "elsewhere"
    ERROR = "unsaved"


@dataclass(frozen=True, slots=True)
class ComposerState:
    """Everything the composer depends on beside its text.

    `not_saved` is why nothing can be written (a sentence without its full stop), None when all is well. `tokens` counts
    the draft. `private`: nothing is stored. `no_model`: there is no one to send to yet.
    """

    streaming: bool = False
    elsewhere: Elsewhere | None = None
    not_saved: str | None = None
    no_model: bool = False
    private: bool = False
    tokens: int = 0
    attachments: tuple[Attachment, ...] = ()

    @property
    def bar(self) -> Bar:
        """The bar's meaning; trouble with saving comes first."""
        if self.not_saved is not None:
            return Bar.ERROR
        return Bar.WARNING if self.elsewhere is not None else Bar.ACTIVE


def placeholder_text(state: ComposerState, glyphs: Glyphs = UNICODE) -> str:
    """Return what stands where the text will be."""
    if state.no_model:
        return "Choose a model above to begin"
    tail = " nothing here is stored" if state.private else ""
    return f"Write a message{glyphs.ellipsis}{tail}"


def hint_content(state: ComposerState, *, empty: bool, wide: bool, glyphs: Glyphs = UNICODE) -> Content:
    """Return what stands at the right of the first line: which keys do what; nothing once they are no news.

    `empty`: nothing has been typed; `wide`: the composer's text has 72 cells or more.
    """
    dot = f" {glyphs.middle_dot} "
    if state.not_saved is not None or state.no_model:
        return Content("")
    if state.streaming:
        return Content.styled("Enter queues", "$muted")
    if not empty:
        return Content("")
    if not wide or state.private:
        return Content.styled("/ commands", "$muted")
    return Content.styled(f"Enter sends{dot}Ctrl+J new line{dot}/ commands", "$muted")


def tokens_content(state: ComposerState) -> Content:
    """Return the draft's size once it matters."""
    if state.tokens < TOKENS_SHOWN_FROM:
        return Content("")
    return Content.styled(f"{state.tokens:,} tokens", "$muted")


def notice_content(
    state: ComposerState, width: int, *, asking: bool = False, glyphs: Glyphs = UNICODE
) -> Content | None:
    """Return the line above the text in at most `width` cells, None when there is nothing to say.

    `asking`: Enter was pressed while a turn runs elsewhere, and one of three keys is awaited.
    """
    if state.not_saved is not None:
        reason = safe_line(state.not_saved).strip().rstrip(".")
        head = cut(f"NOT SAVED: {reason}.", width, glyphs.ellipsis)
        rest = " Your text stays here; sending waits."
        return Content.assemble(
            (head, "bold $error"), (rest if cell_len(head) + len(rest) <= width else "", "$muted")
        )
    if state.elsewhere is None:
        return None
    if asking:
        return choice_content((("w", "wait for it"), ("f", "fork here"), ("n", "new session")), width)
    return Content.styled(
        cut(elsewhere_text(state.elsewhere, short=width < 60), width, glyphs.ellipsis), "$warning"
    )


def elsewhere_text(elsewhere: Elsewhere, *, short: bool = False) -> str:
    """Return who is replying: `Replying in another window (pid 4312, since 14:55).`"""
    details = [f"pid {elsewhere.pid}"]
    if elsewhere.host:
        details.append(f"on {safe_line(elsewhere.host)}")
    if elsewhere.since and not short:
        details.append(f"since {safe_line(elsewhere.since)}")
    return f"Replying in another window ({', '.join(details)})."


def choice_content(choices: Sequence[tuple[str, str]], width: int) -> Content:
    """Return keys with what they do, as many as fit whole: `w wait for it   f fork here`."""
    content = Content("")
    for key, words in choices:
        gap = 3 if content else 0
        if content.cell_length + gap + len(key) + 1 + cell_len(words) > width:
            break
        content = Content.assemble(content, " " * gap, (key, "bold $text"), (f" {words}", "$muted"))
    return content


def attachment_pieces(
    attachments: Sequence[Attachment], width: int, *, glyphs: Glyphs = UNICODE
) -> list[tuple[int, int, Content]]:
    """Return the attachments that fit whole in `width` cells, each with its first cell and the cell of its cross."""
    pieces: list[tuple[int, int, Content]] = []
    at = 0
    for attachment in attachments:
        name = cut(safe_line(attachment.name), min(_NAME_CELLS, width), glyphs.ellipsis)
        text = f"{name} {safe_line(attachment.size)} "
        cells = cell_len(text) + cell_len(glyphs.times)
        if at + cells > width:
            break
        pieces.append((at, at + cell_len(text), Content.assemble((text, "$muted"), (glyphs.times, "$text"))))
        at += cells + 3
    return pieces


def attachments_content(
    attachments: Sequence[Attachment], width: int, *, glyphs: Glyphs = UNICODE
) -> Content:
    """Return the row of attachments in at most `width` cells; those that do not fit are counted."""
    pieces = attachment_pieces(attachments, width, glyphs=glyphs)
    content = Content("   ").join([piece for _, _, piece in pieces])
    if more := len(attachments) - len(pieces):
        note = f"{'   ' if pieces else ''}+{more} more"
        if content.cell_length + len(note) <= width:
            content = content + Content.styled(note, "$muted")
    return content
