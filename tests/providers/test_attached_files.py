"""Files of a request on the wire, read by the request's own blobs."""

from base64 import b64encode

import pytest

from shipchat.core.messages import AttachmentPart
from shipchat.stores.blobs import MemoryBlobs
from tests.core.test_attachments import PNG
from tests.providers.raw_http import Answer, RawServer
from tests.providers.wires import WIRES, Wire, collect, request, user


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_bytes_come_from_the_request(wire: Wire) -> None:
    blobs = MemoryBlobs()
    picture = AttachmentPart(blobs.put(PNG), "cat.png", "image/png", len(PNG))
    document = AttachmentPart(blobs.put(b"%PDF-1.7"), "a.pdf", "application/pdf", 8)
    missing = AttachmentPart("0" * 64, "gone.png", "image/png", 8)
    async with RawServer(Answer(wire.reply("ok"))) as server:
        provider = wire.provider(server.url)
        asked = request(user("Look", picture, document, missing), blobs=blobs)
        _, error = await collect(provider, asked)
        await provider.close()
        body = server.asked[0].body.decode()
    assert error is None
    assert b64encode(PNG).decode() in body
    assert b64encode(b"%PDF-1.7").decode() in body
    assert "[The file gone.png (image/png, 8 bytes): it is missing.]" in body
