"""Sessions in files."""

from shipchat.stores.file.store import FileSessionStore

__all__ = ["FileSessionStore"]
