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
        ("chat", "chatting", "chat", TALK, "Chat in the scrollback, without a full screen."),
        ("resume", "resume", "resume", TALK, "Go on with a session."),
        ("new", "sessions", "new", SESSIONS, "Make an empty session."),
        ("list", "listing", "list_sessions", SESSIONS, "List sessions, newest first."),
        ("search", "searching", "search", SESSIONS, "Search every session."),
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
        ("pin", "pinning", "pin", SESSIONS, "Pin a message, so that it is always sent."),
        ("unpin", "pinning", "unpin", SESSIONS, "Take the pin off a message."),
        (
            "compact",
            "compacting",
            "compact",
            SESSIONS,
            "Summarise older turns, so that the model is sent less.",
        ),
        ("branches", "branching", "branches", SESSIONS, "Show the branches of a session."),
        ("export", "exporting", "export", SESSIONS, "Export a session."),
        ("import", "importing", "import_", SESSIONS, "Make sessions of exported files."),
        ("delete", "trash", "delete", SESSIONS, "Move sessions to the trash."),
        ("restore", "trash", "restore", SESSIONS, "Bring a deleted session back."),
        ("trash", "trash", "trash", SESSIONS, "List deleted sessions."),
        ("purge", "purging", "purge", SESSIONS, "Erase sessions for good."),
        ("repair", "repairing", "repair", SESSIONS, "Repair a damaged session."),
        ("models", "models", None, SETUP, "List, fetch and remove models."),
        ("keys", "keys", None, SETUP, "Keep, list and remove the keys of providers."),
        ("config", "config", None, SETUP, "Show settings and where things are kept."),
        ("doctor", "doctor", "doctor", SETUP, "Check that everything is in order."),
        ("help", "help_topics", "help_", SETUP, "Show help for a command or a topic."),
    )
)
"""Every command, in the order of the overview."""
