"""A session as one HTML page that needs nothing else: no script, no request to anywhere, all text escaped."""

from html import escape
from typing import TYPE_CHECKING, Final

from shipchat.core.messages import Message, UserMessage
from shipchat.core.safe_text import safe_line
from shipchat.core.session import Session
from shipchat.exchange.wording import Piece, clean, ending, facts_of, pieces_of, speaker, time_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_RENDERED: Final = 200_000
"""Characters of a text that are laid out as Markdown; a longer one is shown as it is."""

# Even where a browser would be talked into loading something, the policy forbids it.
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="shipchat">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
<header>
<h1>{title}</h1>
<p class="facts">{facts}</p>
</header>
{messages}
</main>
</body>
</html>
"""

_STYLE: Final = """\
:root {
  color-scheme: light dark;
  --page: #fbfaf7; --card: #ffffff; --text: #22252a; --soft: #6b7280; --line: #e4e1da;
  --you: #eef4fb; --accent: #1f5f99; --code: #f4f2ed; --warn: #9a3b12;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171a; --card: #1c1f23; --text: #e3e5e8; --soft: #98a0aa; --line: #2c3036;
    --you: #1b2733; --accent: #7db7ea; --code: #121417; --warn: #f0a47c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 48rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; padding-bottom: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .35rem; overflow-wrap: anywhere; }
.facts, .meta { color: var(--soft); font-size: .85rem; margin: 0; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  margin: 0 0 1rem; padding: .9rem 1.1rem; overflow-wrap: anywhere;
}
article.you { background: var(--you); }
.meta { display: flex; gap: .6rem; align-items: baseline; margin-bottom: .4rem; }
.meta b { color: var(--accent); }
.meta a { color: inherit; text-decoration: none; margin-left: auto; }
.said { white-space: pre-wrap; }
article > :last-child, blockquote > :last-child, details > :last-child { margin-bottom: 0; }
article h1, article h2, article h3, article h4 { font-size: 1.1rem; margin: 1.1rem 0 .4rem; }
p { margin: 0 0 .8rem; }
a { color: var(--accent); }
pre {
  background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  overflow-x: auto; white-space: pre; margin: 0 0 .8rem; line-height: 1.45;
}
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { background: var(--code); border-radius: 4px; padding: .1em .3em; }
blockquote { border-left: 3px solid var(--line); color: var(--soft); margin: 0 0 .8rem; padding-left: .9rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 0 0 .8rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 .8rem; padding: .4rem .8rem; }
summary { color: var(--soft); cursor: pointer; }
.ending { color: var(--warn); font-size: .9rem; }
@media print { body { background: none; } article { break-inside: avoid-page; } }
"""


def html_of(session: Session) -> str:
    """Return the whole page."""
    renderer = _renderer()
    messages = [
        _message(position, message, renderer) for position, message in enumerate(session.messages(), 1)
    ]
    return _PAGE.format(
        title=escape(safe_line(session.title)),
        style=_STYLE.strip(),
        facts=escape(" · ".join(facts_of(session))),
        messages="\n".join(messages),
    )


def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Without raw HTML; a picture becomes its link, since a page that loads pictures tells where it is read.
    return (
        MarkdownIt("commonmark", {"html": False, "typographer": False})
        .enable(["table", "strikethrough"])
        .disable(["image", "html_block", "html_inline"])
    )


def _message(position: int, message: Message, renderer: "MarkdownIt") -> str:
    mine = isinstance(message, UserMessage)
    who, when = escape(speaker(message)), time_of(message.at)
    lines = [
        f'<article class="{"you" if mine else "reply"}" id="m{position}">',
        f'<p class="meta"><b>{who}</b><time>{when}</time><a href="#m{position}">{position}</a></p>',
    ]
    lines += [_piece(piece, renderer, mine=mine) for piece in pieces_of(message)]
    if ending(message):
        lines.append(f'<p class="ending">{escape(ending(message))}</p>')
    lines.append("</article>")
    return "\n".join(lines)


def _piece(piece: Piece, renderer: "MarkdownIt", *, mine: bool) -> str:
    text = clean(piece.text)
    name = escape(safe_line(piece.name))
    match piece.kind:
        case "text":
            return _as_written(text) if mine else _laid_out(text, renderer)
        case "reasoning":
            return f"<details><summary>Reasoning</summary>{_as_written(text)}</details>"
        case "call":
            return f"<details><summary>Tool call <code>{name}</code></summary>{_code(text)}</details>"
        case "result" | "error":
            word = "Error" if piece.kind == "error" else "Result"
            return f"<details><summary>{word} of <code>{name}</code></summary>{_code(text)}</details>"
        case "attachment":
            return f"<p>Attached: <b>{name}</b> ({escape(text)})</p>"
        case _:
            return f"<p><i>{escape(text)}</i></p>"


def _as_written(text: str) -> str:
    stripped = text.strip("\n")
    return f'<div class="said">{escape(stripped)}</div>'


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def _laid_out(text: str, renderer: "MarkdownIt") -> str:
    if len(text) > _RENDERED:
        return _as_written(text)
    try:
        return (
            str(renderer.render(text))
            .replace("<a href=", '<a rel="noopener noreferrer nofollow" href=')
            .rstrip()
        )
    except Exception:  # noqa: BLE001 -- whatever a text does to the library, it is still shown
        return _as_written(text)
