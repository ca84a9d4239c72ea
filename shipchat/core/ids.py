"""Identifiers of messages and other entries: short, unique, made before they are needed."""

import secrets


def new_id() -> str:
    """Return 16 random hex digits: unique within any session (64 bits)."""
    return secrets.token_hex(8)
