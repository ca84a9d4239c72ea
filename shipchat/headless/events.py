"""A turn as JSON lines: every event on a line of its own, as it comes, under stable names."""

import json

from shipchat.core.events import SessionEvent, TurnFailed
from shipchat.headless.json_values import event_value
from shipchat.headless.text import failure_lines, say


class EventsOutput:
    """Prints each event as one line of JSON."""

    def event(self, event: SessionEvent) -> None:
        """Print the event."""
        # ASCII only: a line stays one line, and no character of it can steer a terminal.
        print(json.dumps(event_value(event), ensure_ascii=True), flush=True)
        if isinstance(event, TurnFailed):
            for line in failure_lines(event.failure, event.advice):
                say(line)

    def end(self, code: int) -> None:
        """Nothing more: the last event says how the turn ended."""
