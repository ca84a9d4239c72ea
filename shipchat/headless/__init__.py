"""The one-shot front end: a turn without a screen, told as text, as JSON or as JSON lines of events."""
