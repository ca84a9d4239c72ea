"""Where things are kept and what the user has set: read once at start, handed on as frozen values."""
