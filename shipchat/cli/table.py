"""The table of commands: name, where its code is, the group it is listed in, its help in one line.

The overview is made of this table alone; a command's module is imported when that command runs.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command: `module` and `function` say where its code is; a `function` of None means a group, its `app`."""

    name: str
    module: str
    function: str | None
    panel: str
    about: str


TALK: Final = "Talk"
SESSIONS: Final = "Sessions"
SETUP: Final = "Models and settings"

COMMANDS: Final = tuple(
    CommandRow(name, f"shipchat.cli.{module}", function, panel, about)
    for name, module, function, panel, about in (
        ("send", "send", "send", TALK, "Ask once and print the reply."),
        ("resume", "resume", "resume", TALK, "Go on with a session, line by line."),
        ("new", "sessions", "new", SESSIONS, "Make an empty session."),
        ("list", "listing", "list_sessions", SESSIONS, "List sessions, newest first."),
        ("show", "showing", "show", SESSIONS, "Print the messages of a session."),
        (
            "fork",
            "sessions",
            "fork",
            SESSIONS,
            "Copy a session, whole or up to a message, and print the new key.",
        ),
        ("rename", "sessions", "rename", SESSIONS, "Give a session another title."),
        ("tag", "sessions", "tag", SESSIONS, "Add tags to a session."),
        ("untag", "sessions", "untag", SESSIONS, "Take tags off a session."),
        ("archive", "sessions", "archive", SESSIONS, "Move sessions out of the list."),
        ("unarchive", "sessions", "unarchive", SESSIONS, "Bring archived sessions back into the list."),
        ("delete", "trash", "delete", SESSIONS, "Move sessions to the trash."),
        ("restore", "trash", "restore", SESSIONS, "Bring a deleted session back."),
        ("trash", "trash", "trash", SESSIONS, "List deleted sessions."),
        ("models", "models", None, SETUP, "List, fetch and remove models."),
        ("config", "config", None, SETUP, "Show settings and where things are kept."),
        ("help", "help_topics", "help_", SETUP, "Show help for a command or a topic."),
    )
)
"""Every command, in the order of the overview."""
