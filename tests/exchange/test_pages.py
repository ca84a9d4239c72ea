from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.entries import MessageEntry, SessionRecord, SetEntry
from shipchat.core.messages import (
    AssistantMessage,
    Failure,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResult,
    UserMessage,
)
from shipchat.core.session import Session, session_from
from shipchat.exchange.exchange import render
from shipchat.exchange.html import html_of
from shipchat.exchange.markdown import markdown_of
from shipchat.exchange.plain import text_of
from shipchat.testing.samples import START, header

EVIL = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![p](http://tracker/x.png) [j](javascript:alert(1)) "
    '</style></article>"\' \x1b]52;c;aGk=\x1b\\ \x9b2J \u202eabc &lt; <iframe src="//evil">'
)


def session(*messages: Message, title: str | None = None) -> Session:
    entries: list[MessageEntry | SetEntry] = [MessageEntry(message=one) for one in messages]
    if title is not None:
        entries.append(SetEntry(id="title", at=START, title=title, by="user"))
    return session_from(SessionRecord(header("work"), tuple(entries)))


def asked(text: str) -> UserMessage:
    return UserMessage(id="q", parent=None, at=START, parts=(TextPart(text),))


def answered(text: str) -> AssistantMessage:
    return AssistantMessage(
        id="r",
        parent="q",
        at=START,
        model="local/smollm2",
        status="failed",
        failure=Failure("provider_unavailable", "cut off"),
        parts=(
            ReasoningPart("Hmm."),
            TextPart(text),
            ToolCallPart("c", "grep", '{"a": "```"}', ToolResult("a ``` b\n````\n", is_error=True)),
        ),
    )


ALLOWED = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "article",
    "b",
    "i",
    "time",
    "a",
    "div",
    "details",
    "summary",
    "code",
    "pre",
    "em",
    "strong",
    "ul",
    "ol",
    "li",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "hr",
    "br",
    "s",
}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check_harmless(page: Page) -> None:
    assert set(page.tags) <= ALLOWED
    for name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "srcset", "data", "action", "formaction", "style")
        if name == "href":
            assert (
                not (value or "").lower().lstrip().startswith(("javascript:", "data:", "vbscript:", "file:"))
            )


def test_html_shows_everything_and_runs_nothing() -> None:
    text = html_of(session(asked(EVIL), answered(EVIL), title=EVIL))
    page = Page(text)
    check_harmless(page)
    shown = "".join(page.text)
    assert shown.count("<script>alert(1)</script>") == 4  # twice the title, the prompt, the reply
    assert "failed: cut off (provider_unavailable)" in shown
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "\u202e" not in text
    assert "prefers-color-scheme: dark" in text
    assert "default-src 'none'" in text
    assert "http://tracker" not in "".join(value or "" for name, value in page.attributes if name != "href")


@given(st.text(max_size=300))
def test_no_text_becomes_markup_that_acts(text: str) -> None:
    check_harmless(Page(html_of(session(asked(text), answered(text), title=text or "t"))))


def test_markdown_is_laid_out_in_html() -> None:
    text = html_of(
        session(
            asked("# not *laid out*"), answered("**bold** `code`\n\n```py\nx < 1\n```\n\n| a |\n|---|\n| b |")
        )
    )
    assert "<strong>bold</strong> <code>code</code>" in text
    assert '<pre><code class="language-py">x &lt; 1\n</code></pre>' in text
    assert "<td>b</td>" in text
    assert '<div class="said"># not *laid out*</div>' in text


def test_markdown() -> None:
    assert markdown_of(session(asked("Why?\tNow"), answered("Because."), title="A\ttitle")) == (
        "# A title\n\n*work · 2 messages*\n\n## 1. You · 2026-11-29 15:09 UTC\n\nWhy?\tNow\n\n"
        "## 2. local/smollm2 · 2026-11-29 15:09 UTC\n\n> *Reasoning*\n>\n> Hmm.\n\nBecause.\n\n"
        '**Tool call** `grep`\n\n````json\n{"a": "```"}\n````\n\n'
        "**Error** of `grep`\n\n`````\na ``` b\n````\n`````\n\n"
        "*failed: cut off (provider_unavailable)*\n"
    )


def test_plain_text() -> None:
    assert text_of(session(asked("Why?"), answered("Because."))) == (
        "Why?\nwork · 2 messages\n\n--- 1 · You · 2026-11-29 15:09 UTC\nWhy?\n\n"
        "--- 2 · local/smollm2 · 2026-11-29 15:09 UTC\n[reasoning]\nHmm.\nBecause.\n"
        '[grep {"a": "```"}]\n[error of grep]\na ``` b\n````\n[failed: cut off (provider_unavailable)]\n'
    )


@pytest.mark.parametrize("kind", ["markdown", "text", "html"])
def test_nothing_in_it_steers_a_terminal(kind: str) -> None:
    text = render(session(asked(EVIL), answered(EVIL), title=EVIL), kind)  # type: ignore[arg-type]
    assert not any(ord(one) < 32 and one not in "\n\t" for one in text)
    assert not any(0x7F <= ord(one) < 0xA0 for one in text)


def test_right_to_left_text_stays_in_logical_order() -> None:
    hebrew = "שלום 123 /etc/hosts"
    assert hebrew in markdown_of(session(asked(hebrew)))
    assert hebrew in html_of(session(asked(hebrew)))
