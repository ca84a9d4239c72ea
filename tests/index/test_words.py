import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.index.snippets import snippet
from shipchat.index.words import Term, index_form, match_expression, parse_query, widened


def matches(text: str, query: str, *, widen: bool = False) -> bool:
    """Whether FTS5 itself finds `query` in `text`."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE w USING fts5(text, pieces, tokenize='unicode61 remove_diacritics 2')"
        )
        connection.execute("INSERT INTO w VALUES (?, ?)", index_form(text))
        terms = parse_query(query)
        expression = match_expression(widened(terms) if widen else terms)
        return connection.execute("SELECT 1 FROM w WHERE w MATCH ?", (expression,)).fetchone() is not None
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The nightly export fails", "EXPORT nightly"),
        ("The nightly export fails", '"nightly export"'),
        ("The nightly export fails", "exp*"),
        ("Le café est fermé", "cafe ferme"),
        ("cafe\u0301 noir", "café"),
        ("東京都に住む", "東京"),
        ("東京都に住む", "京都"),
        ("東京都に住む", "都"),
        ("東京都に住む", "東京都"),
        ("東京都に住む", "住む"),
        ("私は東京", "東京"),
        ("私は東京", "京"),
        ("版本v2发布", "版本v2"),
        ("版本v2发布", "v2发布"),
        ("東京 大阪", '"東京 大阪"'),
        ("한국어를 공부한다", "한국"),
        ("call getUserName() now", "getUserName"),
        ("call getUserName() now", "username"),
        ("call getUserName() now", "UserName"),
        ("call getUserName() now", "user"),
        ("call getUserName() now", "getUser"),
        ("call getUserName() now", "name"),
        ("parse HTTPServerError", "servererror"),
        ("nightly_export_job", "export"),
        ("nightly_export_job", "export_job"),
        ("nightly_export_job", "nightly_exp"),
        ("shipchat.index.words", "index.words"),
        ("see shipchat/index/words.py", "index/wor"),
        ('{"path": "a/b"}', '"path'),
    ],
)
def test_found(text: str, query: str) -> None:
    assert matches(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The nightly export fails", "nightly imports"),
        ("The nightly export fails", '"export nightly"'),
        ("The nightly export fails", "expo"),
        ("東京都に住む", "東都"),
        ("京東", "東京"),
        ("call getUserName() now", "setUser"),
    ],
)
def test_not_found(text: str, query: str) -> None:
    assert not matches(text, query)


def test_widened_words_are_beginnings() -> None:
    assert matches("The nightly export fails", "expo fai", widen=True)
    assert not matches("The nightly export fails", '"nightly expo"', widen=True)


HOSTILE = [
    "",
    " ",
    "*",
    '"',
    '""',
    '"""',
    "()",
    "a AND",
    "AND OR NOT",
    "NEAR(a b, 2)",
    "a OR (b",
    "text:a",
    "{text}:a",
    "-a",
    "^a",
    "a+b",
    "a'; DROP TABLE w; --",
    "a\0b",
    "\ud83d",
    "*a*",
    '"a"b"c',
    "a" * 5000,
    "a " * 5000,
    "\U0001f600",
    "\u202e\x1b[2J",
]


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_is_a_syntax_error(query: str) -> None:
    if parse_query(query):
        assert matches("a b c", query) in (True, False)


@given(st.text(max_size=60))
def test_no_text_is_a_syntax_error(query: str) -> None:
    terms = parse_query(query)
    if terms:
        assert matches("a b c", query) in (True, False)
        assert matches("a b c", query, widen=True) in (True, False)


@given(
    st.lists(
        st.sampled_from(["alpha", "東京都", "getUserName", "beta_gamma", "é", "x1"]), min_size=1, max_size=6
    )
)
def test_every_word_of_a_text_finds_it(words: list[str]) -> None:
    for word in words:
        assert matches(" ".join(words), word)


def test_a_snippet_shows_the_match_on_one_line() -> None:
    text = "intro\n" * 100 + "the Nightly\n\tÉxport fails " + "and so on " * 50
    shown, marks = snippet(text, (Term("nightly"), Term("export")))
    assert [shown[begin:end] for begin, end in marks] == ["Nightly", "Éxport"]
    assert "\n" not in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 250


@given(st.text(max_size=400), st.text(max_size=30))
def test_marks_are_within_the_snippet(text: str, query: str) -> None:
    shown, marks = snippet(text, parse_query(query))
    at = 0
    for begin, end in marks:
        assert at <= begin < end <= len(shown)
        at = end
