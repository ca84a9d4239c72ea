"""Attachments as `data:` URLs, which is how OpenAI's protocols take them."""

from base64 import b64encode

from shipchat.providers.attachments import Attachment


def data_url(attachment: Attachment) -> str:
    """Return the bytes of `attachment` inside a URL."""
    return f"data:{attachment.media_type};base64,{b64encode(attachment.data).decode('ascii')}"
