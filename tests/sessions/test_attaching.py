"""Files that go with a prompt, from the disk to the request."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from shipchat.core.attachments import EVERY_SORT, MAX_BYTES, NewAttachment
from shipchat.core.errors import UsageError
from shipchat.core.events import SessionEvent
from shipchat.core.messages import AttachmentPart, TextPart
from shipchat.core.protocols import FullStore
from shipchat.sessions.attaching import mentioned, read_attachment, read_attachments, without_mention
from shipchat.sessions.chat_session import ChatSession
from shipchat.sessions.options import ChatOptions
from shipchat.stores.blobs import MemoryBlobs
from shipchat.testing.scripted import ScriptedProvider
from tests.core.test_attachments import PNG
from tests.sessions.conftest import ScriptedModels

NOTES = NewAttachment("notes.md", "text/markdown", b"# Notes\nall well\n")
CAT = NewAttachment("cat.png", "image/png", PNG)
SENT = "\n\nContents of the file notes.md:\n\n```\n# Notes\nall well\n```\n"


def open_chat(
    store: FullStore, provider: ScriptedProvider, blobs: MemoryBlobs, *, mentions: bool = False
) -> ChatSession:
    return ChatSession(
        store,
        "a",
        models=ScriptedModels(provider),
        options=ChatOptions(default_model="scripted/one", mentions=mentions),
        blobs=blobs,
    )


def send(chat: ChatSession, prompt: str, files: Sequence[NewAttachment] = ()) -> list[SessionEvent]:
    async def run() -> list[SessionEvent]:
        events = [event async for event in chat.send(prompt, attachments=files)]
        await chat.close()
        return events

    return asyncio.run(run())


# --- reading ---


def test_a_file_is_read_for_what_it_is(tmp_path: Path) -> None:
    for name, data, media_type in (
        ("cat.txt", PNG, "image/png"),
        ("a.md", b"# a", "text/markdown"),
        ("a.JSON", b"{}", "application/json"),
        ("a.py", b"1", "text/plain"),
        ("cat.png", b"not a picture", "text/plain"),
    ):
        (tmp_path / name).write_bytes(data)
        assert read_attachment(tmp_path / name) == NewAttachment(name, media_type, data)


@pytest.mark.parametrize(
    "name", ["a\x1b[2J.txt", "a\nb.txt", "a\N{RIGHT-TO-LEFT OVERRIDE}txt.exe", "\udcff.txt"]
)
def test_hostile_names_are_made_harmless(tmp_path: Path, name: str) -> None:
    path = os.fsencode(tmp_path) + b"/" + os.fsencode(name)
    with open(path, "wb") as file:
        file.write(b"words")
    found = read_attachment(os.fsdecode(path))
    assert found.data == b"words"
    assert found.name.isprintable()
    found.name.encode()


def test_what_can_not_be_sent_is_refused_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "large.txt").write_bytes(b"a" * (MAX_BYTES["text"] + 1))
    with open(tmp_path / "huge.png", "wb") as file:
        file.write(PNG)
        file.truncate(MAX_BYTES["image"] + 1)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    found = {}
    for name in ("a.bin", "empty", "large.txt", "huge.png", "fifo", "directory", "missing", "\0"):
        with pytest.raises(UsageError) as raised:
            read_attachment(tmp_path / name)
        found[name] = str(raised.value)
    assert found == {
        "a.bin": "a.bin can't be attached: it is neither a PNG, JPEG, GIF or WebP picture, nor a PDF, nor text in UTF-8",
        "empty": "empty can't be attached: it is empty",
        "large.txt": "large.txt can't be attached: it has 1.0 MB; text files may have 1.0 MB",
        "huge.png": "huge.png can't be attached: it has 20.0 MB; files may have 20.0 MB",
        "fifo": "fifo can't be attached: it is no regular file",
        "directory": "directory can't be attached: it is no regular file",
        "missing": "missing can't be attached: no such file or directory",
        "\0": "\N{SYMBOL FOR NULL} can't be attached: no such file",
    }


def test_all_files_of_a_prompt_have_a_limit(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.png" for number in range(2)]
    for path in paths:
        with path.open("wb") as file:
            file.write(PNG)
            file.truncate(13_000_000)
    with pytest.raises(UsageError, match=r"together have 26\.0 MB; those of one prompt may have 24\.0 MB"):
        read_attachments(paths)


# --- @path ---


def test_paths_behind_an_at_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("a.txt", "two words.txt", "b.py"):
        (tmp_path / name).write_text("x")
    (tmp_path / "directory").mkdir()
    text = 'See @a.txt, (and @b.py) x@b.py @"two words.txt" @a.txt @nothing @directory @~/b.py. @'
    assert mentioned(text) == [Path("a.txt"), Path("b.py"), Path("two words.txt"), tmp_path / "b.py"]
    assert without_mention("See @a.txt, ok @a.txt", Path("a.txt")) == "See , ok "
    assert mentioned("see @two words.txt, and @a.txt @b.py") == [
        Path("two words.txt"),
        Path("a.txt"),
        Path("b.py"),
    ]
    assert mentioned("@two\nwords.txt") == []
    assert without_mention("see @two words.txt and", Path("two words.txt")) == "see and"
    assert mentioned("@" + "a" * 10_000) == []


# --- in a turn ---


def test_a_text_file_is_sent_to_every_model_and_stored_once(store: FullStore) -> None:
    blobs, provider = MemoryBlobs(), ScriptedProvider(["one", "two"])
    chat = open_chat(store, provider, blobs)
    send(chat, "Read this", [NOTES, NOTES])
    send(chat, "And?")
    prompt = next(iter(chat.session.messages()))
    assert prompt.parts == (
        TextPart("Read this"),
        AttachmentPart(blobs.put(NOTES.data), "notes.md", "text/markdown", len(NOTES.data)),
    )
    assert [request.messages[0].text for request in provider.requests] == ["Read this" + SENT] * 2


def test_a_picture_goes_to_a_model_that_takes_it(store: FullStore) -> None:
    blobs = MemoryBlobs()
    provider = ScriptedProvider(["A cat."], accepts=EVERY_SORT)
    send(open_chat(store, provider, blobs), "What is it?", [CAT])
    (request,) = provider.requests
    part = request.messages[0].parts[1]
    assert part == AttachmentPart(blobs.put(PNG), "cat.png", "image/png", len(PNG))
    assert request.blobs is not None
    assert request.blobs.read(blobs.put(PNG)) == PNG


def test_a_picture_is_refused_before_anything_is_stored(store: FullStore) -> None:
    provider = ScriptedProvider(["never"])
    chat = open_chat(store, provider, MemoryBlobs())
    with pytest.raises(UsageError, match=r"^scripted/one takes no pictures: cat\.png can't be sent$"):
        send(chat, "What is it?", [NOTES, CAT])
    assert (store.keys(), provider.requests, chat.replying) == ([], [], False)


def test_a_later_model_is_told_of_what_it_can_not_see(store: FullStore) -> None:
    blobs = MemoryBlobs()
    send(open_chat(store, ScriptedProvider(["A cat."], accepts=EVERY_SORT), blobs), "What is it?", [CAT])
    provider = ScriptedProvider(["No idea."])
    send(open_chat(store, provider, blobs), "Sure?")
    assert provider.requests[0].messages[0].text == (
        "What is it?\n\n[The file cat.png (image/png, 28 bytes): this model can't be sent such a file.]\n"
    )


def test_a_file_that_is_gone_is_said(store: FullStore) -> None:
    send(open_chat(store, ScriptedProvider(["one"]), MemoryBlobs()), "Read this", [NOTES])
    provider = ScriptedProvider(["two"])
    send(open_chat(store, provider, MemoryBlobs()), "And?")
    assert (
        "[The file notes.md (text/markdown, 17 bytes): it is missing.]"
        in provider.requests[0].messages[0].text
    )


def test_a_named_file_is_attached_also_from_the_queue(
    store: FullStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.md").write_bytes(NOTES.data)
    provider = ScriptedProvider(["one", "two", "three"])
    chat = open_chat(store, provider, MemoryBlobs(), mentions=True)
    send(chat, "Read @notes.md please")

    async def queued() -> None:
        await chat.enqueue("Again: @notes.md")
        async for _ in chat.send_queued():
            pass
        await chat.close()

    asyncio.run(queued())
    assert [message.text for message in provider.requests[1].messages][::2] == [
        "Read @notes.md please" + SENT,
        "Again: @notes.md" + SENT,
    ]
    # Without being asked to, nothing is read because a text names it.
    send(open_chat(store, plain := ScriptedProvider(["four"]), MemoryBlobs()), "Not @notes.md")
    assert plain.requests[0].messages[-1].text == "Not @notes.md"


def test_files_count_when_a_request_is_made(store: FullStore) -> None:
    provider = ScriptedProvider(["never"], window=1_000)
    large = NewAttachment("large.txt", "text/plain", b"word " * 2_000)
    events = send(open_chat(store, provider, MemoryBlobs()), "Read this", [large])
    assert provider.requests == []
    assert "turn_failed" in [event.type for event in events]


def test_a_summary_is_asked_for_with_what_a_text_file_says(store: FullStore) -> None:
    notes = "## Goal\nto read notes\n## Progress\nall well"
    provider = ScriptedProvider(["word " * 300, "two", notes], accepts=EVERY_SORT)
    chat = open_chat(store, provider, MemoryBlobs())
    send(chat, "Read this", [NOTES, CAT])
    send(chat, "And?")
    request, _ = asyncio.run(chat.compaction.sent())
    assert request.messages[0].text == "Read this" + SENT
    asyncio.run(chat.compact())
    asked = provider.requests[-1].messages[0].text
    assert "| all well" in asked
    assert "(attaches cat.png, image/png)" in asked
