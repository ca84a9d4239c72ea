"""Every action of the program in one table: its words, its keys, where they work; what each does is the screen's.

The palette, the list of keys (F1) and the screen's bindings are all made from this table, so that none can lack one.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Action:
    """Something one can do. `run` is a slash command (`/fork`) or the name of a screen action (`palette`).

    `keys` are Textual's names, `shown` is how people read them, `where` the place they work in. An action without
    `run` is listed only: the part of the screen it belongs to deals with its keys.
    """

    label: str
    shown: str = ""
    keys: str = ""
    run: str = ""
    where: str = "everywhere"


SESSION: Final = "sessions"
TURN: Final = "the open session"
SCREEN: Final = "the screen"
COMPOSER: Final = "in the composer"
MESSAGE: Final = "on a message"
LIST: Final = "in the list"

ACTIONS: Final[tuple[Action, ...]] = (
    Action("Every action", "Ctrl+P", "ctrl+p", "palette", SCREEN),
    Action("Keys", "F1", "f1", "keys", SCREEN),
    Action("Sessions", "Ctrl+B", "ctrl+b", "sidebar", SCREEN),
    Action("Search sessions", "Ctrl+F", "ctrl+f", "search", SCREEN),
    Action("Messages", "Ctrl+Up", "ctrl+up", "messages", SCREEN),
    Action("Theme", "F3", "f3", "/theme", SCREEN),
    Action("Dismiss a note", "F8", "f8", "dismiss", SCREEN),
    Action("Help", "/help", "", "/help", SCREEN),
    Action("Where things stand", "/status", "", "/status", SCREEN),
    Action("Editing a prompt makes a sibling or a fork", "", "", "edit_setting", SCREEN),
    Action("Quit", "Ctrl+Q", "ctrl+q", "/quit", SCREEN),
    Action("New session", "Ctrl+N", "ctrl+n", "/new", SESSION),
    Action("Newest session", "Ctrl+O", "ctrl+o", "newest", SESSION),
    Action("Open a session", "Ctrl+R", "ctrl+r", "/resume", SESSION),
    Action("Private session", "/private", "", "/private", SESSION),
    Action("Private copy of this session", "/private copy", "", "/private copy", SESSION),
    Action("Take the last change back", "/undo", "", "/undo", SESSION),
    Action("Another model", "F4", "f4", "/model", TURN),
    Action("Set up a model", "", "", "connect", TURN),
    Action("System prompt", "/system", "", "/system", TURN),
    Action("Another reply", "/retry", "", "/retry", TURN),
    Action("Continue the reply", "/continue", "", "/continue", TURN),
    Action("Edit the last prompt", "/edit", "", "/edit", TURN),
    Action("Copy the last reply", "/copy", "", "/copy", TURN),
    Action("Go to a message", "/goto", "", "/goto", TURN),
    Action("Send the waiting prompts", "/queue", "", "/queue", TURN),
    Action("Drop the waiting prompts", "/queue drop", "", "/queue drop", TURN),
    Action("Fork", "/fork", "", "/fork", TURN),
    Action("Rename", "F2", "f2", "/rename", TURN),
    Action("Add tags", "/tag", "", "/tag", TURN),
    Action("Remove tags", "/untag", "", "/untag", TURN),
    Action("Archive", "/archive", "", "/archive", TURN),
    Action("Back from the archive", "/unarchive", "", "/unarchive", TURN),
    Action("Export as Markdown", "/export", "", "/export", TURN),
    Action("Move to the trash", "/delete", "", "/delete", TURN),
    Action("Stop the reply", "Esc", "", "interrupt", TURN),
    Action("Send", "Enter", where=COMPOSER),
    Action("New line", "Ctrl+J", where=COMPOSER),
    Action("Earlier prompts", "Up  Down", where=COMPOSER),
    Action("Commands", "/", where=COMPOSER),
    Action("Stop the reply, keep what is typed", "Esc", where=COMPOSER),
    Action("Copy, clear, stop, quit", "Ctrl+C", where=COMPOSER),
    Action("Edit in your editor", "Ctrl+G", where=COMPOSER),
    Action("Previous, next message", "Up  Down", where=MESSAGE),
    Action("Copy", "c", where=MESSAGE),
    Action("Copy the code", "k", where=MESSAGE),
    Action("Edit and send again", "e", where=MESSAGE),
    Action("Another reply", "r", where=MESSAGE),
    Action("Fork from here", "f", where=MESSAGE),
    Action("Pin, or take the pin off", "p", where=MESSAGE),
    Action("More", "m", where=MESSAGE),
    Action("Previous, next alternative", "Left  Right", where=MESSAGE),
    Action("Open or close the details", "Enter", where=MESSAGE),
    Action("Back to the composer", "Esc", where=MESSAGE),
    Action("Open", "Enter", where=LIST),
    Action("New session", "n", where=LIST),
    Action("Fork", "f", where=LIST),
    Action("Rename", "r", where=LIST),
    Action("Tags", "t", where=LIST),
    Action("Archive, or back from it", "a", where=LIST),
    Action("Move to the trash", "d", where=LIST),
    Action("Export", "x", where=LIST),
    Action("Filter", "/", where=LIST),
    Action("Archived sessions", "A", where=LIST),
    Action("Undo", "u", where=LIST),
    Action("Back to the composer", "Esc", where=LIST),
)
