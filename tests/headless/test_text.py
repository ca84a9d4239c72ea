import io
import sys

import pytest

from shipchat.core.events import (
    Notice,
    ReasoningDelta,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    TurnInterrupted,
    TurnStarted,
)
from shipchat.core.messages import Failure
from shipchat.headless.text import TextOutput

STARTED = TurnStarted("k", "a/b", None, 1)


def told(events: list[SessionEvent], **options: str) -> None:
    output = TextOutput(**options)
    for event in events:
        output.event(event)
    output.end(0)


def test_the_reply_is_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    told(
        [
            STARTED,
            RetryScheduled(2, 1.0, Failure("x", "busy")),
            ReasoningDelta("hidden"),
            TextDelta("a"),
            Notice("n", "something\x1b[2J"),
            TextDelta("b"),
        ],
        announcement="session k",
    )
    out, err = capsys.readouterr()
    assert out == "a\nb\n"
    assert err == "session k\nshipchat: busy; trying again in 1 s\nshipchat: something␛[2J\n"


def test_a_reply_that_ends_its_line_gets_no_second_end(capsys: pytest.CaptureFixture[str]) -> None:
    told([TextDelta("a\n"), TextDelta("")])
    assert capsys.readouterr().out == "a\n"


def test_an_empty_reply_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    told([STARTED])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ({"key": "k"}, "shipchat: interrupted, what had arrived is saved; go on: shipchat resume k\n"),
        ({}, "shipchat: interrupted, nothing of this is kept\n"),
    ],
)
def test_an_interrupt_says_what_became_of_it(
    capsys: pytest.CaptureFixture[str], key: dict[str, str], line: str
) -> None:
    told([TextDelta("half"), TurnInterrupted(None)], **key)
    assert capsys.readouterr() == ("half\n", line)


def test_a_terminal_gets_nothing_it_would_obey(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    told([TextDelta("\x1b"), TextDelta("]52;c;aGk=\x07 \u202e\n")])
    assert terminal.getvalue() == "␛]52;c;aGk=␇ <U+202E>\n"
