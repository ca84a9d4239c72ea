import pytest
from hypothesis import given
from hypothesis import strategies as st

from shipchat.core.attachments import NewAttachment, attachment_tokens, fenced, size_text, sniffed, sort_of
from shipchat.core.messages import AttachmentPart, TextPart
from tests.providers.wires import user

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF87a\x01\0", "image/gif"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", None),
        (b"%PDF-1.7\n\xff\xff", "application/pdf"),
        ("héllo\n".encode(), "text/plain"),
        ("héllo\n".encode("utf-8-sig"), "text/plain"),
        (b"<svg/>", "text/plain"),
        ("héllo".encode("latin-1"), None),
        ("hello".encode("utf-16"), None),
        (b"text\0and more", None),
        (b"\x7fELF\x02\x01\x01\0", None),
        (b"PK\x03\x04\x14\0\0\0", None),
        (b"", "text/plain"),
    ],
)
def test_the_kind_is_told_by_the_bytes(data: bytes, media_type: str | None) -> None:
    assert sniffed(data) == media_type


@given(st.binary(max_size=64))
def test_whatever_is_sniffed_can_be_sent(data: bytes) -> None:
    media_type = sniffed(data)
    assert media_type is None or sort_of(media_type) is not None


def test_sorts() -> None:
    found = {
        one: sort_of(one)
        for one in ("image/png", "image/tiff", "application/pdf", "text/x", "application/json")
    }
    assert found == {
        "image/png": "image",
        "image/tiff": None,
        "application/pdf": "pdf",
        "text/x": "text",
        "application/json": "text",
    }
    assert NewAttachment("a", "image/png", b"").sort == "image"


@given(st.text(alphabet="`a\n", max_size=60))
def test_nothing_in_a_text_ends_its_fence(text: str) -> None:
    lines = fenced("a.md", text).splitlines()
    opening = next(line for line in lines if line.startswith("```"))
    assert [line for line in lines if line.startswith(opening)] == [opening, opening]
    assert lines[-1] == opening


def test_sizes() -> None:
    assert [size_text(size) for size in (0, 999, 1_000, 999_499, 999_500, 20_000_000)] == [
        "0 B",
        "999 B",
        "1 kB",
        "999 kB",
        "1.0 MB",
        "20.0 MB",
    ]


def test_what_files_weigh() -> None:
    def part(media_type: str, size: int) -> AttachmentPart:
        return AttachmentPart("0" * 64, "a", media_type, size)

    assert attachment_tokens(user(TextPart("hello"))) == 0
    assert attachment_tokens(user(part("image/png", 2_000_000))) == 1_600
    assert attachment_tokens(user(part("text/plain", 3_000))) == 1_001
    assert (
        attachment_tokens(user(part("application/pdf", 1_000), part("application/pdf", 1_000_000))) == 12_000
    )
