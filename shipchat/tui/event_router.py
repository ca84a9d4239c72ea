"""Says what each event of a turn means for the screen: one match, one line a case; widgets do it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from shipchat.core.events import (
    CompactionFinished,
    CompactionStarted,
    MessageSaved,
    Notice,
    ReasoningDelta,
    ReplyStarted,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    UsageUpdated,
)
from shipchat.tui.open_session import OpenSession
from shipchat.tui.shown_items import ShownItems
from shipchat.tui.widgets.toast import Toast, ToastKind, ToastStack

QUIET_NOTICES = frozenset({"not_saved", "older_turns_left_out", "model"})
"""Notices that the composer, the divider or the header say already."""


@dataclass(frozen=True, slots=True)
class Surface:
    """The parts of the screen that events reach. `show_messages` brings the transcript up to date, `show_state` the rest."""

    shown: ShownItems
    toasts: ToastStack
    show_messages: Callable[[], None]
    show_state: Callable[[], None]


def route(event: SessionEvent, opened: OpenSession, surface: Surface) -> None:
    """Show what `event`, which `opened` has taken in already, means for the session that is on the screen."""
    match event:
        case TextDelta(text=text):
            live = opened.live_id
            if live is None or not surface.shown.append(live, text):
                surface.show_messages()
        case ReasoningDelta() | ToolCallStarted() | ToolCallFinished():
            surface.show_messages()
        case TurnStarted():
            surface.show_messages()
            surface.shown.transcript.follow()
            surface.show_state()
        case ReplyStarted() | MessageSaved() | TurnCompleted() | TurnInterrupted():
            surface.show_messages()
            surface.show_state()
        case TurnFailed(failure=failure, reply=reply, advice=advice):
            surface.show_messages()
            surface.show_state()
            if reply is None:  # else the reply says it itself
                surface.toasts.show(Toast(failure.message, advice[0] if advice else "", ToastKind.ERROR))
        case RetryScheduled(message=message):
            surface.toasts.show(Toast("The model does not answer yet", message, ToastKind.WARNING))
        case Notice(about=about, message=message):
            surface.show_messages()
            surface.show_state()
            if about not in QUIET_NOTICES:
                surface.toasts.show(Toast(message, kind=ToastKind.INFO))
        case CompactionStarted(message=message):
            surface.toasts.show(Toast(message, kind=ToastKind.INFO))
        case CompactionFinished(message=message):
            surface.show_messages()  # the divider moves
            surface.show_state()
            surface.toasts.show(Toast(message, kind=ToastKind.INFO))
        case UsageUpdated():
            surface.show_state()
        case _:
            assert_never(event)
