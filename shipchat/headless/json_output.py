"""A turn as one JSON document, printed when it is over."""

import json

from shipchat.core.events import (
    MessageSaved,
    Notice,
    SessionEvent,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.messages import AssistantMessage, Json
from shipchat.headless.json_values import failure_value, usage_value
from shipchat.headless.text import failure_lines, say


class JsonOutput:
    """Gathers a turn into one object; a side note goes to standard error at once."""

    def __init__(self, announcement: str | None = None, *, private: bool = False) -> None:
        self._announcement = announcement
        self._private = private
        self._value: dict[str, Json] = {}
        self._positions: dict[str, int] = {}
        self._notices: list[Json] = []

    def event(self, event: SessionEvent) -> None:
        """Take the event in."""
        match event:
            case TurnStarted():
                self._value |= {"key": None if self._private else event.key, "model": event.model}
                if self._announcement is not None:
                    say(self._announcement)
            case MessageSaved(saved=message, position=position):
                self._positions[message.id] = position
            case Notice():
                self._notices.append(
                    {"about": event.about, "message": event.message, "details": event.details}
                )
            case TurnCompleted(reply=reply):
                self._finish("complete", reply)
            case TurnInterrupted(reply=reply):
                self._finish("interrupted", reply)
            case TurnFailed(reply=reply, failure=failure):
                self._finish("failed", reply)
                self._value["saved"] = event.saved and not self._private
                self._value["error"] = failure_value(failure)
                for line in failure_lines(failure, event.advice):
                    say(line)
            case _:
                pass

    def end(self, code: int) -> None:
        """Print the document."""
        print(json.dumps(self._value | {"exit_code": code}, ensure_ascii=True, indent=2), flush=True)

    def _finish(self, status: str, reply: AssistantMessage | None) -> None:
        self._value |= {
            "status": status,
            "output": reply.text if reply else "",
            "message_id": reply.id if reply else None,
            "position": self._positions.get(reply.id) if reply else None,
            "stop_reason": reply.stop_reason if reply else None,
            "usage": usage_value(reply.usage) if reply else None,
            "saved": not self._private,
            "notices": self._notices,
            "error": None,
        }
