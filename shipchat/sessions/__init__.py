"""Acting on sessions: one turn at a time, events out; stores and providers are handed in."""
