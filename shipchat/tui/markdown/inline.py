"""Inline Markdown (emphasis, code, links, images) as styled spans; breaking them into rows is left to `wrap`.

A link is a span whose style carries `LINK_META` with its address: nothing is opened by drawing it, and no terminal
hyperlink is ever written, since its target could not be seen.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from markdown_it.token import Token
from rich.style import Style

from shipchat.core.safe_text import safe_line
from shipchat.tui.cells import cut
from shipchat.tui.markdown.wrap import Span
from shipchat.tui.palette import Ground, Look

LINK_META: Final = "shipchat_link"
_OPENABLE: Final = frozenset({"http", "https", "mailto"})
_TARGET_CELLS: Final = 40


def can_open(url: str) -> bool:
    """Tell whether `url` is of a kind a user may open from a message: the web and mail, nothing that runs or reads."""
    try:
        return urlsplit(url).scheme.lower() in _OPENABLE
    except ValueError:
        return False


def inline_spans(
    tokens: Sequence[Token], look: Look, base: Style, ground: Ground = "background"
) -> list[Span]:
    """Return the spans of inline `tokens`; plain text in `base`, all of it on `ground`. A line feed breaks the row."""
    palette = look.palette
    strong = palette.style("strong", ground, bold=True)
    emphasis, struck = Style(italic=True), Style(strike=True)
    code, muted = palette.style("string", ground), palette.style("muted", ground)
    spans: list[Span] = []
    styles = [base]
    links: list[tuple[str, int]] = []  # address, and where its text begins in `spans`
    for token in tokens:
        style = styles[-1]
        match token.type:
            case "text" | "html_inline" | "text_special":
                spans.append(Span(safe_line(token.content), style))
            case "code_inline":
                spans.append(Span(safe_line(token.content), style + code))
            case "softbreak":
                spans.append(Span(" ", style))
            case "hardbreak":
                spans.append(Span("\n", style))
            case "strong_open":
                styles.append(style + strong)
            case "em_open":
                styles.append(style + emphasis)
            case "s_open":
                styles.append(style + struck)
            case "link_open":
                url = str(token.attrs.get("href", ""))
                links.append((url, len(spans)))
                styles.append(style + _link_style(url, look, ground))
            case "strong_close" | "em_close" | "s_close":
                styles.pop()
            case "link_close":
                styles.pop()
                url, start = links.pop()
                target = _shown_target(url, "".join(span.text for span in spans[start:]), look)
                if target:
                    spans.append(Span(f" ({target})", styles[-1] + muted))
            case "image":
                alt = safe_line(token.content)
                spans.append(Span(f"[image: {alt}]" if alt else "[image]", style + muted))
            case _:
                if token.content:  # a kind of token we don't know is shown as its text
                    spans.append(Span(safe_line(token.content), style))
    return [span for span in spans if span.text]


def _link_style(url: str, look: Look, ground: Ground) -> Style:
    style = look.palette.style("link", ground, underline=True)
    return style + Style.from_meta({LINK_META: url}) if can_open(url) else style


def _shown_target(url: str, text: str, look: Look) -> str:
    """Return what to show of a link's address: host and path, or nothing when the text says it already."""
    if text in (url, safe_line(url)) or f"mailto:{text}" == url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return cut(safe_line(url), _TARGET_CELLS, look.glyphs.ellipsis)
    # A user name before the host could pass for the host: the whole address is shown then.
    if parts.scheme in ("http", "https") and "@" not in parts.netloc:
        shown = url.split("://", 1)[-1].split("?", 1)[0].split("#", 1)[0].rstrip("/")
    else:
        shown = url
    shown = safe_line(shown)
    return "" if shown == text else cut(shown, _TARGET_CELLS, look.glyphs.ellipsis)
