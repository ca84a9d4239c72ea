import signal
from datetime import UTC, datetime

import pytest

from shipchat.core.events import LastEvent, TurnCompleted, TurnFailed, TurnInterrupted
from shipchat.core.messages import AssistantMessage, Failure, TextPart
from shipchat.headless.one_shot import exit_code

REPLY = AssistantMessage(
    id="r", parent="p", at=datetime(2026, 11, 29, tzinfo=UTC), parts=(TextPart("R"),), model="a/b"
)


@pytest.mark.parametrize(
    ("last", "saved", "by_signal", "code"),
    [
        (TurnCompleted(REPLY), True, None, 0),
        (TurnCompleted(REPLY), False, None, 6),
        (TurnCompleted(REPLY), True, signal.SIGINT, 0),  # it came too late to stop anything
        (TurnInterrupted(REPLY), True, signal.SIGINT, 130),
        (TurnInterrupted(None), True, signal.SIGTERM, 143),
        (TurnInterrupted(REPLY), True, None, 130),
        (TurnFailed(Failure("provider_auth", "no"), None, exit_code=8), True, None, 8),
        (
            TurnFailed(Failure("store_unavailable", "NOT SAVED"), REPLY, exit_code=6, saved=False),
            False,
            None,
            6,
        ),
        (None, True, None, 1),
    ],
)
def test_exit_codes(last: LastEvent | None, saved: bool, by_signal: int | None, code: int) -> None:
    assert exit_code(last, saved=saved, by_signal=by_signal) == code
