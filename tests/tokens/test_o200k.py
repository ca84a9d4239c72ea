"""Token counts: right, offline, and safe for any text."""

import hashlib
import importlib
import inspect
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.protocols import TokenCounter
from shipchat.tokens import o200k
from shipchat.tokens.o200k import DATA_FILE, SLICE_CHARACTERS, TABLE_SHA256, O200kCounter, slices, unpack
from shipchat.tokens.pack import pack, table_text

COUNTER: TokenCounter = O200kCounter()


def test_the_data_file_gives_back_the_published_table_to_the_byte() -> None:
    packed = resources.files("shipchat.tokens").joinpath(DATA_FILE).read_bytes()
    assert hashlib.sha256(table_text(unpack(packed))).hexdigest() == TABLE_SHA256
    assert len(packed) < 900_000


def test_another_table_is_refused_by_the_packer() -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        pack(b"IQ== 0\n")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # Figures of OpenAI's own tokenizer for o200k_base, and of its pattern (a token for three digits).
        ("", 0),
        ("Hello, world!", 4),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("<|endoftext|>", 7),
        ("\ud800", 1),
    ],
)
def test_known_counts(text: str, tokens: int) -> None:
    assert COUNTER.count(text) == tokens


def test_the_pattern_is_the_one_of_the_library() -> None:
    """The pattern was copied: compare with the library's source (running it would fetch a table)."""
    openai_public = importlib.import_module("tiktoken_ext.openai_public")
    source = inspect.getsource(openai_public.o200k_base)
    assert [alternative for alternative in o200k._ALTERNATIVES if alternative not in source] == []


@pytest.mark.parametrize(
    "character", [" ", "a", "\n", "\N{CJK UNIFIED IDEOGRAPH-6F22}", "=", "1", "\ud83d", "\N{DEER}"]
)
def test_a_million_of_one_character_is_counted(character: str) -> None:
    assert 0 < COUNTER.count(character * 1_000_000) <= 3_000_000


@given(st.text(max_size=50))
def test_any_text_is_counted(text: str) -> None:
    assert (COUNTER.count(text) > 0) == bool(text)


def test_slices_are_bounded_and_lose_nothing() -> None:
    lines = "".join(f"line {number} of a log\n" for number in range(20_000))
    for text in (lines, " " * 123_456, "x" * SLICE_CHARACTERS, "y" * (SLICE_CHARACTERS + 1), ""):
        pieces = slices(text)
        assert "".join(pieces) == text
        assert max(len(piece) for piece in pieces) <= SLICE_CHARACTERS
    assert all(piece.endswith("\n") for piece in slices(lines))


def test_slicing_text_with_lines_changes_no_count() -> None:
    line = "def f(x):\n    return x  # \N{CJK UNIFIED IDEOGRAPH-6F22} 12345\n\n\n"
    text = line * 6_000
    whole = sum(COUNTER.count(piece) for piece in text.split("\n\n\n") if piece) + 6_000
    assert len(slices(text)) > 3
    assert COUNTER.count(text) == whole


@given(st.lists(st.text("ab1 =\n\u6f22.", max_size=30), min_size=2, max_size=2))
def test_a_cut_after_a_line_before_a_letter_changes_no_count(texts: list[str]) -> None:
    before, after = texts[0] + "\n", "x" + texts[1]
    assert COUNTER.count(before + after) == COUNTER.count(before) + COUNTER.count(after)


def test_threads_share_one_load(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    load = o200k.load_encoding
    barrier = threading.Barrier(4)

    def counted() -> tiktoken.Encoding:
        loads.append(1)
        return load()

    def count(counter: O200kCounter) -> int:
        barrier.wait(timeout=10)
        return counter.count("Hello, world!")

    monkeypatch.setattr(o200k, "load_encoding", counted)
    counter = O200kCounter()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, [counter] * 4)) == [4, 4, 4, 4]
    assert loads == [1]


def test_counting_uses_no_network_and_no_cache(tmp_path: Path) -> None:
    program = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from shipchat.tokens.o200k import O200kCounter\n"
        "print(O200kCounter().count('Hello, world!'))\n"
    )
    environment = {
        "PATH": "",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (result.stdout, result.stderr) == ("4\n", "")
    assert list(tmp_path.iterdir()) == []
